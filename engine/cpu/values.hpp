#pragma once
// Row values of a type chosen at run time, seen as fp32, one at a time.

#include <cstdint>
#include <type_traits>

#include "engine/cpu/half.hpp"
#include "layout/workload.hpp"

namespace shardscope::engine {

/// bf16 and fp16 bit patterns as types of their own.
struct Fp16 {
  std::uint16_t bits;
};
struct Bf16 {
  std::uint16_t bits;
};

[[nodiscard]] constexpr float to_float(float value) {
  return value;
}
[[nodiscard]] constexpr float to_float(Fp16 value) {
  return fp16_to_float(value.bits);
}
[[nodiscard]] constexpr float to_float(Bf16 value) {
  return bf16_to_float(value.bits);
}

/// Rounds to nearest even.
template <class T>
[[nodiscard]] constexpr T from_float(float value) {
  if constexpr (std::is_same_v<T, Fp16>) return {float_to_fp16(value)};
  if constexpr (std::is_same_v<T, Bf16>) return {float_to_bf16(value)};
  if constexpr (std::is_same_v<T, float>) return value;
}

/// Calls use(T{}) with the type that stands for `type`.
template <class Use>
decltype(auto) with_value_type(DType type, const Use& use) {
  switch (type) {
    case DType::fp16:
      return use(Fp16{});
    case DType::bf16:
      return use(Bf16{});
    case DType::fp32:
      break;
  }
  return use(float{});
}

/// Calls use(Key{}) with the type that stands for `key`.
template <class Use>
decltype(auto) with_key_type(KeyType key, const Use& use) {
  return key == KeyType::i32 ? use(std::int32_t{}) : use(std::int64_t{});
}

}  // namespace shardscope::engine
