#pragma once
// The spelling of engine/cuda/portable.hpp on a GPU. Included by that file only.

#include <cuda_fp16.h>

#include <cstdint>

#include "engine/assembly.hpp"
#include "engine/cpu/values.hpp"
#include "engine/dense/matrix.hpp"
#include "engine/ops.hpp"

/// The largest block any kernel is launched with, and how many of them a multiprocessor holds at
/// least: with more, some kernels would keep registers in memory (scripts/check-kernels).
#define SHARDSCOPE_KERNEL static __global__ __launch_bounds__(256, 3)
#define SHARDSCOPE_DEVICE __device__ __forceinline__
#define SHARDSCOPE_BOTH __host__ __device__ __forceinline__
#define SHARDSCOPE_INLINE __attribute__((always_inline))
#define SHARDSCOPE_UNROLL _Pragma("unroll")
#define SHARDSCOPE_SHARED(T, name, count) __shared__ T name[count]

namespace shardscope::engine::cuda {

/// Warps of a block that reduces a long run.
inline constexpr std::uint32_t kReduceWarps = 8;

SHARDSCOPE_DEVICE std::uint32_t thread_x() {
  return threadIdx.x;
}
SHARDSCOPE_DEVICE std::uint32_t block_x() {
  return blockIdx.x;
}
SHARDSCOPE_DEVICE std::uint32_t block_y() {
  return blockIdx.y;
}
SHARDSCOPE_DEVICE std::uint32_t block_threads() {
  return blockDim.x;
}
SHARDSCOPE_DEVICE std::uint32_t grid_x() {
  return gridDim.x;
}

SHARDSCOPE_DEVICE void sync_block() {
  __syncthreads();
}
SHARDSCOPE_DEVICE void sync_warp() {
  __syncwarp();
}

inline constexpr unsigned kAllLanes = 0xffffffffU;

template <class T>
SHARDSCOPE_DEVICE T shuffle_down(T value, std::uint32_t by, std::uint32_t width = 32) {
  return __shfl_down_sync(kAllLanes, value, by, static_cast<int>(width));
}
template <class T>
SHARDSCOPE_DEVICE T shuffle(T value, std::uint32_t source, std::uint32_t width = 32) {
  return __shfl_sync(kAllLanes, value, static_cast<int>(source), static_cast<int>(width));
}
SHARDSCOPE_DEVICE std::int64_t shuffle(std::int64_t value, std::uint32_t source,
                                       std::uint32_t width = 32) {
  return static_cast<std::int64_t>(__shfl_sync(kAllLanes, static_cast<long long>(value),
                                               static_cast<int>(source), static_cast<int>(width)));
}
SHARDSCOPE_DEVICE std::uint32_t ballot(bool predicate) {
  return __ballot_sync(kAllLanes, predicate);
}
SHARDSCOPE_DEVICE std::uint32_t match_any(std::uint32_t value) {
  return __match_any_sync(kAllLanes, value);
}

// CUDA's atomics know long long, not the 64-bit types of cstdint.
template <class T>
struct AtomicWord {
  using Type = T;
};
template <>
struct AtomicWord<std::int64_t> {
  using Type = unsigned long long;  // two's complement: adding is the same
};
template <>
struct AtomicWord<std::uint64_t> {
  using Type = unsigned long long;
};

template <class T>
SHARDSCOPE_DEVICE T atomic_add(T* to, T value) {
  using Word = typename AtomicWord<T>::Type;
  return static_cast<T>(atomicAdd(reinterpret_cast<Word*>(to), static_cast<Word>(value)));
}
/// Of unsigned values.
template <class T>
SHARDSCOPE_DEVICE T atomic_min(T* to, T value) {
  using Word = typename AtomicWord<T>::Type;
  return static_cast<T>(atomicMin(reinterpret_cast<Word*>(to), static_cast<Word>(value)));
}
/// What was there; `value` is stored if that is `expected`.
template <class T>
SHARDSCOPE_DEVICE T atomic_cas(T* to, T expected, T value) {
  using Word = typename AtomicWord<T>::Type;
  return static_cast<T>(atomicCAS(reinterpret_cast<Word*>(to), static_cast<Word>(expected),
                                  static_cast<Word>(value)));
}
/// A read that other threads' atomic operations may cross.
template <class T>
SHARDSCOPE_DEVICE T atomic_load(const T* from) {
  return *static_cast<const volatile T*>(from);
}

SHARDSCOPE_DEVICE std::int32_t bits_set(std::uint32_t value) {
  return __popc(value);
}
/// Index of the lowest bit set; `value` is not 0.
SHARDSCOPE_DEVICE std::int32_t lowest_bit(std::uint32_t value) {
  return __ffs(static_cast<int>(value)) - 1;
}
SHARDSCOPE_DEVICE std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
  return __umul64hi(a, b);
}
SHARDSCOPE_DEVICE float bits_to_float(std::uint32_t bits) {
  return __uint_as_float(bits);
}
SHARDSCOPE_DEVICE std::uint32_t float_to_bits(float value) {
  return __float_as_uint(value);
}

SHARDSCOPE_DEVICE float half_to_float(std::uint16_t bits) {
  return __half2float(__ushort_as_half(bits));
}
SHARDSCOPE_DEVICE std::uint16_t half_from_float(float value) {
  return __half_as_ushort(__float2half_rn(value));
}
SHARDSCOPE_DEVICE float square_root(float value) {
  return __fsqrt_rn(value);
}
SHARDSCOPE_DEVICE float exponential(float value) {
  return expf(value);
}
SHARDSCOPE_DEVICE double exponential(double value) {
  return exp(value);
}
/// log(1 + value).
SHARDSCOPE_DEVICE double log_one_plus(double value) {
  return log1p(value);
}
SHARDSCOPE_DEVICE float round_down(float value) {
  return floorf(value);
}

/// 16 bytes as four words, 8 bytes as two: loaded and stored in one access, at aligned addresses.
struct alignas(16) Words4 {
  std::uint32_t word[4];
};
struct alignas(8) Words2 {
  std::uint32_t word[2];
};
template <class Words>
SHARDSCOPE_DEVICE Words load_words(const void* from) {
  return *static_cast<const Words*>(from);
}
template <class Words>
SHARDSCOPE_DEVICE void store_words(void* to, const Words& words) {
  *static_cast<Words*>(to) = words;
}

}  // namespace shardscope::engine::cuda
