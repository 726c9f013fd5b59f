#pragma once
// Built-in machines in their usual size. Private to models*.cpp.

#include <optional>
#include <string_view>

#include "layout/topology.hpp"

namespace shardscope {

/// The machine whose ranks are threads of one CPU host.
inline constexpr const char* kHostCpu = "host-cpu";

[[nodiscard]] std::optional<Topology> find_machine(std::string_view name);

}  // namespace shardscope
