#include <algorithm>

#include "engine/cpu/kernels.hpp"
#include "tests/engine/cpu/kernel_cases.hpp"

namespace shardscope::engine::testing {
namespace {

/// A table, bags that read it, and where their sums go.
struct PoolCase {
  explicit PoolCase(std::uint64_t seed, bool dyadic)
      : random(seed),
        width(random.width()),
        row_stride(width + (random.chance(0.3) ? random.between(0, 9) : 0)),
        out_stride(width + (random.chance(0.5) ? random.between(0, 9) : 0)),
        rows(random.between(1, 60)),
        bags(random.between(0, 12)),
        table(random_values(random, random.dtype(), rows * row_stride, dyadic)),
        lengths(static_cast<std::size_t>(bags)),
        ids(make_ids()),
        accumulate(random.chance(0.3)),
        out(random_values(random, accumulate ? DType::fp32 : random.dtype(), bags * out_stride,
                          dyadic)) {
    if (random.chance(0.5)) {
      for (std::int64_t n = 0; n < count; ++n) {
        weights.push_back(dyadic ? random.dyadic() : random.real());
      }
    }
  }

  Keys make_ids() {
    for (std::int32_t& length : lengths) {
      length = static_cast<std::int32_t>(random.chance(0.2) ? 0 : random.between(0, 30));
      count += length;
    }
    return random_keys(random, random.key(), count, rows);
  }

  [[nodiscard]] Values reference() const {
    Values result = out;
    std::int64_t n = 0;
    for (std::int64_t bag = 0; bag < bags; ++bag) {
      const std::int64_t first = n;
      n += lengths[static_cast<std::size_t>(bag)];
      for (std::int64_t c = 0; c < width; ++c) {
        float sum = 0;
        for (std::int64_t i = first; i < n; ++i) {
          const float value = table[ids[i] * row_stride + c];
          sum += weights.empty() ? value : weights[static_cast<std::size_t>(i)] * value;
        }
        const std::int64_t at = bag * out_stride + c;
        result.set(at, accumulate ? out[at] + sum : sum);
      }
    }
    return result;
  }

  [[nodiscard]] Values kernel() const {
    Values result = out;
    gather_pool({table.data(), table.type(), row_stride, width, bags, lengths.data(), ids.data(),
                 ids.type(), weights.empty() ? nullptr : weights.data(), result.data(),
                 result.type(), out_stride, accumulate});
    return result;
  }

  Random random;
  std::int64_t count = 0;
  std::int32_t width;
  std::int64_t row_stride, out_stride, rows, bags;
  Values table;
  std::vector<std::int32_t> lengths;
  Keys ids;
  bool accumulate;
  Values out;
  std::vector<float> weights;
};

TEST(GatherPool, EqualsTheReferenceOnEveryInstructionSet) {
  for_random_cases(200, [](std::uint64_t seed) {
    const PoolCase pool(seed, false);
    const Values expected = pool.reference();
    on_every_target([&] { EXPECT_TRUE(same_bits(expected, pool.kernel())); });
  });
}

TEST(GatherPool, IsExactOnDyadicValues) {
  for_random_cases(100, [](std::uint64_t seed) {
    const PoolCase pool(seed, true);
    const Values expected = pool.reference();
    on_every_target([&] { EXPECT_TRUE(same_bits(expected, pool.kernel())); });
  });
}

TEST(GatherPool, WritesOnlyTheColumnsOfItsBags) {
  Values out(DType::fp32, 2 * 10);
  for (std::int64_t i = 0; i < out.size(); ++i) out.set(i, 7);
  const float row[4] = {1, 2, 3, 4};
  const std::int32_t ids[1] = {0};
  const std::int32_t lengths[2] = {0, 1};
  on_every_target([&] {
    Values result = out;
    gather_pool({row, DType::fp32, 4, 4, 2, lengths, ids, KeyType::i32, nullptr, result.data(),
                 DType::fp32, 10, false});
    for (std::int64_t c = 0; c < 10; ++c) {
      EXPECT_EQ(result[c], c < 4 ? 0 : 7);
      EXPECT_EQ(result[10 + c], c < 4 ? row[c] : 7);
    }
  });
}

TEST(GatherRows, EqualsTheReferenceOnEveryInstructionSet) {
  for_random_cases(200, [](std::uint64_t seed) {
    Random random(seed);
    const std::int32_t width = random.width();
    const std::int64_t row_stride = width + random.between(0, 5);
    const std::int64_t out_stride = width + random.between(0, 5);
    const std::int64_t rows = random.between(1, 50);
    const std::int64_t count = random.between(0, 80);
    const Values table = random_values(random, random.dtype(), rows * row_stride);
    const Keys ids = random_keys(random, random.key(), count, rows);
    const Values before = random_values(random, random.dtype(), count * out_stride);
    Values expected = before;
    for (std::int64_t n = 0; n < count; ++n) {
      for (std::int64_t c = 0; c < width; ++c) {
        expected.set(n * out_stride + c, table[ids[n] * row_stride + c]);
      }
    }
    on_every_target([&] {
      Values actual = before;
      gather_rows({table.data(), table.type(), row_stride, width, count, ids.data(), ids.type(),
                   actual.data(), actual.type(), out_stride});
      EXPECT_TRUE(same_bits(expected, actual));
    });
  });
}

TEST(CopyColumns, EqualsTheReferenceOnEveryInstructionSet) {
  for_random_cases(300, [](std::uint64_t seed) {
    Random random(seed);
    const std::int32_t width = random.width();
    const std::int64_t from_stride = width + random.between(0, 5);
    const std::int64_t to_stride = width + random.between(0, 5);
    const std::int64_t rows = random.between(0, 40);
    const bool accumulate = random.chance(0.5);
    const Values from = random_values(random, random.dtype(), rows * from_stride);
    const Values before =
        random_values(random, accumulate ? DType::fp32 : random.dtype(), rows * to_stride);
    const float factor = random.chance(0.5) ? 1 : random.real(4);
    std::vector<float> scale;
    if (random.chance(0.5)) {
      for (std::int64_t r = 0; r < rows; ++r) scale.push_back(random.real(2));
    }
    Values expected = before;
    for (std::int64_t r = 0; r < rows; ++r) {
      const float scaled = scale.empty() ? factor : scale[static_cast<std::size_t>(r)] * factor;
      for (std::int64_t c = 0; c < width; ++c) {
        const float value = scaled * from[r * from_stride + c];
        const std::int64_t at = r * to_stride + c;
        expected.set(at, accumulate ? before[at] + value : value);
      }
    }
    on_every_target([&] {
      Values actual = before;
      copy_columns({from.data(), from.type(), from_stride, actual.data(), actual.type(), to_stride,
                    rows, width, scale.empty() ? nullptr : scale.data(), factor, accumulate});
      EXPECT_TRUE(same_bits(expected, actual));
    });
  });
}

}  // namespace
}  // namespace shardscope::engine::testing
