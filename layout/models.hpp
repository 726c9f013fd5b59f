#pragma once
// Built-in workloads and topologies by name.

#include <string>
#include <string_view>
#include <vector>

#include "layout/result.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope {

/// dcnv2, t180, t200, t510, criteo-kaggle, criteo-terabyte, rm1, rm2, rm3, merlin-tiny,
/// merlin-small.
[[nodiscard]] std::vector<std::string> model_names();
[[nodiscard]] Result<Workload> model_by_name(std::string_view name);

/// dgx-a100, dgx-h100, dgx-h200, dgx-b200, gb200, dgx1-v100, h100-pcie, a40-pcie, l40-pcie,
/// l40s-pcie, host-cpu.
[[nodiscard]] std::vector<std::string> topology_names();

/// Source of host-cpu's memory, which nobody can know before the program looks at its host.
inline constexpr const char* kSharedHostMemory = "assumed for a rank of an unknown host";

/// NAME, NAME:NODES or NAME:NODESxGPUS ("dgx-h100:16" is 16 nodes of 8, "h100-pcie:1x4" one of 4).
[[nodiscard]] Result<Topology> topology_by_name(std::string_view spec);

}  // namespace shardscope
