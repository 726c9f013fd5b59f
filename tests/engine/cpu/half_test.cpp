#include "engine/cpu/half.hpp"

#include <limits>

#include "engine/cpu/kernels.hpp"
#include "engine/cpu/rounding.hpp"
#include "tests/engine/cpu/kernel_cases.hpp"

namespace shardscope::engine::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Value of a half by the definition of the format.
double fp16_by_definition(std::uint32_t half) {
  const double sign = (half & 0x8000U) != 0 ? -1 : 1;
  const int exponent = static_cast<int>((half >> 10) & 31U);
  const double fraction = (half & 0x3ffU) / 1024.0;
  if (exponent == 31) return fraction == 0 ? sign * kInfinity : NAN;
  return sign *
         (exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15));
}

bool fp16_is_nan(std::uint32_t half) {
  return (half & 0x7fffU) > 0x7c00U;
}

TEST(Half, EveryFp16HasTheValueOfItsFieldsAndComesBack) {
  for (std::uint32_t half = 0; half < 0x10000U; ++half) {
    const float value = fp16_to_float(static_cast<std::uint16_t>(half));
    if (fp16_is_nan(half)) {
      ASSERT_TRUE(std::isnan(value)) << half;
      ASSERT_TRUE(fp16_is_nan(float_to_fp16(value))) << half;
      continue;
    }
    ASSERT_EQ(static_cast<double>(value), fp16_by_definition(half)) << half;
    ASSERT_EQ(float_to_fp16(value), half);
  }
}

TEST(Half, Fp16RoundsToTheNearerNeighbourAndTiesToEven) {
  for (std::uint32_t half = 0; half < 0x7c00U; ++half) {
    const float low = fp16_to_float(static_cast<std::uint16_t>(half));
    // Above the largest number the next step decides between it and infinity.
    const float high =
        half == 0x7bffU ? 65536.0F : fp16_to_float(static_cast<std::uint16_t>(half + 1));
    const float middle = low + (high - low) / 2;
    ASSERT_EQ(float_to_fp16(middle), (half & 1U) == 0 ? half : half + 1) << half;
    ASSERT_EQ(float_to_fp16(std::nextafter(middle, 0.0F)), half);
    ASSERT_EQ(float_to_fp16(std::nextafter(middle, kInfinity)), half + 1);
    ASSERT_EQ(float_to_fp16(-std::nextafter(middle, kInfinity)), (half + 1) | 0x8000U);
  }
  EXPECT_EQ(float_to_fp16(1e30F), 0x7c00U);
  EXPECT_EQ(float_to_fp16(-kInfinity), 0xfc00U);
  EXPECT_EQ(float_to_fp16(-1e-30F), 0x8000U);
}

TEST(Half, Bf16RoundsToTheNearerNeighbourAndTiesToEven) {
  for (std::uint32_t bits = 0; bits < 0x7f80U; ++bits) {
    const float low = bf16_to_float(static_cast<std::uint16_t>(bits));
    ASSERT_EQ(float_to_bf16(low), bits);
    const float middle = std::bit_cast<float>((bits << 16) | 0x8000U);
    ASSERT_EQ(float_to_bf16(middle), (bits & 1U) == 0 ? bits : bits + 1);
    ASSERT_EQ(float_to_bf16(std::nextafter(middle, 0.0F)), bits);
    ASSERT_EQ(float_to_bf16(-std::nextafter(middle, kInfinity)), (bits + 1) | 0x8000U);
  }
  const std::uint16_t nan = float_to_bf16(std::bit_cast<float>(0x7f800001U));
  EXPECT_TRUE(std::isnan(bf16_to_float(nan)));
}

