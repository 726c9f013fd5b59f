#pragma once
// The Python beside an exported plan: builds the ShardingPlan for DistributedModelParallel(plan=),
// the ParameterConstraints and the planner's Topology.

#include <cstdint>
#include <string>
#include <vector>

#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope::storage {

/// What lets TorchRec's own planner choose the same form (it cannot pin ranks).
struct TorchrecConstraint {
  std::string table;
  std::string form;
  std::string kernel;
  std::int32_t min_partition = 0;  ///< width of a column shard; 0: not cut
  std::vector<double> pooling_factors;
  std::vector<double> num_poolings;
  bool weighted = false;
};

[[nodiscard]] std::string torchrec_loader(const Workload& workload, const Topology& topology,
                                          const std::vector<TorchrecConstraint>& constraints,
                                          const std::string& json_name);

}  // namespace shardscope::storage
