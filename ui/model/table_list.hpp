#pragma once
// The list of tables: one row a table with its statistics, sorted, filtered, grouped by cluster.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ui/model/document.hpp"
#include "ui/model/table_filter.hpp"

namespace shardscope::ui {

struct TableRow {
  std::int32_t table = 0;
  ClusterType cluster = ClusterType::RB;
  std::string name;
  double rows = 0;
  double hot = 0;     ///< ids a sample over all its features
  double uniq = 0;    ///< distinct rows / keys of one batch, 0..1
  double bytes = 0;   ///< weights and optimizer state, one copy
  double cost_s = 0;  ///< its shards' loads over all GPUs
  std::int32_t shards = 0;
  std::vector<std::int32_t> owners;  ///< distinct, ascending; empty for DP
  std::string where;                 ///< "all 8", "GPU 5", "2 4", "×8"
};

enum class TableColumn : std::uint8_t { table, rows, hot, uniq, gib, cost, shards };

struct TableSort {
  TableColumn column = TableColumn::cost;
  bool descending = true;
};

/// A line to draw: a group's heading or a table.
struct TableLine {
  bool heading = false;
  ClusterType cluster = ClusterType::RB;  ///< heading
  std::size_t row = 0;                    ///< else: index into rows()
};

struct TableGroup {
  std::int32_t tables = 0;
  double cost_s = 0;
};

class TableList {
 public:
  /// Rows of the shown evaluation; nothing happens where the document has not changed since.
  void update(const Document& document);
  /// Lines in order. Closed groups show their heading alone; without grouping there are none.
  [[nodiscard]] const std::vector<TableLine>& lines(const TableSort& sort,
                                                    const TableFilter& filter, bool grouped,
                                                    const std::array<bool, kClusterTypes>& closed);
  [[nodiscard]] const std::vector<TableRow>& rows() const { return rows_; }
  [[nodiscard]] const TableGroup& group(ClusterType cluster) const {
    return groups_[static_cast<std::size_t>(cluster)];
  }
  [[nodiscard]] double largest_cost_s() const { return largest_cost_s_; }
  /// Tab-separated with a header, in the order of `lines`.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<TableRow> rows_;
  std::vector<TableLine> lines_;
  std::array<TableGroup, kClusterTypes> groups_{};
  double largest_cost_s_ = 0;
  std::uint64_t version_ = ~std::uint64_t{0};
};

/// "all 8", "GPU 5", "2 4", "12 GPUs".
[[nodiscard]] std::string owners_text(const std::vector<std::int32_t>& owners, std::int32_t ranks,
                                      std::string_view word = "GPU");

}  // namespace shardscope::ui
