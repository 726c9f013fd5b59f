#include <algorithm>

#include "engine/cpu/kernels.hpp"
#include "engine/cpu/memory.hpp"
#include "engine/cpu/rounding.hpp"
#include "tests/engine/cpu/gradient_cases.hpp"

namespace shardscope::engine::testing {
namespace {

TEST(SegmentReduce, EqualsTheReferenceOnEveryInstructionSet) {
  for_random_cases(200, [](std::uint64_t seed) {
    Random random(seed);
    const GradientCase gradients(random, seed % 2 == 0);
    const std::vector<float> expected = gradients.reduced();
    on_every_target([&] {
      std::vector<float> actual(expected.size(), -1);
      gradients.reduce_into(actual);
      EXPECT_TRUE(same_bits(expected, actual));
    });
  });
}

TEST(SegmentReduce, GivesTheSquareSumsOfItsRows) {
  for_random_cases(100, [](std::uint64_t seed) {
    Random random(seed);
    const GradientCase gradients(random, false);
    std::vector<float> sums(gradients.reduced().size());
    std::vector<float> expected(static_cast<std::size_t>(gradients.unique));
    gradients.reduce_into(sums);
    square_sum({&gradients.unique, sums.data(), gradients.width, expected.data()});
    on_every_target([&] {
      std::vector<float> out(sums.size(), -1);
      std::vector<float> squares(expected.size(), -1);
      SegmentReduce call = gradients.call();
      call.out = out.data();
      call.square_sum = squares.data();
      segment_reduce(call);
      EXPECT_TRUE(same_bits(sums, out));
      EXPECT_TRUE(same_bits(expected, squares));
    });
  });
}

TEST(SegmentReduce, GivesTheSameWhereItsSumsAreLargerThanCaches) {
  constexpr std::int32_t kWide = 1024;
  constexpr std::int64_t kGradients = 61;
  const std::int64_t unique = 4200;  // 16.4 MiB of sums, two occurrences each
  Random random(test_seed());
  const Values gradients = random_values(random, DType::bf16, kGradients * kWide, true);
  std::vector<std::uint32_t> offsets;
  std::vector<std::uint32_t> gradient_row;
  for (std::int64_t u = 0; u <= unique; ++u) offsets.push_back(static_cast<std::uint32_t>(2 * u));
  for (std::int64_t n = 0; n < 2 * unique; ++n) {
    gradient_row.push_back(static_cast<std::uint32_t>(random.between(0, kGradients - 1)));
  }
  SegmentReduce call;
  call.unique_count = &unique;
  call.offsets = offsets.data();
  call.gradient_row = gradient_row.data();
  call.gradients = gradients.data();
  call.gradient_type = gradients.type();
  call.stride = kWide;
  call.width = kWide;
  call.factor = 0.5F;
  auto memory = HugeMemory::allocate(unique * kWide * 4, "sums");
  ASSERT_TRUE(memory.has_value());
  std::vector<float> squares(static_cast<std::size_t>(unique));
  call.square_sum = squares.data();
  on_every_target([&] {
    for (float* const out : {memory->as<float>(), memory->as<float>() + 1}) {
      call.out = out;  // the second one lies across cache lines, one row less
      const std::int64_t rows = unique - (out == memory->as<float>() ? 0 : 1);
      call.unique_count = &rows;
      segment_reduce(call);
      for (std::int64_t u = 0; u < rows; ++u) {
        const std::int64_t a = std::int64_t{gradient_row[static_cast<std::size_t>(2 * u)]} * kWide;
        const std::int64_t b =
            std::int64_t{gradient_row[static_cast<std::size_t>(2 * u + 1)]} * kWide;
        for (std::int64_t c = 0; c < kWide; c += 37) {
          ASSERT_EQ(out[u * kWide + c], 0.5F * (gradients[a + c] + gradients[b + c]));
        }
      }
      float last = -1;
      const std::int64_t one = 1;
      square_sum({&one, out + (rows - 1) * kWide, kWide, &last});
      EXPECT_EQ(last, squares[static_cast<std::size_t>(rows - 1)]);
    }
  });
}

TEST(SquareSum, IsOneValueOnEveryInstructionSetAndCloseToTheExactOne) {
  for_random_cases(200, [](std::uint64_t seed) {
    Random random(seed);
    const std::int32_t width = random.width();
    const std::int64_t rows = random.between(0, 20);
    std::vector<float> gradients(static_cast<std::size_t>(rows * width));
    for (float& value : gradients) value = random.real();
    std::vector<float> first;
    on_every_target([&] {
      std::vector<float> sums(static_cast<std::size_t>(rows));
      square_sum({&rows, gradients.data(), width, sums.data()});
      if (first.empty()) first = sums;
      EXPECT_TRUE(same_bits(first, sums));
    });
    for (std::int64_t r = 0; r < rows; ++r) {
      double exact = 0;
      for (std::int64_t c = 0; c < width; ++c) {
        const auto value = static_cast<double>(gradients[static_cast<std::size_t>(r * width + c)]);
        exact += value * value;
      }
      EXPECT_NEAR(first[static_cast<std::size_t>(r)], exact, 1e-5 * exact);
    }
  });
}

TEST(SquareSum, IsExactOnDyadicValues) {
  const std::int64_t rows = 1;
  for (std::int32_t width = 1; width <= 70; ++width) {
    std::vector<float> gradient;
    float exact = 0;
    for (std::int32_t c = 0; c < width; ++c) {
      gradient.push_back(static_cast<float>(c - 30) / 4);
      exact += gradient.back() * gradient.back();
    }
    on_every_target([&] {
      float sum = -1;
      square_sum({&rows, gradient.data(), width, &sum});
      EXPECT_EQ(sum, exact) << width;
    });
  }
}

TEST(OptimizerUpdate, EqualsTheReferenceOnEveryInstructionSet) {
  for_random_cases(300, [](std::uint64_t seed) {
    Random random(seed);
    const GradientCase gradients(random, false);
    UpdateCase update(random, gradients);
    const UpdateCase before = update;
    update.apply_reference(gradients.reduced());
    on_every_target([&] {
      UpdateCase actual = before;
      actual.apply_kernels(gradients);
      EXPECT_TRUE(same_bits(update.rows, actual.rows));
      EXPECT_TRUE(same_bits(update.state, actual.state));
    });
  });
}

TEST(OptimizerUpdate, WithoutARowListUpdatesTheFirstRows) {
  const std::int64_t unique = 2;
  on_every_target([&] {
    float rows[6] = {1, 2, 3, 4, 5, 6};
    const float gradients[4] = {1, 2, 3, 4};
    OptimizerUpdate call;
    call.optimizer = {.kind = OptimizerKind::sgd, .learning_rate = 0.5};
    call.unique_count = &unique;
    call.gradients = gradients;
    call.rows = rows;
    call.width = 2;
    call.full_width = 2;
    call.row_count = 3;
    optimizer_update(call);
    const std::vector<float> expected = {0.5F, 1, 1.5F, 2, 5, 6};
    EXPECT_EQ(std::vector<float>(rows, rows + 6), expected);
  });
}

TEST(OptimizerUpdate, OfAColumnShardRoundsAsTheWholeRow) {
  // One row of 20 columns updated whole, and as two shards of 7 and 13 columns: same bits.
  const std::int64_t unique = 1;
  const std::int64_t row = 0;
  for (const DType type : {DType::fp16, DType::bf16}) {
    Random random(test_seed());
    const Values start = random_values(random, type, 20);
    std::vector<float> gradient;
    for (int c = 0; c < 20; ++c) gradient.push_back(random.real());
    const auto update = [&](std::int32_t first, std::int32_t width) {
      Values part(type, width);
      for (std::int32_t c = 0; c < width; ++c) part.set(c, start[first + c]);
      OptimizerUpdate call;
      call.optimizer = {.kind = OptimizerKind::sgd, .learning_rate = 0.01};
      call.unique_count = &unique;
      call.unique_rows = &row;
      call.gradients = gradient.data() + first;
      call.rows = part.data();
      call.row_type = type;
      call.width = width;
      call.row_count = 1;
      call.first_column = first;
      call.table = 3;
      call.row_base = 77;
      optimizer_update(call);
      return part;
    };
    on_every_target([&] {
      const Values whole = update(0, 20);
      const Values left = update(0, 7);
      const Values right = update(7, 13);
      for (std::int64_t c = 0; c < 20; ++c) EXPECT_EQ(whole[c], c < 7 ? left[c] : right[c - 7]);
    });
  }
}

}  // namespace
}  // namespace shardscope::engine::testing
