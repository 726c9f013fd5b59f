#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "storage/import/torchrec/stats_columns.hpp"
#include "storage/import/torchrec/torchrec_stats.hpp"

namespace shardscope::storage {
namespace {

/// Cells of one line; a cell in double quotes may hold commas.
std::vector<std::string> csv_cells(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char letter : line) {
    if (letter == '"') {
      quoted = !quoted;
    } else if (letter == ',' && !quoted) {
      cells.emplace_back();
    } else if (letter != '\r') {
      cells.back() += letter;
    }
  }
  return cells;
}

class CsvRow {
 public:
  CsvRow(const std::map<std::string, std::size_t>& columns, std::vector<std::string> cells)
      : columns_(columns), cells_(std::move(cells)) {}

  [[nodiscard]] std::string text(const char* name) const {
    const auto found = columns_.find(name);
    if (found == columns_.end() || found->second >= cells_.size()) return {};
    return cells_[found->second];
  }
  [[nodiscard]] double number(const char* name, double otherwise) const {
    return stats_number(text(name)).value_or(otherwise);
  }
  [[nodiscard]] std::int64_t whole(const char* name, double most) const {
    const double value = number(name, 0);
    return value >= 0 && value <= most ? std::llround(value) : 0;
  }

 private:
  const std::map<std::string, std::size_t>& columns_;
  std::vector<std::string> cells_;
};

StatsTable table_of(const CsvRow& row, std::int64_t line) {
  StatsTable table;
  table.line = line;
  table.fqn = row.text("fqn");
  table.sharding = row.text("sharding");
  table.kernel = row.text("kernel");
  table.perf.total_ms = row.number("perf_ms_total", std::nan(""));
  table.perf.parts_ms.fill(std::nan(""));
  table.hbm_gib = row.number("hbm_gb", 0);
  table.sum_pooling = row.number("sum_pooling", 1);
  table.sum_num_poolings = row.number("sum_num_poolings", 1);
  table.num_indices = row.number("num_indices", -1);
  table.pooled = row.text("output") != "sequence";
  table.weighted = row.text("weighted") == "weighted";
  table.features =
      static_cast<std::int32_t>(std::max<std::int64_t>(row.whole("num_features", 1e6), 1));
  table.dim = row.whole("dim", 1e6);
  table.column_width = row.whole("cw_dim", 1e6);
  table.rows = row.whole("rows", 1e15);
  table.ranks = stats_ranks(row.text("ranks"));
  table.element_bytes = static_cast<std::int32_t>(row.whole("elem_bytes_inferred", 16));
  return table;
}

}  // namespace

Result<TorchrecStats> read_torchrec_stats_csv(std::string_view text, ImportNotes& notes) {
  TorchrecStats stats;
  std::map<std::string, std::size_t> columns;
  std::int64_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::vector<std::string> cells = csv_cells(text.substr(at, end - at));
    at = end + 1;
    ++line;
    if (columns.empty()) {
      for (std::size_t c = 0; c < cells.size(); ++c) columns.emplace(cells[c], c);
      if (!columns.contains("fqn") || !columns.contains("sharding")) break;
      continue;
    }
    if (cells.size() == 1 && cells[0].empty()) continue;
    if (cells.size() < columns.size()) {
      notes.warn(line, fmt::format("the line has {} of {} cells", cells.size(), columns.size()),
                 "a cell a column");
    }
    stats.tables.push_back(table_of(CsvRow(columns, std::move(cells)), line));
  }
  if (!stats.tables.empty()) return stats;
  return fail({ErrorKind::usage, "it is no table section of a planner's report",
               notes.file() + ":1", "a header with fqn, sharding, perf_ms_total, dim, rows, ranks",
               ""});
}

}  // namespace shardscope::storage
