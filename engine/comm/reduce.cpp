#include "engine/comm/reduce.hpp"

#include <algorithm>
#include <cstring>

#include "engine/cpu/half.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace shardscope::engine {
namespace {

/// Elements summed at a time: the fp32 sums of one block stay in the first-level cache.
constexpr std::int64_t kBlock = 2048;

#if defined(__x86_64__)
constexpr std::int64_t kLanes = 8;

__attribute__((target("avx,f16c"))) void load_fp16_f16c(float* to, const std::uint16_t* from,
                                                        std::int64_t count) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(half));
  }
  for (; i < count; ++i) to[i] = fp16_to_float(from[i]);
}

__attribute__((target("avx,f16c"))) void store_fp16_f16c(std::uint16_t* to, const float* from,
                                                         std::int64_t count) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), half);
  }
  for (; i < count; ++i) to[i] = float_to_fp16(from[i]);
}

bool has_f16c() {
  static const bool has = __builtin_cpu_supports("avx") && __builtin_cpu_supports("f16c");
  return has;
}
#endif

void load_block(float* to, const std::byte* from, std::int64_t count, DType dtype) {
  const auto* half = reinterpret_cast<const std::uint16_t*>(from);
  switch (dtype) {
    case DType::fp32:
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
      return;
    case DType::fp16:
#if defined(__x86_64__)
      if (has_f16c()) return load_fp16_f16c(to, half, count);
#endif
      for (std::int64_t i = 0; i < count; ++i) to[i] = fp16_to_float(half[i]);
      return;
    case DType::bf16:
      for (std::int64_t i = 0; i < count; ++i) to[i] = bf16_to_float(half[i]);
      return;
  }
}

void store_block(std::byte* to, const float* from, std::int64_t count, DType dtype) {
  auto* half = reinterpret_cast<std::uint16_t*>(to);
  switch (dtype) {
    case DType::fp32:
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
      return;
    case DType::fp16:
#if defined(__x86_64__)
      if (has_f16c()) return store_fp16_f16c(half, from, count);
#endif
      for (std::int64_t i = 0; i < count; ++i) half[i] = float_to_fp16(from[i]);
      return;
    case DType::bf16:
      for (std::int64_t i = 0; i < count; ++i) half[i] = float_to_bf16(from[i]);
      return;
  }
}

void add_block(float* sum, const std::byte* from, std::int64_t count, DType dtype) {
  if (dtype == DType::fp32) {
    const auto* values = reinterpret_cast<const float*>(from);
    for (std::int64_t i = 0; i < count; ++i) sum[i] += values[i];
    return;
  }
  alignas(64) float values[kBlock];
  load_block(values, from, count, dtype);
  for (std::int64_t i = 0; i < count; ++i) sum[i] += values[i];
}

}  // namespace

void sum_parts(std::byte* out, const std::byte* const* parts, std::int32_t parts_count,
               std::int64_t elements, DType dtype) {
  alignas(64) float sum[kBlock];
  for (std::int64_t begin = 0; begin < elements; begin += kBlock) {
    const std::int64_t count = std::min(kBlock, elements - begin);
    const std::int64_t offset = begin * bytes_of(dtype);
    load_block(sum, parts[0] + offset, count, dtype);
    for (std::int32_t part = 1; part < parts_count; ++part) {
      add_block(sum, parts[part] + offset, count, dtype);
    }
    store_block(out + offset, sum, count, dtype);
  }
}

Chunk chunk_of(std::int64_t count, std::int32_t part, std::int32_t parts) {
  const std::int64_t base = count / parts;
  const std::int64_t longer = count % parts;
  const std::int64_t begin = part * base + std::min<std::int64_t>(part, longer);
  return {begin, begin + base + (part < longer ? 1 : 0)};
}

}  // namespace shardscope::engine
