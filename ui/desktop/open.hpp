#pragma once
// Models, machines and layouts by name or file, as the desktop opens them.

#include <string>

#include "layout/layout.hpp"
#include "layout/result.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope::ui {

/// A built-in model or a JSON file (workload or table list).
[[nodiscard]] Result<Workload> open_workload(const std::string& name);
/// NAME[:NODES[xGPUS]] or a JSON file.
[[nodiscard]] Result<Topology> open_topology(const std::string& name);
/// A planner or baseline by name, or a JSON file.
[[nodiscard]] Result<Layout> open_layout(const std::string& name, const Workload& workload,
                                         const Topology& topology);
/// The whole file; at most 1 GiB.
[[nodiscard]] Result<std::string> read_text(const std::string& path);
[[nodiscard]] bool names_file(const std::string& name);

}  // namespace shardscope::ui
