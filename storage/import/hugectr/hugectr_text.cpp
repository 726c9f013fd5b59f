// shard_matrix, shard_strategy and compression_strategy written out in Python scripts and in the
// logs of training jobs, with or without a prefix before every line.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/import/hugectr/literal.hpp"
#include "storage/import/log_lines.hpp"
#include "storage/import/notes.hpp"

namespace shardscope::storage {
namespace {

constexpr std::size_t kMostPlansInText = 256;

struct Found {
  JsonValue value;
  std::size_t at = 0;
};

/// A list or dict with something in it that fits what `name` holds.
bool fits(std::string_view name, const JsonValue& value) {
  const JsonValue::Array* items = value.array();
  if (name == "compression_strategy") return value.object() != nullptr;
  if (name == "shard_strategy" && value.object() != nullptr) return true;
  return items != nullptr && !items->empty() && items->front().array() != nullptr;
}

/// The first value of `name` from `from` on. In logs it may stand on the next line, after a
/// prefix with brackets of its own: every bracket of two lines is tried.
std::optional<Found> find_value(std::string_view text, std::string_view name, std::size_t from) {
  constexpr int kMostPlaces = 64;
  std::size_t at = text.find(name, from);
  for (int places = 0; at != std::string_view::npos && places < kMostPlaces;
       at = text.find(name, at + name.size()), ++places) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    end = std::min(text.find('\n', std::min(end + 1, text.size())), text.size());
    constexpr std::size_t kMostTries = 16;
    std::size_t tries = 0;
    for (std::size_t open = text.find_first_of("[{(", at + name.size());
         open < end && tries < kMostTries; open = text.find_first_of("[{(", open + 1), ++tries) {
      if (const auto literal = parse_literal(text, open, "");
          literal && fits(name, literal->value)) {
        return Found{literal->value, open};
      }
      const std::string bare = without_prefixes(text, open);
      if (const auto literal = parse_literal(bare, 0, ""); literal && fits(name, literal->value)) {
        return Found{literal->value, open};
      }
    }
  }
  return std::nullopt;
}

/// True where the text ends inside the value that is given to shard_matrix.
bool is_cut_off(std::string_view text) {
  const std::size_t at = find_assigned(text, "shard_matrix");
  if (at == std::string_view::npos) return false;
  std::int64_t depth = 0;
  for (const char letter : text.substr(at)) {
    if (letter == '[' || letter == '(') ++depth;
    if (letter == ']' || letter == ')') --depth;
    if (depth <= 0) return false;
  }
  return true;
}

bool is_hierarchical(std::string_view text) {
  return text.find("CommunicationStrategy.Hierarchical") != std::string_view::npos;
}

}  // namespace

Result<std::vector<JsonValue>> hugectr_literals(std::string_view text, ImportNotes& notes);

Result<std::vector<JsonValue>> hugectr_literals(std::string_view text, ImportNotes& notes) {
  std::vector<JsonValue> roots;
  std::size_t at = 0;
  while (roots.size() < kMostPlansInText) {
    auto matrix = find_value(text, "shard_matrix", at);
    if (!matrix) break;
    const auto next = find_value(text, "shard_matrix", matrix->at + 1);
    const std::size_t limit = next ? next->at : text.size();
    // A script may give the strategy before the matrix: looked for after it first.
    const std::string_view here = text.substr(0, limit);
    JsonValue::Object fields;
    fields.emplace_back("shard_matrix", std::move(matrix->value));
    for (const char* name : {"shard_strategy", "compression_strategy"}) {
      auto value = find_value(here, name, matrix->at);
      if (!value) value = find_value(here, name, at);
      if (value) fields.emplace_back(name, std::move(value->value));
    }
    if (is_hierarchical(text)) {
      fields.emplace_back("comm_strategy", "CommunicationStrategy.Hierarchical");
    }
    const std::size_t line = line_of(text, matrix->at);
    fields.emplace_back("name", fmt::format("line {}", line));
    const bool again = !roots.empty() && roots.back().find("shard_matrix")->array() != nullptr &&
                       *roots.back().find("shard_matrix") == fields.front().second;
    if (!again) roots.emplace_back(std::move(fields));
    at = matrix->at + 1;
  }
  if (!roots.empty()) return roots;
  const std::size_t named = text.find("shard_matrix");
  if (named == std::string_view::npos) {
    return fail({ErrorKind::usage, "it has no shard_matrix", notes.file(),
                 "shard_matrix = [[\"table\", ...], ...]",
                 "Print the value in the training script and import its log"});
  }
  return fail({ErrorKind::usage,
               is_cut_off(text) ? "its shard_matrix is cut off before its end"
                                : "its shard_matrix is computed, not written out",
               notes.place(static_cast<std::int64_t>(line_of(text, named))),
               "shard_matrix = [[\"table\", ...], ...]",
               "Print the value in the training script and import its log"});
}

}  // namespace shardscope::storage
