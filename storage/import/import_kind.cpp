#include "storage/import/import_kind.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "storage/import/input_text.hpp"
#include "storage/import/notes.hpp"
#include "storage/import/unpack.hpp"
#include "storage/schema.hpp"

namespace shardscope::storage {
namespace {

constexpr std::array kKindNames = {"torchrec", "torchrec-stats", "hugectr",   "kineto", "nsys",
                                   "tbe",      "mlperf",         "nccl-tests"};

/// Enough for a log's banner before what it is about.
constexpr std::size_t kHeadBytes = std::size_t{4} << 20;

bool has(std::string_view text, std::string_view piece) {
  return text.find(piece) != std::string_view::npos;
}

/// Traces name their events early; other JSON must not be scanned for a word in its data.
bool is_chrome_trace(std::string_view head) {
  if (has(head, "\"traceEvents\"")) return true;
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && head[first] == '[' && has(head, "\"ph\"") &&
         has(head, "\"ts\"");
}

}  // namespace

const char* to_string(ImportKind value) {
  return kKindNames[static_cast<std::size_t>(value)];
}

std::optional<ImportKind> parse_import_kind(std::string_view name) {
  for (std::size_t i = 0; i < kKindNames.size(); ++i) {
    if (name == kKindNames[i]) return static_cast<ImportKind>(i);
  }
  return std::nullopt;
}

std::string import_kinds() {
  std::string text;
  for (const char* name : kKindNames) text += (text.empty() ? "" : " | ") + std::string(name);
  return text;
}

bool is_sqlite(std::string_view head) {
  return head.starts_with(std::string_view("SQLite format 3\0", 16));
}

std::optional<ImportKind> recognise_text(std::string_view head) {
  if (is_sqlite(head)) return ImportKind::nsys;
  if (is_chrome_trace(head)) return ImportKind::kineto;
  if (has(head, "SplitTableBatchedEmbeddingBags") || has(head, "\"indices_params\"") ||
      has(head, "\"pooling_params\"")) {
    return ImportKind::tbe;
  }
  if (has(head, "Planner Statistics") || has(head, "Parameter Info:") ||
      has(head, "Num Poolings") || head.starts_with("fqn,") ||
      (has(head, " pooled ") && has(head, " fused"))) {
    return ImportKind::torchrec_stats;
  }
  if (has(head, "\"sharding_type\"") || has(head, "'sharding_type'") ||
      (has(head, "module: ") && has(head, "sharding type"))) {
    return ImportKind::torchrec;
  }
  if (has(head, ":::MLLOG")) return ImportKind::mlperf;
  if (has(head, "shard_matrix") || has(head, "local_embedding_list")) return ImportKind::hugectr;
  if (has(head, "algbw") && has(head, "busbw")) return ImportKind::nccl_tests;
  return std::nullopt;
}

std::vector<std::string> nsys_files(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().string();
    if (name.ends_with(".sqlite") && it->is_regular_file(error)) files.push_back(name);
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<ImportKind> recognise(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return nsys_files(path).empty() ? ImportKind::kineto : ImportKind::nsys;
  }
  if (path.ends_with(".nsys-rep") || path.ends_with(".qdrep")) {
    return fail({ErrorKind::usage,
                 "this is Nsight Systems' own report; its SQLite export can be read", path,
                 "a file that 'nsys export --type sqlite' wrote", "Export it to SQLite first"});
  }
  Result<std::string> head = read_head(path, kHeadBytes);
  if (!head) return fail(head.error());
  if (const auto kind = recognise_text(*head)) return *kind;
  ImportNotes notes(path);
  if (const auto kind = recognise_text(decoded_text(std::move(*head), notes))) return *kind;
  return fail({ErrorKind::usage, "the content is of no kind that can be imported", path,
               import_kinds(), "Name its kind with --from"});
}

bool is_session_file(const std::string& path) {
  const auto file = FileBytes::open(path);
  std::array<char, 72> head{};
  if (!file || (*file)->read(head.data(), head.size()).value_or(0) < head.size()) return false;
  if (!is_sqlite({head.data(), head.size()})) return false;
  std::uint32_t application = 0;
  for (std::size_t i = 68; i < 72; ++i) {
    application = application << 8 | static_cast<unsigned char>(head[i]);
  }
  return application == static_cast<std::uint32_t>(kApplicationId);
}

}  // namespace shardscope::storage
