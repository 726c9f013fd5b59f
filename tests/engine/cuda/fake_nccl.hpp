#pragma once
// An NCCL whose ranks are threads and whose streams are the cpu device's: bytes are copied once
// sender and receiver are there. As the real one it hangs where sizes differ and where a peer does
// not come, until it is aborted.

#include <atomic>
#include <cstdint>

#include "engine/cuda/nccl_api.hpp"
#include "engine/cuda/nccl_fabric.hpp"

namespace shardscope::engine::cuda {

inline constexpr int kNcclRemoteError = 6;

/// What the fake is told to do wrong. One at a time.
struct FakeNcclFaults {
  std::atomic<std::int32_t> failing_rank{-1};  ///< its communicator reports a remote error
  std::atomic<std::int32_t> hanging_rank{-1};  ///< its work never ends
  std::atomic<int> init_error{kNcclSuccess};
  std::atomic<int> groups{0};  ///< ended so far
};

[[nodiscard]] FakeNcclFaults& fake_nccl_faults();

[[nodiscard]] const NcclApi& fake_nccl_api();

/// The fake with cpu streams, cpu operations and host memory.
[[nodiscard]] NcclPort fake_nccl_port();

}  // namespace shardscope::engine::cuda
