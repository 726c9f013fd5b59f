#pragma once
// Quantizing within a bound. A value x becomes the code q = round(x / step) and comes back as
// q * step. Every code is checked by the very product that the decoder forms: where |x - q * step|
// exceeds the bound, or x is not finite, x escapes and is kept bit for bit. The difference is exact
// in fp32: q = 0 leaves x itself, and with |q| >= 1 the product lies between x / 2 and 2 x.
//
// The step is a little less than twice the bound, so that rounding x / step near a tie cannot leave
// the bound: codes of 8 bits never escape, wider ones hardly ever. Codes are at most 2^20, where
// the products' rounding stays below half a code: quantizing a decoded value gives its code again.

#include <cstdint>

#include "engine/codec/codec_kind.hpp"

namespace shardscope::engine {

/// Smallest and largest finite value; low > high where there is none.
struct FiniteRange {
  float low = 0;
  float high = 0;

  [[nodiscard]] bool any() const { return low <= high; }
};

[[nodiscard]] FiniteRange finite_range(const float* values, std::int64_t count);

/// The absolute bound of a chunk. 0 where it has no finite value.
[[nodiscard]] double absolute_bound(const CodecSpec& spec, const FiniteRange& range);

struct Quantizer {
  float bound = 0;    ///< the largest float not above the bound
  float step = 0;     ///< 0: the bound is too small to quantize within
  float inverse = 0;  ///< 1 / step, rounded

  [[nodiscard]] bool usable() const { return step > 0; }
};

[[nodiscard]] Quantizer quantizer_of(double absolute_bound);

/// Whether a step read from a payload is one that quantizer_of can have made.
[[nodiscard]] bool is_step(float step);

inline constexpr std::int32_t kLargestCode8 = 127;
inline constexpr std::int32_t kLargestCode32 = 1 << 20;

/// Where the codes of a range fit into 8 bits.
[[nodiscard]] bool fits_8_bits(const Quantizer& quantizer, const FiniteRange& range);

/// Positions of escaped values, in ascending order.
struct Escapes {
  std::uint32_t* positions = nullptr;
  std::int64_t capacity = 0;
  std::int64_t count = 0;
};

/// Codes of `count` values, 0 for those that escape. False where more escape than there is room.
/// `codes` is writable up to a multiple of 32; what stands beyond `count` is undefined.
[[nodiscard]] bool quantize(const Quantizer& quantizer, const float* values, std::int64_t count,
                            std::int8_t* codes, Escapes& escapes);
[[nodiscard]] bool quantize(const Quantizer& quantizer, const float* values, std::int64_t count,
                            std::int32_t* codes, Escapes& escapes);

/// Rows of values from rows of codes: row r of `out` is row index[r] of `codes` times step, or row
/// r where there is no index.
struct Expand {
  const void* codes = nullptr;
  const std::uint32_t* index = nullptr;
  std::int64_t rows = 0;
  std::int64_t dim = 0;
  float step = 0;
  float* out = nullptr;
};

void expand_8(const Expand& call);
void expand_32(const Expand& call);

}  // namespace shardscope::engine
