#include "storage/import/torchrec/torchrec_stats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "storage/import/torchrec/stats_box.hpp"
#include "storage/import/torchrec/stats_columns.hpp"

namespace shardscope::storage {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kMostRows = 1e15;
constexpr double kMostDim = 1e6;
constexpr double kMostGib = 1e9;
constexpr std::int32_t kMostReportRanks = 65536;

/// "123.4 (1,2,3,4,5)".
StatsPerf perf_of(const StatsCell& cell) {
  StatsPerf perf;
  perf.total_ms = stats_number(cell.word).value_or(kUnknown);
  perf.parts_ms.fill(kUnknown);
  const std::vector<double> parts = stats_numbers(cell.group);
  std::copy_n(parts.begin(), std::min(parts.size(), perf.parts_ms.size()), perf.parts_ms.begin());
  return perf;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

/// Fills a table's field from its cell; false where the text is none that belongs there.
bool take_cell(StatsColumn column, const StatsCell& cell, StatsTable& table) {
  const std::optional<double> number = stats_number(cell.word);
  const auto whole = [&](double most) -> std::int64_t {
    return number && *number >= 0 && *number <= most ? std::llround(*number) : -1;
  };
  switch (column) {
    case StatsColumn::fqn:
      table.fqn = cell.word;
      return true;
    case StatsColumn::sharding:
      table.sharding = cell.word;
      return true;
    case StatsColumn::kernel:
      table.kernel = cell.word;
      return true;
    case StatsColumn::perf:
      table.perf = perf_of(cell);
      return number.has_value();
    case StatsColumn::storage: {
      const std::string_view text = cell.group.empty() ? cell.word : cell.group;
      const std::vector<double> sizes = stats_numbers(text);
      if (!sizes.empty()) table.hbm_gib = sizes[0];
      if (sizes.size() > 1) table.ddr_gib = sizes[1];
      if (sizes.size() > 2) table.ssd_gib = sizes[2];
      return !sizes.empty();
    }
    case StatsColumn::cache_load_factor:
      table.cache_load_factor = number.value_or(-1);
      return true;
    case StatsColumn::sum_pooling:
      table.sum_pooling = number.value_or(1);
      return number.has_value();
    case StatsColumn::sum_num_poolings:
      table.sum_num_poolings = number.value_or(1);
      return number.has_value();
    case StatsColumn::num_indices:
      table.num_indices = number.value_or(-1);
      return true;
    case StatsColumn::output:
      table.pooled = cell.word != "sequence";
      return cell.word == "pooled" || cell.word == "sequence";
    case StatsColumn::weighted:
      table.weighted = cell.word == "weighted" || cell.word == "True";
      return true;
    case StatsColumn::sharder:
      return true;
    case StatsColumn::features:
      if (whole(1e6) < 1) return false;
      table.features = static_cast<std::int32_t>(whole(1e6));
      return true;
    case StatsColumn::dim:
      table.dim = std::max<std::int64_t>(whole(kMostDim), 0);
      if (const auto width = stats_number(cell.group); width && *width <= kMostDim) {
        table.column_width = std::llround(*width);
      }
      return table.dim > 0;
    case StatsColumn::rows:
      table.rows = std::max<std::int64_t>(whole(kMostRows), 0);
      return table.rows > 0;
    case StatsColumn::ranks:
      table.ranks = stats_ranks(cell.word);
      return true;
    case StatsColumn::batch_sizes:
      return true;
  }
  return false;
}

/// "CW", "TWRW", "column_wise": what a table's second word must be.
bool is_sharding(std::string_view word) {
  constexpr std::string_view kNames[] = {"DP",
                                         "TW",
                                         "CW",
                                         "RW",
                                         "TWRW",
                                         "TWCW",
                                         "GS",
                                         "data_parallel",
                                         "table_wise",
                                         "column_wise",
                                         "row_wise",
                                         "table_row_wise",
                                         "table_column_wise",
                                         "grid_shard"};
  return std::find(std::begin(kNames), std::end(kNames), word) != std::end(kNames);
}

class StatsReader {
 public:
  explicit StatsReader(ImportNotes& notes) : notes_(notes) {}

  void line(const BoxLine& row) {
    const std::string_view text = trimmed(row.text);
    const std::vector<StatsColumn> header = stats_columns(text);
    if (!header.empty()) {
      if (!stats_.tables.empty()) next_report(row.line);
      columns_ = header;
      return;
    }
    if (text.starts_with("Rank ") && text.find("HBM") != std::string_view::npos) {
      if (!stats_.tables.empty() || !stats_.ranks.empty()) next_report(row.line);
      return;
    }
    const std::vector<std::string_view> words = stats_words(text);
    if (words.empty() || text.find_first_not_of("- ") == std::string_view::npos) return;
    if (take_rank(words, row.line) || take_table(words, row.line) || take_fact(text, row.line)) {
      return;
    }
    notes_.skip();
  }

  Result<TorchrecStats> finish() {
    keep_larger();
    if (others_ > 0) {
      notes_.warn(best_line_,
                  fmt::format("the file holds {} reports; the last of those with most tables, from "
                              "this line on, is kept",
                              others_ + 1),
                  "one report");
    }
    stats_ = std::move(best_);
    if (!stats_.tables.empty() || !stats_.ranks.empty()) return std::move(stats_);
    return fail({ErrorKind::usage, "it has no planner statistics", notes_.file(),
                 "lines \"# Rank  HBM (GB) ...\" or \"# FQN  Sharding ...\" of TorchRec's report",
                 "Paste the whole box of '#' that EmbeddingShardingPlanner prints"});
  }

 private:
  /// Every rank may print the report, and a restarted job prints it again.
  void next_report(std::int64_t line) {
    keep_larger();
    ++others_;
    stats_ = {};
    first_line_ = line;
    heading_.clear();
  }

  void keep_larger() {
    const bool more =
        stats_.tables.size() > best_.tables.size() ||
        (stats_.tables.size() == best_.tables.size() && stats_.ranks.size() >= best_.ranks.size());
    if (!more) return;
    best_ = std::move(stats_);
    best_line_ = first_line_;
  }

  /// rank, HBM (%), DDR (%), [SSD (%)], perf (...), input, output, shards.
  bool take_rank(const std::vector<std::string_view>& words, std::int64_t line) {
    const bool numbered = words[0].find_first_not_of("0123456789") == std::string_view::npos;
    if (!numbered || words.size() < 4 || words[0].size() > 6) return false;
    StatsRank rank;
    rank.rank = static_cast<std::int32_t>(stats_number(words[0]).value_or(0));
    if (rank.rank >= kMostReportRanks) return false;
    std::vector<StatsCell> cells;
    std::size_t w = 1;
    while (w < words.size() && stats_number(words[w]) && !words[w].starts_with('(') &&
           words[w].find(':') == std::string_view::npos) {
      StatsCell cell{words[w++], {}};
      if (w < words.size() && words[w].starts_with('(')) cell.group = words[w++];
      cells.push_back(cell);
    }
    const auto perf = std::find_if(cells.begin(), cells.end(), [](const StatsCell& cell) {
      return cell.group.find(',') != std::string_view::npos;
    });
    if (cells.size() < 2 || cells[0].group.find('%') == std::string_view::npos) return false;
    rank.hbm_gib = stats_number(cells[0].word).value_or(0);
    rank.ddr_gib = stats_number(cells[1].word).value_or(0);
    rank.perf = perf == cells.end() ? StatsPerf{kUnknown, {}} : perf_of(*perf);
    if (perf == cells.end()) {
      notes_.warn(line, fmt::format("the line of rank {} is cut off", rank.rank),
                  "rank, HBM, DDR, perf, input, output, shards");
    } else if (cells.end() - perf > 2) {
      rank.input_mb = stats_number((perf + 1)->word).value_or(0);
      rank.output_mb = stats_number((perf + 2)->word).value_or(0);
    }
    for (; w < words.size(); ++w) {
      if (!rank.shards.empty()) rank.shards += ' ';
      rank.shards += words[w];
    }
    stats_.ranks.push_back(std::move(rank));
    return true;
  }

  bool take_table(const std::vector<std::string_view>& words, std::int64_t line) {
    if (words.size() < 2 || !is_sharding(words[1])) return false;
    const std::vector<StatsColumn>& columns = columns_.empty() ? usual_stats_columns() : columns_;
    const auto cells = stats_cells(words, columns);
    StatsTable table;
    table.line = line;
    table.fqn = std::string(words[0]);
    if (!cells) {
      notes_.warn(line, "the line of " + quoted_piece(words[0]) + " is left out",
                  "FQN, sharding, kernel, perf (...), storage (...), ...");
      return true;
    }
    for (std::size_t c = 0; c < cells->size(); ++c) {
      if (take_cell(columns[c], (*cells)[c], table)) continue;
      notes_.warn(line,
                  fmt::format("column {} of {} holds {}; the line is kept up to there", c + 1,
                              quoted_piece(table.fqn), quoted_piece((*cells)[c].word, 20)),
                  "a value of the header's column");
      break;
    }
    const bool complete = table.rows > 0 && table.dim > 0;
    if (!complete || cells->size() < columns.size()) {
      notes_.warn(line,
                  fmt::format("the line of {} ends after {} of {} columns", quoted_piece(table.fqn),
                              cells->size(), columns.size()),
                  "a whole line");
    }
    stats_.tables.push_back(std::move(table));
    return true;
  }

  /// "Name: value" lines and the memory lines under their headings.
  bool take_fact(std::string_view text, std::int64_t) {
    if (text.starts_with("Input: ")) return false;  // a legend of units
    if (text == "Reserved Memory:" || text == "Planning Memory:" ||
        text.starts_with("Dense Storage") || text.starts_with("KJT Storage")) {
      heading_ = text;
      return true;
    }
    if (text.starts_with("HBM: ") && !heading_.empty()) {
      const double gib = std::min(stats_number(text.substr(5)).value_or(0), kMostGib);
      if (heading_.starts_with("Reserved")) stats_.reserved_hbm_gib = gib;
      if (heading_.starts_with("Planning")) stats_.planning_hbm_gib = gib;
      if (heading_.starts_with("Dense")) stats_.dense_hbm_gib = gib;
      if (heading_.starts_with("KJT")) stats_.kjt_hbm_gib = gib;
      heading_.clear();
      return true;
    }
    if (text.starts_with("Batch Size:")) {
      stats_.batch_per_rank = std::llround(std::min(stats_number(text).value_or(0), 1e9));
      return true;
    }
    const std::size_t colon = text.find(": ");
    if (colon == std::string_view::npos || colon > 60 || stats_.facts.size() >= 64) return false;
    stats_.facts.emplace_back(text.substr(0, colon), trimmed(text.substr(colon + 1)));
    return true;
  }

  ImportNotes& notes_;
  TorchrecStats stats_;  ///< the report that is being read
  TorchrecStats best_;   ///< the one with most tables so far
  std::int64_t first_line_ = 1;
  std::int64_t best_line_ = 1;
  std::int64_t others_ = 0;
  std::vector<StatsColumn> columns_;
  std::string heading_;  ///< of the lines that follow it
};

}  // namespace

Result<TorchrecStats> read_torchrec_stats(std::string_view text, ImportNotes& notes) {
  StatsReader reader(notes);
  for (const BoxLine& row : box_lines(text)) reader.line(row);
  return reader.finish();
}

}  // namespace shardscope::storage
