#include "ui/model/folder_list.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "storage/import/import_kind.hpp"
#include "storage/import/input_text.hpp"

namespace shardscope::ui {
namespace {

constexpr std::size_t kHeadForKind = 16384;

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

bool before(const FolderEntry& a, const FolderEntry& b) {
  if (a.folder != b.folder) return a.folder;
  return std::lexicographical_compare(a.name.begin(), a.name.end(), b.name.begin(), b.name.end(),
                                      [](char x, char y) {
                                        return std::tolower(static_cast<unsigned char>(x)) <
                                               std::tolower(static_cast<unsigned char>(y));
                                      });
}

std::string import_words(storage::ImportKind kind) {
  switch (kind) {
    case storage::ImportKind::torchrec:
      return "TorchRec plan";
    case storage::ImportKind::torchrec_stats:
      return "TorchRec planner report";
    case storage::ImportKind::hugectr:
      return "HugeCTR plan";
    case storage::ImportKind::kineto:
      return "Kineto trace";
    case storage::ImportKind::nsys:
      return "Nsight Systems";
    case storage::ImportKind::tbe:
      return "FBGEMM tables";
    case storage::ImportKind::mlperf:
      return "HugeCTR log";
    case storage::ImportKind::nccl_tests:
      break;
  }
  return {};
}

}  // namespace

bool begins_with(std::string_view text, std::string_view beginning) {
  return text.size() >= beginning.size() &&
         std::equal(beginning.begin(), beginning.end(), text.begin(), same_letter);
}

Result<std::vector<FolderEntry>> list_folder(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<FolderEntry> entries;
  fs::directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && it != fs::directory_iterator() && entries.size() < kMostEntries;
       it.increment(error)) {
    FolderEntry entry;
    entry.name = it->path().filename().string();
    if (entry.name.starts_with('.')) continue;
    std::error_code absent;  // a link to nothing is listed without size
    entry.folder = it->is_directory(absent);
    if (!entry.folder) {
      const std::uintmax_t size = it->file_size(absent);
      entry.bytes = absent ? 0 : size;
    }
    const auto time = it->last_write_time(absent);
    if (!absent) {
      entry.changed_utc_s = std::chrono::duration_cast<std::chrono::seconds>(
                                std::chrono::file_clock::to_sys(time).time_since_epoch())
                                .count();
    }
    entries.push_back(std::move(entry));
  }
  if (error) {
    return fail({ErrorKind::usage, "the folder cannot be read: " + error.message(), folder, "",
                 "Choose another folder"});
  }
  std::sort(entries.begin(), entries.end(), before);
  return entries;
}

std::string kind_words(const std::string& path) {
  const Result<std::string> head = storage::read_head(path, kHeadForKind);
  if (!head || head->empty()) return {};
  if (storage::is_session_file(path)) return "session";
  for (const auto& [format, words] : {std::pair{"\"shardscope.workload/", "model"},
                                      {"\"shardscope.topology/", "topology"},
                                      {"\"shardscope.layout/", "layout"}}) {
    if (head->find(format) != std::string::npos) return words;
  }
  if (const auto kind = storage::recognise_text(*head)) return import_words(*kind);
  if (head->find("\"tables\"") != std::string::npos) return "model";
  return {};
}

TypedPath typed_path(std::string_view text, const std::string& base) {
  std::string whole(text);
  if (whole == "~" || whole.starts_with("~/")) {
    const char* home = std::getenv("HOME");
    whole = std::string(home != nullptr ? home : "") + (whole == "~" ? "/" : whole.substr(1));
  } else if (!whole.starts_with('/')) {
    whole = (base.ends_with('/') ? base : base + "/") + whole;
  }
  const std::size_t slash = whole.rfind('/');
  return {whole.substr(0, slash + 1), whole.substr(slash + 1)};
}

std::string completed(const std::vector<FolderEntry>& entries, const std::string& name) {
  std::string common;
  bool first = true;
  for (const FolderEntry& entry : entries) {
    if (!begins_with(entry.name, name)) continue;
    if (first) {
      common = entry.folder ? entry.name + "/" : entry.name;
      first = false;
      continue;
    }
    std::size_t same = 0;
    while (same < std::min(common.size(), entry.name.size()) &&
           same_letter(common[same], entry.name[same])) {
      ++same;
    }
    common.resize(same);
  }
  return first ? name : common;
}

}  // namespace shardscope::ui
