// Lookups and row copies of the cuda device against the cpu device: lists of calls that mix types,
// widths and alignments.

#include <gtest/gtest.h>

#include <deque>

#include "tests/engine/cuda/both_devices.hpp"

namespace shardscope::engine::testing {
namespace {

/// Widths that take the vector path half of the time.
std::int32_t some_width(Random& random) {
  return random.chance(0.5) ? 4 * static_cast<std::int32_t>(random.between(1, 40)) : random.width();
}

std::int64_t some_stride(Random& random, std::int32_t width) {
  return random.chance(0.6) ? width : width + random.between(0, 9);
}

/// Memory of one pooling call.
struct CudaPoolCase {
  explicit CudaPoolCase(Random& random)
      : width(some_width(random)),
        row_stride(some_stride(random, width)),
        out_stride(some_stride(random, width)),
        rows(random.between(1, 40)),
        bags(random.between(0, 12)),
        table(random_values(random, random.dtype(), rows * row_stride)),
        lengths(static_cast<std::size_t>(bags)),
        ids(make_ids(random)),
        accumulate(random.chance(0.3)),
        out(random_values(random, accumulate ? DType::fp32 : random.dtype(), bags * out_stride)) {
    if (!random.chance(0.5)) return;
    for (std::int64_t n = 0; n < count; ++n) weights.push_back(random.real());
  }

  Keys make_ids(Random& random) {
    for (std::int32_t& length : lengths) {
      length = static_cast<std::int32_t>(random.chance(0.2) ? 0 : random.between(0, 12));
      count += length;
    }
    return random_keys(random, random.key(), count, rows);
  }

  [[nodiscard]] GatherPool call() {
    return {table.data(), table.type(), row_stride,
            width,        bags,         lengths.data(),
            ids.data(),   ids.type(),   weights.empty() ? nullptr : weights.data(),
            out.data(),   out.type(),   out_stride,
            accumulate};
  }

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

TEST(CudaGatherPool, EqualsTheCpuDeviceOnListsOfMixedTables) {
  expect_equal_on_both(40, [](Ops& ops, Stream& stream, Random& random, Transcript& transcript) {
    std::deque<CudaPoolCase> cases;
    std::vector<GatherPool> calls;
    for (std::int64_t n = random.between(1, 4); n > 0; --n) {
      calls.push_back(cases.emplace_back(random).call());
    }
    ops.gather_pool(stream, calls);
    finish(stream);
    for (const CudaPoolCase& pool : cases) transcript.add(pool.out);
  });
}

TEST(CudaGatherPool, TakesEveryWidthUpTo1024) {
  const auto widths = {1, 2, 3, 5, 8, 31, 32, 33, 64, 100, 128, 129, 256, 512, 1000, 1023, 1024};
  for (const std::int32_t width : widths) {
    expect_equal_on_both(2, [&](Ops& ops, Stream& stream, Random& random, Transcript& transcript) {
      const Values table = random_values(random, random.dtype(), 3 * width);
      Values out(random.dtype(), 2 * width);
      const Keys ids = random_keys(random, KeyType::i32, 9, 3);
      const std::int32_t lengths[2] = {4, 5};
      const GatherPool call{table.data(), table.type(), width,        width,   2,
                            lengths,      ids.data(),   KeyType::i32, nullptr, out.data(),
                            out.type(),   width,        false};
      ops.gather_pool(stream, {&call, 1});
      finish(stream);
      transcript.add(out);
    });
  }
}

TEST(CudaGatherRows, EqualsTheCpuDevice) {
  expect_equal_on_both(30, [](Ops& ops, Stream& stream, Random& random, Transcript& transcript) {
    std::deque<Values> tables;
    std::deque<Values> outs;
    std::deque<Keys> keys;
    std::vector<GatherRows> calls;
    for (std::int64_t n = random.between(1, 4); n > 0; --n) {
      const std::int32_t width = some_width(random);
      const std::int64_t row_stride = some_stride(random, width);
      const std::int64_t out_stride = some_stride(random, width);
      const std::int64_t rows = random.between(1, 30);
      const std::int64_t count = random.between(0, 40);
      tables.push_back(random_values(random, random.dtype(), rows * row_stride));
      keys.push_back(random_keys(random, random.key(), count, rows));
      outs.push_back(random_values(random, random.dtype(), count * out_stride));
      calls.push_back({tables.back().data(), tables.back().type(), row_stride, width, count,
                       keys.back().data(), keys.back().type(), outs.back().data(),
                       outs.back().type(), out_stride});
    }
    ops.gather_rows(stream, calls);
    finish(stream);
    for (const Values& out : outs) transcript.add(out);
  });
}

TEST(CudaCopyColumns, EqualsTheCpuDevice) {
  expect_equal_on_both(30, [](Ops& ops, Stream& stream, Random& random, Transcript& transcript) {
    std::deque<Values> froms;
    std::deque<Values> tos;
    std::deque<std::vector<float>> scales;
    std::vector<CopyColumns> calls;
    for (std::int64_t n = random.between(1, 4); n > 0; --n) {
      const std::int32_t width = some_width(random);
      const std::int64_t from_stride = some_stride(random, width);
      const std::int64_t to_stride = some_stride(random, width);
      const std::int64_t rows = random.between(0, 30);
      const bool accumulate = random.chance(0.4);
      froms.push_back(random_values(random, random.dtype(), rows * from_stride));
      tos.push_back(
          random_values(random, accumulate ? DType::fp32 : random.dtype(), rows * to_stride));
      scales.emplace_back();
      for (std::int64_t r = random.chance(0.5) ? rows : 0; r > 0; --r) {
        scales.back().push_back(random.real());
      }
      calls.push_back({froms.back().data(), froms.back().type(), from_stride, tos.back().data(),
                       tos.back().type(), to_stride, rows, width,
                       scales.back().empty() ? nullptr : scales.back().data(), random.real(),
                       accumulate});
    }
    ops.copy_columns(stream, calls);
    finish(stream);
    for (const Values& to : tos) transcript.add(to);
  });
}

TEST(CudaSumColumns, EqualsTheCpuDevice) {
  expect_equal_on_both(30, [](Ops& ops, Stream& stream, Random& random, Transcript& transcript) {
    std::deque<Values> values;
    std::vector<float> scale;
    const std::int32_t width = some_width(random);
    const std::int64_t rows = random.between(0, 30);
    for (std::int64_t r = 0; r < rows; ++r) scale.push_back(random.real());
    values.emplace_back(DType::fp32, rows * width);
    void* sum = values.back().data();
    std::vector<CopyColumns> terms;
    for (std::int64_t n = random.between(0, 5); n > 0; --n) {
      const std::int64_t stride = some_stride(random, width);
      Values& from = values.emplace_back(random_values(random, random.dtype(), rows * stride));
      terms.push_back({from.data(), from.type(), stride, sum, DType::fp32, width, rows, width,
                       random.chance(0.5) ? scale.data() : nullptr, random.real(), !terms.empty()});
    }
    const std::int64_t stride = some_stride(random, width);
    Values out(random.dtype(), rows * stride);
    const CopyColumns store{sum,    DType::fp32, width, out.data(),   out.type(),
                            stride, rows,        width, scale.data(), 0.5F};
    const bool stored = random.chance(0.5);
    const SumColumns call{terms.data(), static_cast<std::int32_t>(terms.size()),
                          stored ? &store : nullptr};
    ops.sum_columns(stream, {&call, 1});
    finish(stream);
    transcript.add(stored ? out : values.front());
  });
}

}  // namespace
}  // namespace shardscope::engine::testing
