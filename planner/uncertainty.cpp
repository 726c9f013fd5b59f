#include "planner/uncertainty.hpp"

#include <algorithm>
#include <cmath>

namespace shardscope {

namespace {

double log_sd_of(Origin origin) {
  switch (origin) {
    case Origin::datasheet:
      return 0;
    case Origin::measured:
      return 0.03;
    case Origin::published:
      return 0.10;  // fitted to published results of other boxes
    case Origin::prior:
      return 0.25;
  }
  return 0.25;
}

}  // namespace

std::vector<UncertainConstant> uncertain_constants(Topology& topology) {
  Gpu& gpu = topology.gpu;
  std::vector<UncertainConstant> constants;
  const auto add = [&](std::string name, Quantity& quantity) {
    const double sd = log_sd_of(quantity.origin);
    if (sd > 0 && quantity.value > 0) constants.push_back({std::move(name), &quantity, sd});
  };
  add("gemm_efficiency", gpu.gemm_efficiency);
  add("gather_efficiency", gpu.gather_efficiency);
  add("reduce_efficiency", gpu.reduce_efficiency);
  add("update_efficiency", gpu.update_efficiency);
  add("input_efficiency", gpu.input_efficiency);
  add("stream_efficiency", gpu.stream_efficiency);
  add("sort_bytes_per_key", gpu.sort_bytes_per_key);
  add("launch_s", gpu.launch_s);
  add("overlap_cost", gpu.overlap_cost);
  add("intra.latency_s", topology.intra.latency_s);
  add("intra.efficiency", topology.intra.efficiency);
  add("inter.latency_s", topology.inter.latency_s);
  add("inter.latency_per_doubling_s", topology.inter.latency_per_doubling_s);
  add("inter.efficiency", topology.inter.efficiency);
  return constants;
}

double log_deviation(const Topology& topology,
                     const std::function<double(const Topology&)>& seconds) {
  const double base = seconds(topology);
  if (!(base > 0)) return 0;
  Topology moved = topology;
  double variance = 0;
  for (const UncertainConstant& constant : uncertain_constants(moved)) {
    const double kept = constant.quantity->value;
    // Downwards: an efficiency may already stand near 1.
    constant.quantity->value = kept * std::exp(-constant.log_sd);
    const double effect = std::log(seconds(moved) / base);
    constant.quantity->value = kept;
    variance += effect * effect;
  }
  return std::sqrt(variance);
}

}  // namespace shardscope
