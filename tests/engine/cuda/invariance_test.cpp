// The law of the engine on the cuda device: whole iterations through engine, streams, memory and
// communicators as they run on GPUs. In test_cuda the kernels run in the harness on an emulated
// runtime, the ranks one after another (loopback) or a GPU each behind a fake NCCL.

#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>

#include "tests/engine/cuda/both_devices.hpp"
#include "tests/engine/cuda/device_under_test.hpp"
#include "tests/engine/pipeline/run_case.hpp"

namespace shardscope::engine {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr int kGraphCases = 100;
constexpr int kDeviceCases = 500;  // 20 of them under scripts/test --ci, the seed of a race check
#elif defined(__SANITIZE_ADDRESS__)
constexpr int kGraphCases = 40;
constexpr int kDeviceCases = 200;
#else
constexpr int kGraphCases = 16;
constexpr int kDeviceCases = 60;
#endif

/// Every second case by NCCL, every second of those on streams that run when they must.
PipelineCase on_device(PipelineCase value, int n) {
  const bool nccl = n % 2 == 1 && value.topology.ranks() <= 8;
  value.comm = nccl ? CommKind::nccl : CommKind::loopback;
  value.device = testing::pipeline_device(value.comm);
  value.deferred = false;
  return value;
}

TEST(CudaInvariance, EveryLayoutLearnsWhatOneRankLearns) {
  const std::uint64_t seed = testing::test_seed();
  const int cases = testing::scaled_cases(kDeviceCases);
  std::cout << "seed " << seed << ", " << cases << " cases\n";
  int ran = 0;
  for (int n = 0; n < cases; ++n) {
    const PipelineCase value = on_device(make_case(seed, n), n);
    if (value.device == nullptr) continue;
    testing::defer_streams(n % 4 == 3);
    const auto wrong = run_case(value);
    testing::defer_streams(false);
    ASSERT_FALSE(wrong) << "case " << n << " of seed " << seed << ": " << *wrong << "\n"
                        << to_json(value);
    ++ran;
  }
  EXPECT_GT(ran, 0);
}

TEST(CudaInvariance, StagesAsGraphsLearnTheSame) {
  const std::uint64_t seed = testing::test_seed();
  const int cases = testing::scaled_cases(kGraphCases);
  std::cout << "seed " << seed << ", " << cases << " cases\n";
  GraphCounts all;
  for (int n = 0; n < cases; ++n) {
    PipelineCase value = on_device(make_case(seed, 1000 + n), n);
    value.device = testing::pipeline_device(value.comm, /*graphs=*/true);
    if (value.device == nullptr) continue;
    value.iterations = 7;  // each of two slots: measured, captured, filled anew
    const auto engine = engine_of(value);
    ASSERT_TRUE(engine) << to_string(engine.error());
    const auto done = (*engine)->run(value.iterations, nullptr);
    ASSERT_TRUE(done) << to_string(done.error()) << "\n" << to_json(value);
    Reference reference = reference_of(value);
    step_reference(value, reference, 0, value.iterations);
    const auto wrong = compare_with_reference(value, **engine, reference, value.iterations);
    ASSERT_FALSE(wrong) << "case " << n << " of seed " << seed << ": " << *wrong << "\n"
                        << to_json(value);
    all += (*engine)->graph_counts();
  }
  EXPECT_GT(all.launched, all.direct + all.overflows);
}

TEST(CudaInvariance, NoticesAPlantedFault) {
  const std::uint64_t seed = testing::test_seed();
  int noticed = 0;
  for (int n = 0; n < 12 && noticed == 0; ++n) {
    const PipelineCase value = on_device(make_case(seed, n), n);
    if (value.device == nullptr || value.topology.ranks() < 2) continue;
    noticed += run_case(value, Fault::missing_rank).has_value() ? 1 : 0;
  }
  EXPECT_GT(noticed, 0) << "seed " << seed;
}

}  // namespace
}  // namespace shardscope::engine
