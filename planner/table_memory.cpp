#include "planner/table_memory.hpp"

#include <algorithm>

#include "layout/invariant.hpp"

namespace shardscope {

double row_share(const TablePlacement& placement, std::int32_t j, double rows) {
  if (rows <= 0) return 1.0 / placement.row_shards;
  return static_cast<double>(placement.rows_in(j, static_cast<std::int64_t>(rows))) / rows;
}

double stored_bytes(const Table& table, double rows, double width) {
  const double element =
      static_cast<double>(bytes_of(table.dtype)) + 4.0 * table.optimizer.words_per_element;
  return rows * (width * element + 4.0 * table.optimizer.words_per_row);
}

double stored_bytes(const Table& table) {
  return stored_bytes(table, static_cast<double>(table.rows), table.dim);
}

void LargestOf::add(double bytes) {
  all_.push_back(bytes);
  most_ = std::max(most_, bytes);
}

void LargestOf::remove(double bytes) {
  // Trials take out what they put in last.
  const auto found = std::find(all_.rbegin(), all_.rend(), bytes);
  SHARDSCOPE_CHECK(found != all_.rend(), "only what was added is taken out");
  *found = all_.back();
  all_.pop_back();
  if (bytes < most_) return;
  most_ = all_.empty() ? 0 : *std::max_element(all_.begin(), all_.end());
}

}  // namespace shardscope
