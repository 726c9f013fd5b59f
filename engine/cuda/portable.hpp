#pragma once
// The only header the kernels know: one spelling of GPU code for nvcc and for the CPU.
//   SHARDSCOPE_KERNEL   a kernel; returns void, takes plain values
//   SHARDSCOPE_DEVICE   a function that kernels call; SHARDSCOPE_BOTH: the host too
//   SHARDSCOPE_INLINE   behind a lambda's parameters: never a call of its own
//   SHARDSCOPE_SHARED(T, name, count)   an array shared by the block
//   thread_x block_x block_y block_threads grid_x   where a thread stands; blocks are one row of
//                       threads, grids have two dimensions
//   sync_block, sync_warp, shuffle, shuffle_down, ballot, match_any   always of all threads of the
//                       block or all 32 lanes of the warp, as every one of them reaches the line
//   atomic_add, atomic_min, atomic_cas, atomic_load   relaxed, of the whole device
//   half_to_float, half_from_float, square_root, ...   rounded as the CPU rounds
//   exponential, log_one_plus   within 2 units in the last place
//   load_words, store_words   16 or 8 bytes in one access
// and the calls of engine/ops.hpp and engine/assembly.hpp with the row types Fp16 and Bf16, and
// the views of engine/dense/matrix.hpp.
// Multiplication and addition are never fused (nvcc -fmad=false), so that sums in the same order
// are equal bit for bit on both.

#if defined(__CUDACC__)
#include "engine/cuda/device/portable.cuh"
#else
#include "engine/cuda/host/portable.hpp"
#endif
