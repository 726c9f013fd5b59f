#pragma once
// Random layouts that the engine can run.

#include <cstdint>

#include "layout/layout.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope::bench {

/// Clusters, cuts and owners at random; how unevenly owners are drawn is itself drawn for each
/// layout, so that a set of them spans slow and fast. Valid by check() for executor engine.
[[nodiscard]] Layout random_layout(const Workload& workload, const Topology& topology,
                                   std::uint64_t seed);

}  // namespace shardscope::bench
