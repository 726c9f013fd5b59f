// Gradient reduction and optimizers of the cuda device against the cpu device.

#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "tests/engine/cpu/gradient_cases.hpp"
#include "tests/engine/cuda/both_devices.hpp"

namespace shardscope::engine::testing {
namespace {

TEST(CudaSegmentReduce, EqualsTheCpuDeviceWhileRunsAreShort) {
  expect_equal_on_both(30, [](Ops& ops, Stream& stream, Random& random, Transcript& transcript) {
    std::deque<GradientCase> cases;
    std::deque<std::vector<float>> outs, squares;
    std::vector<SegmentReduce> calls;
    for (std::int64_t n = random.between(1, 3); n > 0; --n) {
      const GradientCase& gradients = cases.emplace_back(random, false);
      outs.emplace_back(static_cast<std::size_t>(gradients.unique * gradients.width), -1.0F);
      calls.push_back(gradients.call());
      calls.back().out = outs.back().data();
      squares.emplace_back(static_cast<std::size_t>(gradients.unique), -1.0F);
      if (random.chance(0.5)) calls.back().square_sum = squares.back().data();
    }
    ops.segment_reduce(stream, calls);
    finish(stream);
    for (const auto& out : outs) transcript.add(out);
    for (const auto& sums : squares) transcript.add(sums);
  });
}

/// Runs of given lengths over a few gradient rows.
struct HotRowCase {
  HotRowCase(Random& random, const std::vector<std::int64_t>& runs, bool dyadic)
      : width(static_cast<std::int32_t>(random.between(1, 40))),
        unique(static_cast<std::int64_t>(runs.size())),
        gradients(random_values(random, random.dtype(), kGradientRows * width, dyadic)),
        out(static_cast<std::size_t>(unique * width), -1.0F) {
    for (const std::int64_t run : runs) {
      for (std::int64_t i = 0; i < run; ++i) {
        rows.push_back(static_cast<std::uint32_t>(random.between(0, kGradientRows - 1)));
      }
      offsets.push_back(static_cast<std::uint32_t>(rows.size()));
    }
  }

  [[nodiscard]] SegmentReduce call() {
    SegmentReduce reduce;
    reduce.unique_count = &unique;
    reduce.offsets = offsets.data();
    reduce.gradient_row = rows.data();
    reduce.gradients = gradients.data();
    reduce.gradient_type = gradients.type();
    reduce.stride = width;
    reduce.width = width;
    reduce.factor = 0.5F;
    reduce.out = out.data();
    return reduce;
  }

  static constexpr std::int64_t kGradientRows = 20;
  std::int32_t width;
  std::int64_t unique;
  std::vector<std::uint32_t> offsets{0};
  std::vector<std::uint32_t> rows;
  Values gradients;
  std::vector<float> out;
};

std::vector<std::int64_t> hot_runs(Random& random) {
  std::vector<std::int64_t> runs;
  for (std::int64_t n = random.between(1, 12); n > 0; --n) {
    runs.push_back(random.chance(0.3) ? random.between(129, 2200) : random.between(1, 140));
  }
  return runs;
}

TEST(CudaSegmentReduce, IsExactOnDyadicGradientsOfHotRows) {
  expect_equal_on_both(10, [](Ops& ops, Stream& stream, Random& random, Transcript& transcript) {
    HotRowCase first(random, hot_runs(random), true);
    HotRowCase second(random, hot_runs(random), true);
    const SegmentReduce calls[2] = {first.call(), second.call()};
    ops.segment_reduce(stream, calls);
    finish(stream);
    transcript.add(first.out);
    transcript.add(second.out);
  });
}

TEST(CudaSegmentReduce, SumsMoreHotRowsThanItCanCutIntoPieces) {
  expect_equal_on_both(3, [](Ops& ops, Stream& stream, Random& random, Transcript& transcript) {
    HotRowCase hot(random, std::vector<std::int64_t>(30, random.between(130, 600)), true);
    const SegmentReduce call = hot.call();
    ops.segment_reduce(stream, {&call, 1});
    finish(stream);
    transcript.add(hot.out);
  });
}

TEST(CudaSquareSum, EqualsTheCpuDevice) {
  expect_equal_on_both(30, [](Ops& ops, Stream& stream, Random& random, Transcript& transcript) {
    const std::int32_t width = random.width();
    const std::int64_t unique = random.between(0, 25);
    std::vector<float> gradients;
    for (std::int64_t n = 0; n < unique * width; ++n) gradients.push_back(random.real());
    std::vector<float> out(static_cast<std::size_t>(unique) + 1, -1.0F);
    const SquareSum call{&unique, gradients.data(), width, out.data()};
    ops.square_sum(stream, {&call, 1});
    finish(stream);
    transcript.add(out);
  });
}

TEST(CudaOptimizerUpdate, EqualsTheCpuDeviceForEveryOptimizerAndRowType) {
  expect_equal_on_both(60, [](Ops& ops, Stream& stream, Random& random, Transcript& transcript) {
    std::deque<GradientCase> gradients;
    std::deque<UpdateCase> updates;
    std::deque<std::vector<float>> values;
    std::vector<OptimizerUpdate> calls;
    for (std::int64_t n = random.between(1, 3); n > 0; --n) {
      const GradientCase& gradient = gradients.emplace_back(random, false);
      UpdateCase& update = updates.emplace_back(random, gradient);
      std::vector<float>& reduced = values.emplace_back();
      for (std::int64_t i = 0; i < gradient.unique * (gradient.width + 1); ++i) {
        reduced.push_back(random.real());
      }
      OptimizerUpdate call = update.call(gradient);
      call.gradients = reduced.data();
      float* squares = reduced.data() + gradient.unique * gradient.width;
      for (std::int64_t u = 0; u < gradient.unique; ++u) squares[u] = std::abs(squares[u]);
      call.row_square_sum = squares;
      if (random.chance(0.2)) call.unique_rows = nullptr;
      calls.push_back(call);
    }
    ops.optimizer_update(stream, calls, random.between(1, 500));
    finish(stream);
    for (const UpdateCase& update : updates) {
      transcript.add(update.rows);
      transcript.add(update.state);
    }
  });
}

}  // namespace
}  // namespace shardscope::engine::testing
