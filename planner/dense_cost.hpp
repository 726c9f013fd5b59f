#pragma once
// Time of the dense part's kernels on one rank: GEMMs and elementwise passes. The same on every
// rank and for every layout.

#include "layout/topology.hpp"
#include "layout/workload.hpp"
#include "planner/executor_model.hpp"

namespace shardscope {

struct DenseCost {
  double bottom_forward_s = 0;
  double top_forward_s = 0;  ///< interaction and top MLP
  double top_backward_s = 0;
  double bottom_backward_s = 0;
  double parameters = 0;  ///< elements that are all-reduced
  double update_s = 0;
};

/// `samples`: of one rank. All zero without a dense part (or with one whose shape is wrong).
[[nodiscard]] DenseCost dense_cost(const Workload& workload, const Gpu& gpu,
                                   const ExecutorModel& executor, double samples);

}  // namespace shardscope
