#include <algorithm>

#include "engine/cpu/kernels.hpp"
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

TEST(ReduceUpdate, EqualsTheSeparateCallsBitForBit) {
  for_random_cases(300, [](std::uint64_t seed) {
    Random random(seed);
    const GradientCase gradients(random, false);
    UpdateCase update(random, gradients);
    const UpdateCase before = update;
    update.apply_kernels(gradients);
    on_every_target([&] {
      UpdateCase actual = before;
      actual.apply_fused(gradients);
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