/// Bits of `count` elements.
template <class T>
std::vector<T> converted(DType from_type, const void* from, DType to_type, std::int64_t count) {
  std::vector<T> to(static_cast<std::size_t>(count));
  // Widths that leave every remainder, so that vectors and tails both convert.
  std::int64_t done = 0;
  for (std::int32_t width = 1; done < count; width = width % 61 + 1) {
    const auto columns = static_cast<std::int32_t>(std::min<std::int64_t>(width, count - done));
    const std::int32_t ids[1] = {0};
    const auto* at = static_cast<const std::uint8_t*>(from) + done * bytes_of(from_type);
    gather_rows({at, from_type, columns, columns, 1, ids, KeyType::i32, to.data() + done, to_type,
                 columns});
    done += columns;
  }
  return to;
}

TEST(Half, EveryInstructionSetWidensEveryHalfAlike) {
  std::vector<std::uint16_t> halves(0x10000);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  on_every_target([&] {
    const auto fp16 = converted<float>(DType::fp16, halves.data(), DType::fp32, 0x10000);
    const auto bf16 = converted<float>(DType::bf16, halves.data(), DType::fp32, 0x10000);
    for (std::size_t i = 0; i < halves.size(); ++i) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(fp16[i]),
                std::bit_cast<std::uint32_t>(fp16_to_float(halves[i])));
      ASSERT_EQ(std::bit_cast<std::uint32_t>(bf16[i]),
                std::bit_cast<std::uint32_t>(bf16_to_float(halves[i])));
    }
  });
}

TEST(Half, EveryInstructionSetNarrowsAlike) {
  Random random(test_seed());
  std::vector<float> values;
  for (std::uint32_t high = 0; high < 0x10000U; ++high) {
    // Each sign, exponent and leading mantissa with rests that tie, almost tie and are random.
    for (const std::uint32_t low : {0U, 0x8000U, 0x0fffU, 0x1000U, 0x1001U,
                                    static_cast<std::uint32_t>(random.between(0, 0xffff))}) {
      values.push_back(std::bit_cast<float>((high << 16) | low));
    }
  }
  const auto count = static_cast<std::int64_t>(values.size());
  on_every_target([&] {
    const auto fp16 = converted<std::uint16_t>(DType::fp32, values.data(), DType::fp16, count);
    const auto bf16 = converted<std::uint16_t>(DType::fp32, values.data(), DType::bf16, count);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(fp16[i], float_to_fp16(values[i])) << std::hexfloat << values[i];
      ASSERT_EQ(bf16[i], float_to_bf16(values[i])) << std::hexfloat << values[i];
    }
  });
}

TEST(StochasticRounding, NeverMovesARepresentableValue) {
  Random random(test_seed());
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const auto noise = static_cast<std::uint32_t>(random.between(0, 0xffffffffLL));
    if (!std::isnan(fp16_to_float(half))) {
      ASSERT_EQ(stochastic_fp16(fp16_to_float(half), noise), half);
      ASSERT_EQ(stochastic_fp16(fp16_to_float(half), ~0U), half);
    }
    if (!std::isnan(bf16_to_float(half))) {
      ASSERT_EQ(stochastic_bf16(bf16_to_float(half), noise), half);
      ASSERT_EQ(stochastic_bf16(bf16_to_float(half), ~0U), half);
    }
  }
  EXPECT_TRUE(std::isnan(fp16_to_float(stochastic_fp16(NAN, ~0U))));
  EXPECT_TRUE(std::isnan(bf16_to_float(stochastic_bf16(NAN, ~0U))));
}

