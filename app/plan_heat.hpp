#pragma once
// Which rank of a layout is hot and which tables make it so, by the planner's prediction.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "layout/executor.hpp"
#include "layout/layout.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope::app {

struct TableHeat {
  std::string table;
  double rows_per_sample = 0;  ///< looked up on the rank
  double share = 0;            ///< of the rank's gathered bytes
};

struct PlanHeat {
  double iteration_ms = 0;
  double low_ms = 0;
  double high_ms = 0;
  std::string trust;
  std::vector<double> rank_ms;  ///< sum of a rank's own stage times, waiting excluded
  std::int32_t hot_rank = 0;
  double hot_over_mean = 1;
  std::vector<TableHeat> tables;  ///< of the hot rank, the most gathered bytes first, at most 5
};

/// Under the executor's own default schedule. Nothing where the layout cannot be predicted (its
/// geometry is broken).
[[nodiscard]] std::optional<PlanHeat> plan_heat(const Workload& workload, const Topology& topology,
                                                const Layout& layout, Executor executor);

}  // namespace shardscope::app
