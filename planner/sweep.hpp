#pragma once
// The same model planned over and over: on more nodes, at other batches, by other planners, with
// other optimizers and number formats.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "layout/layout.hpp"
#include "layout/result.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"
#include "planner/cost_model.hpp"

namespace shardscope {

/// Values to try along each axis. An empty one keeps what the model or machine has.
struct SweepAxes {
  std::vector<std::int32_t> nodes;
  std::vector<std::int64_t> batches;
  std::vector<std::string> planners;  ///< empty: optimize
  std::vector<OptimizerKind> optimizers;
  std::vector<DType> dtypes;  ///< of weights
  std::vector<DType> wires;   ///< of vectors and gradients on the wire
};

/// One combination.
struct SweepCase {
  std::int32_t nodes = 1;
  std::int32_t gpus = 1;
  std::int64_t batch = 0;
  std::string planner;
  std::string optimizer;  ///< "mixed" where tables differ
  std::string dtype;      ///< likewise
  DType wire = DType::fp32;
};

struct SweepRow {
  SweepCase what;
  bool fits = false;
  std::string why_not;  ///< first reason where it does not
  double predicted_s = 0;
  double low_s = 0, high_s = 0;  ///< 90 %
  double samples_per_s = 0;
  double lower_bound_s = 0;
  double gap = 0;
  double memory_bytes = 0;  ///< fullest GPU, by the executor's rules
  double seconds = 0;       ///< planning took
  std::string trust;
};

/// Combinations in the order of the axes as they stand above, the last changing fastest.
[[nodiscard]] std::size_t sweep_size(const SweepAxes& axes);

/// Plans every combination and hands each row on as it is done. `go_on` is asked often; false ends
/// the sweep, and the combination at work is dropped. Returns rows handed on.
[[nodiscard]] Result<std::size_t> sweep(const Workload& workload, const Topology& topology,
                                        const PredictOptions& options, const SweepAxes& axes,
                                        const std::function<void(const SweepRow&)>& row,
                                        const std::function<bool()>& go_on);

}  // namespace shardscope
