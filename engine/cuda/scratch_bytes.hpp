#pragma once
// Memory of a GPU that a rank uses beside its arena.

#include <cstdint>
#include <span>

#include "layout/buffers.hpp"
#include "layout/workload.hpp"

namespace shardscope::engine::cuda {

/// An upper bound of what the runtime's pool and cuBLAS hold for a rank with these buffers, bytes:
/// the sort of the cluster with the most occurrences (keys, positions, run heads and CUB's copies),
/// offsets of bags, pieces of long runs, lists; with a dense part on the GPU a workspace a stream.
/// Graphs keep room for an eighth more, and a second time, as their memory is not the pool's.
[[nodiscard]] std::int64_t device_scratch_bytes(const Workload& workload,
                                                std::span<const BufferSpec> buffers, bool dense,
                                                bool graphs);

}  // namespace shardscope::engine::cuda
