#pragma once
// What a plan file gives: who holds what, and, where sizes are known, our layout with its inputs.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "layout/executor.hpp"
#include "layout/layout.hpp"
#include "layout/result.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"
#include "storage/import/notes.hpp"

namespace shardscope::storage {

/// What the person gave beside the file.
struct ImportContext {
  std::optional<Workload> workload;  ///< sizes and features for files that have none
  std::optional<Topology> topology;  ///< the machine for files that do not name it
};

/// What a planner printed of its own plan, in its own milliseconds.
struct PlanEstimate {
  std::vector<double> rank_ms;          ///< summed from the tables' shards
  std::vector<double> printed_rank_ms;  ///< as the report's rank section has it; may be empty
  std::int32_t hot_rank = 0;
  std::vector<std::pair<std::string, double>> hot_tables;  ///< on the hot rank, most first
};

struct ImportedPlan {
  std::string name;
  /// Names of the tables with a shard on each rank, in the file's order.
  std::vector<std::vector<std::string>> matrix;
  Executor executor = Executor::torchrec;  ///< whose plan it is
  std::optional<Workload> workload;
  std::optional<Topology> topology;
  std::optional<Layout> layout;  ///< present only together with the two above
  std::optional<PlanEstimate> estimate;
  /// Figures the file states about the plan (costs, measured times), as text.
  std::vector<std::pair<std::string, std::string>> facts;
};

/// The built-in machine that a device's name ("NVIDIA H100 PCIe") means; dgx-h100 with a warning
/// where the name is empty or unknown. Shaped to hosts x gpus, one fast domain a host.
[[nodiscard]] Topology machine_for(const std::string& device, std::int32_t hosts,
                                   std::int32_t gpus_per_host, ImportNotes& notes);

}  // namespace shardscope::storage