TEST(StochasticRounding, IsThatOfTheScalarCodeOnEveryInstructionSet) {
  Random random(test_seed());
  constexpr std::int32_t kRow = 67;  // vectors of every length and a single value
  std::vector<float> values;
  for (std::uint32_t high = 0; high < 0x10000U; ++high) {
    for (const std::uint32_t low :
         {0U, 0x0fffU, 0x8000U, static_cast<std::uint32_t>(random.between(0, 0xffff))}) {
      values.push_back(std::bit_cast<float>((high << 16) | low));
    }
  }
  values.resize(values.size() / kRow * kRow);
  const auto rows = static_cast<std::int64_t>(values.size()) / kRow;
  for (const DType type : {DType::fp16, DType::bf16}) {
    OptimizerUpdate call;
    call.optimizer = {.kind = OptimizerKind::sgd, .learning_rate = 1};
    call.unique_count = &rows;
    call.gradients = values.data();
    call.row_type = type;
    call.width = call.full_width = kRow;
    call.row_count = rows;
    call.seed = 77;
    call.table = 3;
    call.step = 9;
    call.first_column = 5;
    call.row_scale = 4;
    call.row_base = 1;
    on_every_target([&] {
      std::vector<std::uint16_t> weights(values.size());  // zeros that become minus the gradients
      call.rows = weights.data();
      optimizer_update(call);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto row = static_cast<std::int64_t>(i) / kRow;
        const auto column = static_cast<std::uint32_t>(static_cast<std::int64_t>(i) % kRow + 5);
        const std::uint32_t noise = rounding_bits(rounding_key(77, 3, row * 4 + 1, 9), column);
        const float value = 0.0F - values[i];
        ASSERT_EQ(weights[i], type == DType::fp16 ? stochastic_fp16(value, noise)
                                                  : stochastic_bf16(value, noise))
            << std::hexfloat << value;
      }
    });
  }
}

TEST(StochasticRounding, IsRightInTheMean) {
  constexpr int kTrials = 40'000;
  for (const float value : {1.0001F, -3.14159F, 1e-3F, 5.5e-6F, -2.1e-7F, 1234.56F}) {
    double fp16 = 0;
    double bf16 = 0;
    for (int t = 0; t < kTrials; ++t) {
      const std::uint32_t noise = rounding_bits(rounding_key(7, 3, t, 11), 5);
      fp16 += static_cast<double>(fp16_to_float(stochastic_fp16(value, noise)));
      bf16 += static_cast<double>(bf16_to_float(stochastic_bf16(value, noise)));
    }
    // Six standard deviations of a mean of coin tosses one step apart.
    const double deviations = 3 / std::sqrt(static_cast<double>(kTrials));
    const double exact = static_cast<double>(value);
    const double step16 = std::max(std::abs(exact) * 0x1p-10, 0x1p-24);
    EXPECT_NEAR(fp16 / kTrials, exact, step16 * deviations) << value;
    EXPECT_NEAR(bf16 / kTrials, exact, std::abs(exact) * 0x1p-7 * deviations) << value;
  }
}

TEST(StochasticRounding, BitsDifferByEverythingTheyAreKeyedBy) {
  const std::uint32_t bits = rounding_bits(rounding_key(1, 2, 3, 4), 5);
  EXPECT_NE(bits, rounding_bits(rounding_key(9, 2, 3, 4), 5));
  EXPECT_NE(bits, rounding_bits(rounding_key(1, 9, 3, 4), 5));
  EXPECT_NE(bits, rounding_bits(rounding_key(1, 2, 9, 4), 5));
  EXPECT_NE(bits, rounding_bits(rounding_key(1, 2, 3, 9), 5));
  EXPECT_NE(bits, rounding_bits(rounding_key(1, 2, 3, 4), 9));
}

TEST(StochasticRounding, BitsOfNeighboursAreIndependent) {
  // Counts of agreeing bits between neighbouring columns, rows and steps stay near one half.
  constexpr int kPairs = 4096;
  int column = 0;
  int row = 0;
  int step = 0;
  for (int i = 0; i < kPairs; ++i) {
    const std::uint32_t base = rounding_bits(rounding_key(1, 0, i, 1), 0);
    column += std::popcount(base ^ rounding_bits(rounding_key(1, 0, i, 1), 1));
    row += std::popcount(base ^ rounding_bits(rounding_key(1, 0, i + 1, 1), 0));
    step += std::popcount(base ^ rounding_bits(rounding_key(1, 0, i, 2), 0));
  }
  for (const int differing : {column, row, step}) {
    EXPECT_NEAR(differing / (32.0 * kPairs), 0.5, 0.01);
  }
}

}  // namespace
}  // namespace shardscope::engine::testing
