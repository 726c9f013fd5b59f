#include "engine/comm/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace shardscope::engine {
namespace {

/// A format of 1 sign bit, `exponent_bits` and `mantissa_bits`, written out from its definition.
struct Format {
  int exponent_bits;
  int mantissa_bits;

  [[nodiscard]] double value(std::uint32_t bits) const {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const std::uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
    const int exponent = static_cast<int>(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
    const double sign = (bits >> (exponent_bits + mantissa_bits)) != 0 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1) {
      return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                           : sign * std::numeric_limits<double>::infinity();
    }
    if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
    return sign * std::ldexp((1u << mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
  }
};

constexpr Format kFp16{5, 10};
constexpr Format kBf16{8, 7};

/// The bits are those of the neighbour nearest to the value, the even one of two equally near; the
/// first value out of range stands for infinity.
void expect_nearest(const Format& format, float value, std::uint16_t bits) {
  const std::uint32_t magnitude = bits & 0x7fffu;
  const std::uint32_t infinity = ((1u << format.exponent_bits) - 1) << format.mantissa_bits;
  const auto finite = [&](std::uint32_t at) {  // infinity as the number that would follow
    return at == infinity ? 2 * format.value(at - 1) - format.value(at - 2) : format.value(at);
  };
  ASSERT_LE(magnitude, infinity) << value;
  EXPECT_EQ(std::signbit(value), (bits & 0x8000u) != 0) << value;
  const double distance = std::abs(std::abs(static_cast<double>(value)) - finite(magnitude));
  if (magnitude > 0) {
    const double below = std::abs(std::abs(static_cast<double>(value)) - finite(magnitude - 1));
    EXPECT_TRUE(distance < below || (distance == below && magnitude % 2 == 0)) << value;
  }
  if (magnitude < infinity) {
    const double above = std::abs(std::abs(static_cast<double>(value)) - finite(magnitude + 1));
    EXPECT_TRUE(distance < above || (distance == above && magnitude % 2 == 0)) << value;
  }
}

TEST(Half, EveryFp16AndBf16HasTheValueOfItsDefinition) {
  for (std::uint32_t bits = 0; bits <= 0xffffu; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    for (const auto& [format, value] :
         {std::pair(kFp16, float_of_fp16(half)), std::pair(kBf16, float_of_bf16(half))}) {
      const double expected = format.value(bits);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(value)) << bits;
      } else {
        EXPECT_EQ(value, expected) << bits;
        EXPECT_EQ(std::signbit(value), std::signbit(expected)) << bits;
      }
    }
  }
}

TEST(Half, EveryFp16AndBf16SurvivesTheWayThereAndBack) {
  for (std::uint32_t bits = 0; bits <= 0xffffu; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if (!std::isnan(float_of_fp16(half))) {
      EXPECT_EQ(fp16_of_float(float_of_fp16(half)), half);
    } else {
      EXPECT_TRUE(std::isnan(float_of_fp16(fp16_of_float(float_of_fp16(half)))));
    }
    if (!std::isnan(float_of_bf16(half))) {
      EXPECT_EQ(bf16_of_float(float_of_bf16(half)), half);
    } else {
      EXPECT_TRUE(std::isnan(float_of_bf16(bf16_of_float(float_of_bf16(half)))));
    }
  }
}

TEST(Half, RoundsToTheNearestAndTiesToEven) {
  const std::uint32_t seed = 20'240'601;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 300'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isfinite(value)) continue;
    expect_nearest(kBf16, value, bf16_of_float(value));
    expect_nearest(kFp16, value, fp16_of_float(value));
  }
  // The range of fp16 with its ends, its subnormals and its ties.
  for (int i = 0; i < 300'000; ++i) {
    const auto half = static_cast<std::uint16_t>(random());
    const double from = float_of_fp16(half);
    const double next = float_of_fp16(static_cast<std::uint16_t>(half + 1));
    if (!std::isfinite(from) || !std::isfinite(next)) continue;
    const auto tie = static_cast<float>((from + next) / 2);
    for (const float value : {tie, std::nextafter(tie, 1e30f), std::nextafter(tie, -1e30f)}) {
      expect_nearest(kFp16, value, fp16_of_float(value));
    }
  }
  for (const float value : {65'504.0f, 65'519.9f, 65'520.0f, 65'536.0f, 1e30f, 0x1p-24f, 0x1p-25f,
                            0x1.8p-25f, 0x1p-14f, 0x1.ffcp-15f, 0x1.ffep-15f, 0.0f, -0.0f}) {
    expect_nearest(kFp16, value, fp16_of_float(value));
    expect_nearest(kFp16, -value, fp16_of_float(-value));
  }
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(float_of_fp16(fp16_of_float(infinity)), infinity);
  EXPECT_EQ(float_of_bf16(bf16_of_float(-infinity)), -infinity);
}

}  // namespace
}  // namespace shardscope::engine
