// The dense part in whole runs on emulated GPUs with a fake cuBLAS.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "app/run_setup.hpp"
#include "tests/engine/cuda/command_cases.hpp"
#include "tests/engine/cuda/emulated_gpu.hpp"
#include "tests/engine/cuda/fake_cublas.hpp"

namespace shardscope::engine::cuda {
namespace {

using ::testing::HasSubstr;

/// Losses of six iterations.
std::vector<double> losses(app::RunOptions options, const Layout& layout) {
  const app::Inputs inputs = app::small_inputs(2);
  const auto engine = app::make_engine(options, inputs, layout);
  EXPECT_TRUE(engine) << to_string(engine.error());
  std::vector<double> found;
  for (int block = 0; block < 3; ++block) {  // a longer one needs more room
    const auto done = (*engine)->run(block + 1, nullptr);
    EXPECT_TRUE(done) << to_string(done.error());
    for (const Iteration& iteration : done->iterations) found.push_back(iteration.loss);
  }
  return found;
}

double farthest(const std::vector<double>& a, const std::vector<double>& b) {
  double most = a.size() == b.size() ? 0 : 1;
  for (std::size_t n = 0; n < std::min(a.size(), b.size()); ++n) {
    most = std::max(most, std::abs(a[n] - b[n]));
  }
  return most;
}

TEST(DenseOnGpu, LearnsWhatTheCpuLearnsUnderEveryLayoutAndSchedule) {
  const app::Inputs inputs = app::small_inputs(2);
  const Layout mixed = app::mixed_layout(inputs);
  const Layout rows = app::load_layout("table_row_wise", inputs).value();
  app::RunOptions cpu = app::cuda_options("loopback");
  cpu.backend = "cpu";
  const std::vector<double> expected = losses(cpu, mixed);
  ASSERT_EQ(expected.size(), 6U);
  EXPECT_GT(expected.front(), 0);
  for (const char* comm : {"loopback", "nccl"}) {
    for (const ScheduleKind schedule :
         {ScheduleKind::serial, ScheduleKind::intra, ScheduleKind::inter}) {
      app::RunOptions options = app::cuda_options(comm);
      options.schedule = schedule;
      options.dense_math = "host";
      EXPECT_LE(farthest(losses(options, mixed), expected), 1e-6);
      const int products = fake_cublas().products;
      options.dense_math = "tf32";
      const std::vector<double> tf32 = losses(options, mixed);
      EXPECT_LE(farthest(tf32, expected), 2e-3);
      options.dense_math = "bf16";
      const std::vector<double> bf16 = losses(options, rows);
      EXPECT_LE(farthest(bf16, expected), 1e-2);
      EXPECT_GT(farthest(bf16, tf32), 0);
      EXPECT_GT(fake_cublas().products, products);
    }
  }
  EXPECT_EQ(fake_cublas().handles, 0);
}

TEST(DenseOnGpu, EvaluatesOnTheGpu) {
  const app::Inputs inputs = app::small_inputs(2);
  const auto engine =
      app::make_engine(app::cuda_options("nccl"), inputs, app::mixed_layout(inputs));
  ASSERT_TRUE(engine) << to_string(engine.error());
  const auto source = make_batch_source(inputs.workload, 1, RangePolicy::wrap, Split::evaluation);
  ASSERT_TRUE(source);
  ASSERT_TRUE((*engine)->run(2, nullptr));
  const int products = fake_cublas().products;
  const auto evaluated = (*engine)->evaluate(**source, 2);
  ASSERT_TRUE(evaluated) << to_string(evaluated.error());
  EXPECT_GT(fake_cublas().products, products);
  EXPECT_TRUE(std::isfinite(evaluated->loss));
  ASSERT_TRUE((*engine)->run(1, nullptr));
}

Result<std::unique_ptr<Engine>> engine_with(app::GpuAccess access, const std::string& math) {
  app::RunOptions options = app::cuda_options("loopback");
  options.dense_math = math;
  options.gpu = std::make_shared<app::GpuAccess>(std::move(access));
  const app::Inputs inputs = app::small_inputs(2);
  return app::make_engine(options, inputs, app::mixed_layout(inputs));
}

TEST(DenseOnGpu, SaysThatCublasIsMissingAndWhatToDo) {
  app::GpuAccess access = *app::emulated_access();
  access.cublas = [] {
    return Result<const CublasApi*>(
        fail({ErrorKind::runtime, "no library for the dense part on a GPU", "", "", "Install it"}));
  };
  const auto engine = engine_with(access, "tf32");
  ASSERT_FALSE(engine);
  EXPECT_THAT(engine.error().what, HasSubstr("the dense part on a GPU"));
  EXPECT_TRUE(engine_with(access, "host"));
}

TEST(DenseOnGpu, FailuresOfCublasEndTheRun) {
  const int open = emulated_open();
  fake_cublas().create_status = 3;
  const auto refused = engine_with(*app::emulated_access(), "bf16");
  fake_cublas().create_status = kCublasSuccess;
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what, "cublasCreate failed with alloc failed");
  EXPECT_THAT(refused.error().cure, HasSubstr("--dense-math host"));
  {
    const auto engine = engine_with(*app::emulated_access(), "bf16");
    ASSERT_TRUE(engine) << to_string(engine.error());
    fake_cublas().gemm_status = 13;
    const auto block = (*engine)->run(1, nullptr);
    fake_cublas().gemm_status = kCublasSuccess;
    ASSERT_FALSE(block);
    EXPECT_EQ(block.error().what, "cublasGemmEx failed with made by the test");
    EXPECT_THAT(block.error().place, HasSubstr("rank 0"));
  }
  EXPECT_EQ(emulated_open(), open);
  EXPECT_EQ(fake_cublas().handles, 0);
}

TEST(DenseOnGpu, AnUnknownPrecisionIsRefused) {
  const auto engine = engine_with(*app::emulated_access(), "fp8");
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace shardscope::engine::cuda
