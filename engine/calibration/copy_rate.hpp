#pragma once
// How fast a rank streams through its memory: the peak that other kernels are measured against.

#include <cstdint>

#include "engine/calibration/collective_times.hpp"
#include "engine/device.hpp"

namespace shardscope::engine {

/// Bytes read and written a second by copies of `bytes` from one buffer to another, the median of
/// `repeats`.
[[nodiscard]] Result<double> copy_bytes_per_s(Ops& ops, const RankDevice& device,
                                              std::int64_t bytes, std::int32_t repeats,
                                              StageClock clock);

}  // namespace shardscope::engine
