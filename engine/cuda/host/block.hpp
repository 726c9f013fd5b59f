#pragma once
// Runs a GPU kernel's grid on the calling OS thread: blocks one after the other, a fiber a GPU
// thread. Built for finding errors, not for speed. What it reports as KernelFault: barriers and
// warp operations that not all threads reach or that they reach at different lines, shared memory
// used without a barrier between, indices beyond a shared array. AddressSanitizer sees accesses
// beyond global memory; ThreadSanitizer sees unordered accesses to global memory, since to it every
// GPU thread is a thread of its own.

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace shardscope::engine::cuda::host {

inline constexpr std::uint32_t kWarpThreads = 32;
inline constexpr std::uint32_t kMaxBlockThreads = 1024;

/// An error of the kernel; names block, thread and line where it can.
class KernelFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Grid {
  std::uint32_t x = 1;         ///< blocks
  std::uint32_t y = 1;         ///< blocks
  std::uint32_t threads = 32;  ///< of a block; a multiple of 32, at most 1,024
};

/// Where the running GPU thread stands.
struct Position {
  Grid grid;
  std::uint32_t block_x = 0;
  std::uint32_t block_y = 0;
  std::uint32_t thread = 0;
};
[[nodiscard]] const Position& position();

/// Order in which the threads of a block start: ascending, or drawn from a seed other than 0. Of
/// the calling OS thread.
void set_order_seed(std::uint64_t seed);

/// Runs kernel(argument) once for every thread of the grid. Throws the first KernelFault.
void run_grid(const Grid& grid, void (*kernel)(const void* argument), const void* argument);

/// Barrier of the block. Every thread of the block has to come, at the same line.
void block_barrier(int line);

/// Every lane of the warp gives a value; returns the 32 values. Valid until the warp's next call.
[[nodiscard]] const std::uint64_t* warp_exchange(std::uint64_t value, int line);

/// Memory of `bytes` bytes and as much of `shadow_bytes`, zero, shared by the threads of the block
/// and identified by `key`. The first is filled with 0xCB.
struct SharedBlock {
  void* data = nullptr;
  void* shadow = nullptr;
};
[[nodiscard]] SharedBlock shared_block(const void* key, std::size_t bytes,
                                       std::size_t shadow_bytes);

/// Epochs by which shared memory's uses are ordered.
struct Moment {
  std::uint32_t thread = 0;
  std::uint32_t block_epoch = 0;  ///< barriers passed
  std::uint32_t warp_epoch = 0;   ///< warp operations passed
};
[[nodiscard]] Moment moment();

/// Ends the kernel with a KernelFault that names block and thread.
[[noreturn]] void fault(const char* what);

}  // namespace shardscope::engine::cuda::host
