#pragma once
// What codecs take on GPUs, where none of ours has been timed: figures that others published, and
// what the GPU's memory allows.

#include <vector>

#include "layout/calibration.hpp"
#include "layout/topology.hpp"

namespace shardscope::app {

/// True where the topology's ranks are GPUs and not cores of a host.
[[nodiscard]] bool has_gpus(const Topology& topology);

/// Replaces throughputs that were measured on a core of this machine, ratios and errors stay: by
/// published figures of codecs of the same kind (origin published), for conversions by what the
/// memory carries (origin prior). Codecs that nobody has published figures of keep the core's.
void take_gpu_rates(const Gpu& gpu, std::vector<CodecProfile>& profiles);

/// Conversions (raw copies, fp16, bf16, row-int8, row-int4): bytes moved for 4 bytes of values over
/// the memory's; 0 for other codecs.
[[nodiscard]] double conversion_bytes_per_s(const std::string& codec, const Gpu& gpu);

}  // namespace shardscope::app
