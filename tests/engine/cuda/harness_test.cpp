// The harness that runs GPU kernels on the CPU: what it computes, and that it catches kernels with
// planted errors.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "engine/cuda/portable.hpp"
#include "engine/cuda/work.hpp"
#include "tests/engine/cuda/emulated_gpu.hpp"

namespace shardscope::engine::cuda {
namespace {

/// Runs a kernel at once.
template <class... Parameters, class... Arguments>
void run(const Grid& grid, void (*kernel)(Parameters...), const Arguments&... arguments) {
  static const auto stream =
      *CudaStream::create(emulated_plugin().runtime, 0, "test", HostTasks::inline_);
  Work(*stream).launch(grid, kernel, arguments...);
}

template <class... Parameters, class... Arguments>
std::string fault_of(const Grid& grid, void (*kernel)(Parameters...),
                     const Arguments&... arguments) {
  try {
    run(grid, kernel, arguments...);
  } catch (const host::KernelFault& fault) {
    return fault.what();
  }
  return "";
}

SHARDSCOPE_KERNEL void number_kernel(std::uint32_t* out) {
  out[block_y() * grid_x() * block_threads() + block_x() * block_threads() + thread_x()] +=
      100 * block_y() + 10 * block_x() + thread_x() / 32;
}

TEST(CudaHarness, EveryThreadOfEveryBlockRunsOnce) {
  std::vector<std::uint32_t> out(2 * 3 * 64);
  run({3, 2, 64}, number_kernel, out.data());
  for (std::uint32_t n = 0; n < out.size(); ++n) {
    EXPECT_EQ(out[n], 100 * (n / 192) + 10 * (n / 64 % 3) + n / 32 % 2) << n;
  }
}

SHARDSCOPE_KERNEL void reverse_kernel(const int* in, int* out) {
  SHARDSCOPE_SHARED(int, values, 128);
  values[thread_x()] = in[thread_x()];
  sync_block();
  out[thread_x()] = values[127 - thread_x()];
}

TEST(CudaHarness, BarriersPassSharedMemoryOn) {
  std::vector<int> in(128);
  std::vector<int> out(128);
  std::iota(in.begin(), in.end(), 0);
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    host::set_order_seed(seed);
    run({1, 1, 128}, reverse_kernel, in.data(), out.data());
    host::set_order_seed(0);
    for (std::size_t n = 0; n < 128; ++n) EXPECT_EQ(out[n], in[127 - n]) << "seed " << seed;
  }
}

SHARDSCOPE_KERNEL void warp_kernel(std::uint32_t* out) {
  const std::uint32_t lane = thread_x() % 32;
  out[thread_x() * 5 + 0] = shuffle_down(lane, 3, 8);
  out[thread_x() * 5 + 1] = shuffle(lane, lane + 1, 16);
  out[thread_x() * 5 + 2] = ballot(lane % 3 == 0);
  out[thread_x() * 5 + 3] = match_any(lane / 5);
  sync_warp();
  out[thread_x() * 5 + 4] = atomic_add(out + 64 * 5, 1U) < 64 ? 1 : 0;
}

TEST(CudaHarness, WarpOperationsFollowTheirDefinitions) {
  std::vector<std::uint32_t> out(64 * 5 + 1);
  run({1, 1, 64}, warp_kernel, out.data());
  for (std::uint32_t thread = 0; thread < 64; ++thread) {
    const std::uint32_t lane = thread % 32;
    EXPECT_EQ(out[thread * 5 + 0], lane % 8 + 3 < 8 ? lane + 3 : lane);
    EXPECT_EQ(out[thread * 5 + 1], lane / 16 * 16 + (lane + 1) % 16);
    EXPECT_EQ(out[thread * 5 + 2], 0x49249249U);
    std::uint32_t same = 0;
    for (std::uint32_t other = 0; other < 32; ++other) same |= (other / 5 == lane / 5) << other;
    EXPECT_EQ(out[thread * 5 + 3], same);
    EXPECT_EQ(out[thread * 5 + 4], 1U);
  }
  EXPECT_EQ(out.back(), 64U);
}

SHARDSCOPE_KERNEL void missing_barrier_kernel(int* out) {
  SHARDSCOPE_SHARED(int, values, 64);
  values[thread_x()] = static_cast<int>(thread_x());
  out[thread_x()] = values[(thread_x() + 33) % 64];
}

TEST(CudaHarness, CatchesAMissingBarrier) {
  std::vector<int> out(64);
  EXPECT_THAT(fault_of({1, 1, 64}, missing_barrier_kernel, out.data()),
              ::testing::HasSubstr("without a barrier between"));
}

SHARDSCOPE_KERNEL void missing_second_barrier_kernel(int* out) {
  SHARDSCOPE_SHARED(int, values, 64);
  for (int round = 0; round < 2; ++round) {
    values[thread_x()] = round;
    sync_block();
    out[thread_x()] = values[63 - thread_x()];
  }
}

TEST(CudaHarness, CatchesAWriteToSharedMemoryThatIsStillRead) {
  std::vector<int> out(64);
  EXPECT_THAT(fault_of({1, 1, 64}, missing_second_barrier_kernel, out.data()),
              ::testing::HasSubstr("without a barrier between"));
}

SHARDSCOPE_KERNEL void divergent_barrier_kernel(int* out) {
  if (thread_x() < 7) sync_block();
  out[thread_x()] = 1;
}

TEST(CudaHarness, CatchesABarrierThatNotAllThreadsReach) {
  std::vector<int> out(64);
  EXPECT_THAT(fault_of({1, 1, 64}, divergent_barrier_kernel, out.data()),
              ::testing::HasSubstr("57 of 64 threads have ended, 7 wait at the barrier"));
}

SHARDSCOPE_KERNEL void two_barriers_kernel(int* out) {
  if (thread_x() < 7) {
    sync_block();
  } else {
    sync_block();
  }
  out[thread_x()] = 1;
}

TEST(CudaHarness, CatchesThreadsAtDifferentBarriers) {
  std::vector<int> out(64);
  EXPECT_THAT(fault_of({1, 1, 64}, two_barriers_kernel, out.data()),
              ::testing::HasSubstr("divergent barrier"));
}

SHARDSCOPE_KERNEL void divergent_warp_kernel(int* out) {
  if (thread_x() % 2 == 0) out[thread_x()] = shuffle(1, 0);
}

TEST(CudaHarness, CatchesAWarpOperationThatNotAllLanesReach) {
  std::vector<int> out(64);
  EXPECT_THAT(fault_of({1, 1, 64}, divergent_warp_kernel, out.data()),
              ::testing::HasSubstr("with lanes 55555555"));
}

SHARDSCOPE_KERNEL void shared_overrun_kernel(int* out) {
  SHARDSCOPE_SHARED(int, values, 64);
  values[thread_x() + 1] = 1;
  out[thread_x()] = 1;
}

TEST(CudaHarness, CatchesAnIndexBeyondSharedMemory) {
  std::vector<int> out(64);
  const std::string fault = fault_of({2, 1, 64}, shared_overrun_kernel, out.data());
  EXPECT_THAT(fault, ::testing::HasSubstr("beyond a shared array"));
  EXPECT_THAT(fault, ::testing::HasSubstr("block (0, 0), thread 63"));
}

SHARDSCOPE_KERNEL void misaligned_kernel(const float* in, float* out) {
  store_words(out, load_words<Words4>(in + 1));
}

TEST(CudaHarness, CatchesAMisalignedVectorAccess) {
  alignas(16) float in[8] = {};
  alignas(16) float out[8] = {};
  EXPECT_THAT(fault_of({1, 1, 32}, misaligned_kernel, &in[0], &out[0]),
              ::testing::HasSubstr("misaligned load"));
}

TEST(CudaHarness, GoesOnAfterAFault) {
  std::vector<int> in(128);
  std::vector<int> out(128);
  EXPECT_NE(fault_of({1, 1, 64}, divergent_barrier_kernel, out.data()), "");
  run({1, 1, 128}, reverse_kernel, in.data(), out.data());
  EXPECT_EQ(out, in);
}

SHARDSCOPE_KERNEL void global_overrun_kernel(int* out) {
  out[thread_x() + 1] = 1;
}

TEST(CudaHarnessDeathTest, AddressSanitizerSeesAnIndexBeyondGlobalMemory) {
#if defined(__SANITIZE_ADDRESS__)
  std::vector<int> out(64);
  EXPECT_DEATH(run({1, 1, 64}, global_overrun_kernel, out.data()), "heap-buffer-overflow");
#else
  static_cast<void>(global_overrun_kernel);
  GTEST_SKIP() << "only AddressSanitizer sees it";
#endif
}

SHARDSCOPE_KERNEL void lost_update_kernel(int* sum) {
  *sum += 1;
}

TEST(CudaHarnessDeathTest, ThreadSanitizerSeesANonAtomicUpdate) {
#if defined(__SANITIZE_THREAD__)
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  constexpr int kReported = 66;  // ThreadSanitizer's exit code when it has reported something
  EXPECT_EXIT(
      {
        int sum = 0;
        run({2, 1, 32}, lost_update_kernel, &sum);
        std::exit(0);
      },
      ::testing::ExitedWithCode(kReported), "data race");
#else
  static_cast<void>(lost_update_kernel);
  GTEST_SKIP() << "only ThreadSanitizer sees it";
#endif
}

}  // namespace
}  // namespace shardscope::engine::cuda
