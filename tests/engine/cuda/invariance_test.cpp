// The law of the engine on the cuda device: whole iterations through all of its operations, every
// kernel in the harness, the ranks one after another (loopback).

#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>

#include "tests/engine/cuda/both_devices.hpp"
#include "tests/engine/cuda/device_under_test.hpp"
#include "tests/engine/pipeline/run_case.hpp"

namespace shardscope::engine {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr int kDeviceCases = 500;  // 20 of them under scripts/test --ci, the seed of a race check
#elif defined(__SANITIZE_ADDRESS__)
constexpr int kDeviceCases = 200;
#else
constexpr int kDeviceCases = 60;
#endif

TEST(CudaInvariance, EveryLayoutLearnsWhatOneRankLearns) {
  const std::uint64_t seed = testing::test_seed();
  const int cases = testing::scaled_cases(kDeviceCases);
  std::cout << "seed " << seed << ", " << cases << " cases\n";
  for (int n = 0; n < cases; ++n) {
    PipelineCase value = make_case(seed, n);
    value.comm = CommKind::loopback;
    value.device = testing::device_under_test();
    const auto wrong = run_case(value);
    ASSERT_FALSE(wrong) << "case " << n << " of seed " << seed << ": " << *wrong << "\n"
                        << to_json(value);
  }
}

}  // namespace
}  // namespace shardscope::engine
