#pragma once
// The planners that ship with HugeCTR, reproduced from their behaviour: the one of its MLPerf
// submissions (samples/dlrm/sharding) and EMBark's (benchmarks/embedding_collection), with their
// quirks. Hierarchical ones place on fast domains and cut every table over a domain's ranks.

#include "layout/topology.hpp"
#include "layout/workload.hpp"
#include "planner/named_plan.hpp"

namespace shardscope {

/// Settings: mem_comm_bw_ratio (3.35e12 / 450e9), mem_comm_work_ratio (4), dp_threshold_gb (0:
/// tables below are DP), memory_cap_gib (60; read as 1e9 bytes, as the original does), optimizer
/// (adagrad | sgd; the workload's). Cost: hotness a shard plus the ratio for each shard.
[[nodiscard]] Result<NamedPlan> mlperf_plan(const Workload& workload, const Topology& topology,
                                            bool hierarchical, const PlanSettings& settings);

/// Settings: mem_comm_bw_ratio (80), mem_comm_work_ratio (4), dp_threshold and dense_threshold
/// (how many tables become DP and UB; 0), memory_cap_gib (60), column_wise (false), optimizer.
/// Cost: memory bytes and weighted wire bytes of a global batch, in elements.
[[nodiscard]] Result<NamedPlan> embark_plan(const Workload& workload, const Topology& topology,
                                            bool hierarchical, const PlanSettings& settings);

/// The layout of a HugeCTR shard matrix: rank -> tables. `column_factors` and the two sets are by
/// table. Owners ascend: shard (j, k) of r row shards is the (k r + j)-th rank that lists the
/// table (HugeCTR's numbering).
[[nodiscard]] Result<Layout> layout_of_matrix(const Workload& workload, std::int32_t ranks,
                                              const std::vector<std::vector<std::int32_t>>& matrix,
                                              const std::vector<std::int32_t>& column_factors,
                                              const std::vector<bool>& replicated,
                                              const std::vector<bool>& by_unique);

}  // namespace shardscope
