#pragma once
// How the screens call what a topology is made of: GPUs of hosts, or the ranks of CPU hosts.

#include <cstdint>
#include <string>
#include <string_view>

#include "layout/topology.hpp"

namespace shardscope::ui {

/// The machine of host-cpu: its ranks are cores.
[[nodiscard]] bool is_cpu_host(const Topology& topology);
/// "GPU", or "rank" where there is none.
[[nodiscard]] std::string_view gpu_word(const Topology& topology);
/// The same of a run that was recorded on that backend.
[[nodiscard]] std::string_view gpu_word(std::string_view backend);
/// "GPU 5", "rank 5".
[[nodiscard]] std::string gpu_title(const Topology& topology, std::int32_t rank);

}  // namespace shardscope::ui
