#pragma once
// The spelling of engine/cuda/portable.hpp on the CPU. Included by that file only.

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

#include "engine/assembly.hpp"
#include "engine/cpu/values.hpp"
#include "engine/cuda/host/block.hpp"
#include "engine/cuda/host/shared_array.hpp"
#include "engine/dense/matrix.hpp"
#include "engine/ops.hpp"

#define SHARDSCOPE_KERNEL static inline
#define SHARDSCOPE_DEVICE inline
#define SHARDSCOPE_BOTH inline
#define SHARDSCOPE_INLINE __attribute__((always_inline))
#define SHARDSCOPE_UNROLL
/// The address of a variable of the lambda tells this array from the others of the block.
#define SHARDSCOPE_SHARED(T, name, count)                                 \
  const ::shardscope::engine::cuda::host::SharedArray<T, count> name([] { \
    static const char key = 0;                                            \
    return static_cast<const void*>(&key);                                \
  }())

namespace shardscope::engine::cuda {

/// Warps of a block that reduces a long run.
inline constexpr std::uint32_t kReduceWarps = 2;

inline std::uint32_t thread_x() {
  return host::position().thread;
}
inline std::uint32_t block_x() {
  return host::position().block_x;
}
inline std::uint32_t block_y() {
  return host::position().block_y;
}
inline std::uint32_t block_threads() {
  return host::position().grid.threads;
}
inline std::uint32_t grid_x() {
  return host::position().grid.x;
}

inline void sync_block(std::source_location here = std::source_location::current()) {
  host::block_barrier(static_cast<int>(here.line()));
}
inline void sync_warp(std::source_location here = std::source_location::current()) {
  static_cast<void>(host::warp_exchange(0, static_cast<int>(here.line())));
}

namespace detail {
template <class T>
std::uint64_t packed(T value) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t) && std::is_trivially_copyable_v<T>);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
T unpacked(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}
}  // namespace detail

template <class T>
T shuffle_down(T value, std::uint32_t by, std::uint32_t width = 32,
               std::source_location here = std::source_location::current()) {
  const std::uint64_t* values =
      host::warp_exchange(detail::packed(value), static_cast<int>(here.line()));
  const std::uint32_t lane = thread_x() % 32;
  const std::uint32_t from = lane + by;
  return from < (lane / width + 1) * width ? detail::unpacked<T>(values[from]) : value;
}
template <class T>
T shuffle(T value, std::uint32_t source, std::uint32_t width = 32,
          std::source_location here = std::source_location::current()) {
  const std::uint64_t* values =
      host::warp_exchange(detail::packed(value), static_cast<int>(here.line()));
  const std::uint32_t lane = thread_x() % 32;
  return detail::unpacked<T>(values[lane / width * width + source % width]);
}
inline std::uint32_t ballot(bool predicate,
                            std::source_location here = std::source_location::current()) {
  const std::uint64_t* values =
      host::warp_exchange(predicate ? 1 : 0, static_cast<int>(here.line()));
  std::uint32_t bits = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    bits |= static_cast<std::uint32_t>(values[lane]) << lane;
  }
  return bits;
}
inline std::uint32_t match_any(std::uint32_t value,
                               std::source_location here = std::source_location::current()) {
  const std::uint64_t* values = host::warp_exchange(value, static_cast<int>(here.line()));
  std::uint32_t bits = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    bits |= (values[lane] == value ? 1U : 0U) << lane;
  }
  return bits;
}

template <class T>
T atomic_add(T* to, T value) {
  return __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}
template <class T>
T atomic_min(T* to, T value) {
  T seen = __atomic_load_n(to, __ATOMIC_RELAXED);
  while (value < seen && !__atomic_compare_exchange_n(to, &seen, value, false, __ATOMIC_RELAXED,
                                                      __ATOMIC_RELAXED)) {
  }
  return seen;
}
/// What was there; `value` is stored if that is `expected`.
template <class T>
T atomic_cas(T* to, T expected, T value) {
  __atomic_compare_exchange_n(to, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
/// A read that other threads' atomic operations may cross.
template <class T>
T atomic_load(const T* from) {
  return __atomic_load_n(from, __ATOMIC_RELAXED);
}

inline std::int32_t bits_set(std::uint32_t value) {
  return std::popcount(value);
}
/// Index of the lowest bit set; `value` is not 0.
inline std::int32_t lowest_bit(std::uint32_t value) {
  return std::countr_zero(value);
}
inline std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64);
}
inline float bits_to_float(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}
inline std::uint32_t float_to_bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

inline float half_to_float(std::uint16_t bits) {
  return fp16_to_float(bits);
}
inline std::uint16_t half_from_float(float value) {
  return float_to_fp16(value);
}
inline float square_root(float value) {
  return std::sqrt(value);
}
inline float exponential(float value) {
  return std::exp(value);
}
inline double exponential(double value) {
  return std::exp(value);
}
/// log(1 + value).
inline double log_one_plus(double value) {
  return std::log1p(value);
}
inline float round_down(float value) {
  return std::floor(value);
}

/// 16 bytes as four words, 8 bytes as two: loaded and stored in one access, at aligned addresses.
struct alignas(16) Words4 {
  std::uint32_t word[4];
};
struct alignas(8) Words2 {
  std::uint32_t word[2];
};
template <class Words>
Words load_words(const void* from) {
  if (reinterpret_cast<std::uintptr_t>(from) % sizeof(Words) != 0) host::fault("misaligned load");
  Words words;
  std::memcpy(&words, from, sizeof(Words));
  return words;
}
template <class Words>
void store_words(void* to, const Words& words) {
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(Words) != 0) host::fault("misaligned store");
  std::memcpy(to, &words, sizeof(Words));
}

}  // namespace shardscope::engine::cuda
