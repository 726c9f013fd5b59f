#include "storage/import/torchrec/stats_columns.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace shardscope::storage {
namespace {

struct ColumnName {
  const char* text;
  StatsColumn column;
};

/// Longer names before the shorter ones that they contain.
constexpr std::array kColumnNames = {
    ColumnName{"FQN", StatsColumn::fqn},
    ColumnName{"Compute Kernel", StatsColumn::kernel},
    ColumnName{"Sharding", StatsColumn::sharding},
    ColumnName{"Perf (ms)", StatsColumn::perf},
    ColumnName{"Storage", StatsColumn::storage},
    ColumnName{"Cache Load Factor", StatsColumn::cache_load_factor},
    ColumnName{"Sum Pooling Factor", StatsColumn::sum_pooling},
    ColumnName{"Pooling Factor", StatsColumn::sum_pooling},
    ColumnName{"Sum Num Poolings", StatsColumn::sum_num_poolings},
    ColumnName{"Num Poolings", StatsColumn::sum_num_poolings},
    ColumnName{"Num Indices", StatsColumn::num_indices},
    ColumnName{"Output", StatsColumn::output},
    ColumnName{"Weighted", StatsColumn::weighted},
    ColumnName{"Sharder", StatsColumn::sharder},
    ColumnName{"Features", StatsColumn::features},
    ColumnName{"Emb Dim", StatsColumn::dim},
    ColumnName{"Hash Size", StatsColumn::rows},
    ColumnName{"Ranks", StatsColumn::ranks},
    ColumnName{"Batch Sizes", StatsColumn::batch_sizes}};

constexpr std::int32_t kMostStatsRanks = 65536;

bool is_group(std::string_view word) {
  return word.starts_with('(') || word.starts_with('[');
}

/// Columns whose number may have a group after it.
bool takes_group(StatsColumn column) {
  return column == StatsColumn::perf || column == StatsColumn::dim || column == StatsColumn::rows ||
         column == StatsColumn::storage;
}

}  // namespace

std::vector<StatsColumn> stats_columns(std::string_view header) {
  std::string left(header);
  std::vector<std::pair<std::size_t, StatsColumn>> found;
  for (const ColumnName& name : kColumnNames) {
    const std::string_view text = name.text;
    const std::size_t at = left.find(text);
    if (at == std::string::npos) continue;
    found.emplace_back(at, name.column);
    std::fill_n(left.begin() + static_cast<std::ptrdiff_t>(at), text.size(), '\1');
  }
  const bool header_like =
      std::any_of(found.begin(), found.end(),
                  [](const auto& one) { return one.second == StatsColumn::fqn; }) &&
      found.size() >= 4;
  if (!header_like) return {};
  std::sort(found.begin(), found.end());
  std::vector<StatsColumn> columns;
  for (const auto& one : found) columns.push_back(one.second);
  return columns;
}

const std::vector<StatsColumn>& usual_stats_columns() {
  static const std::vector<StatsColumn> columns = [] {
    std::vector<StatsColumn> all;
    for (int i = 0; i <= static_cast<int>(StatsColumn::batch_sizes); ++i) {
      all.push_back(static_cast<StatsColumn>(i));
    }
    return all;
  }();
  return columns;
}

std::vector<std::string_view> stats_words(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while (at < line.size()) {
    if (std::isspace(static_cast<unsigned char>(line[at])) != 0) {
      ++at;
      continue;
    }
    const std::size_t start = at;
    const char close = line[at] == '(' ? ')' : line[at] == '[' ? ']' : '\0';
    if (close != '\0') {
      at = line.find(close, at);
      at = at == std::string_view::npos ? line.size() : at + 1;
    } else {
      while (at < line.size() && std::isspace(static_cast<unsigned char>(line[at])) == 0 &&
             line[at] != '(') {
        ++at;
      }
    }
    words.push_back(line.substr(start, at - start));
  }
  return words;
}

std::optional<std::vector<StatsCell>> stats_cells(const std::vector<std::string_view>& words,
                                                  const std::vector<StatsColumn>& columns) {
  std::vector<StatsCell> cells;
  std::size_t w = 0;
  for (const StatsColumn column : columns) {
    if (w >= words.size()) break;
    StatsCell cell;
    if (column == StatsColumn::storage || column == StatsColumn::ranks ||
        column == StatsColumn::batch_sizes || column == StatsColumn::features) {
      cell.word = words[w++];
    } else if (is_group(words[w])) {
      return std::nullopt;
    } else {
      cell.word = words[w++];
    }
    // Old reports have no parts after the perf: the next group is the storage.
    const bool storage_next = column == StatsColumn::perf && w < words.size() &&
                              words[w].find('B') != std::string_view::npos;
    if (takes_group(column) && !storage_next && w < words.size() && is_group(words[w])) {
      cell.group = words[w++];
    }
    cells.push_back(cell);
  }
  return cells;
}

std::vector<double> stats_numbers(std::string_view text) {
  std::vector<double> numbers;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto digit = [&](std::size_t i) {
      return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    };
    if (!digit(at) && !(text[at] == '.' && digit(at + 1))) {
      ++at;
      continue;
    }
    double value = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error == std::errc() && std::isfinite(value)) numbers.push_back(value);
    at = std::max(at + 1, static_cast<std::size_t>(end - text.data()));
  }
  return numbers;
}

std::optional<double> stats_number(std::string_view text) {
  const std::vector<double> numbers = stats_numbers(text.substr(0, 64));
  if (numbers.empty()) return std::nullopt;
  return numbers.front();
}

std::vector<std::int32_t> stats_ranks(std::string_view text) {
  std::vector<std::int32_t> ranks;
  std::int32_t from = -1;
  std::size_t at = 0;
  while (at < text.size()) {
    if (std::isdigit(static_cast<unsigned char>(text[at])) == 0) {
      if (text[at] == '-') {
        from = ranks.empty() ? -1 : ranks.back();
      } else if (text[at] != ' ') {
        from = -1;
      }
      ++at;
      continue;
    }
    std::int32_t rank = -1;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), rank);
    at = static_cast<std::size_t>(end - text.data());
    if (error != std::errc() || rank >= kMostStatsRanks) continue;
    const std::int32_t first = from >= 0 && from < rank ? from + 1 : rank;
    for (std::int32_t r = first; r <= rank; ++r) {
      if (ranks.size() < static_cast<std::size_t>(kMostStatsRanks)) ranks.push_back(r);
    }
    from = -1;
  }
  return ranks;
}

}  // namespace shardscope::storage
