#include "engine/profile_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "engine/block_length.hpp"
#include "tests/engine/scripted_engine.hpp"

namespace shardscope::engine {
namespace {

bool go_on(const ProfileProgress&) {
  return true;
}

struct ProfiledScript {
  explicit ProfiledScript(ScriptedEngine::Times times)
      : engine(2, std::move(times)),
        recorder(RunRecorder::begin(sink, RunInfo{}, engine).value()) {}

  ScriptedEngine engine;
  KeepingSink sink;
  std::unique_ptr<RunRecorder> recorder;
};

TEST(BlockLength, IsWholeCyclesNearTheTargetTime) {
  EXPECT_EQ(block_iterations(0.010, 0.1, 4), 12);
  EXPECT_EQ(block_iterations(0.1, 0.1, 4), 4);
  EXPECT_EQ(block_iterations(0.5, 0.1, 4), 1);
  EXPECT_EQ(block_iterations(1e-9, 0.1, 4), 4096);
  EXPECT_EQ(block_iterations(0, 0.1, 1), 4096);
}

TEST(ProfileRun, ThroughputComesFromUntracedBlocksAlone) {
  ProfiledScript script([](std::int64_t, bool traced) { return traced ? 20.0 : 10.0; });
  const auto outcome =
      profile_run(script.engine, *script.recorder, {.iterations = 640, .seed = 3}, go_on);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_DOUBLE_EQ(outcome->iteration_ms, 10);
  EXPECT_DOUBLE_EQ(outcome->samples_per_s, 100 / 0.010);
  EXPECT_DOUBLE_EQ(outcome->critical_path_ms, 5);
  EXPECT_EQ(outcome->iterations, 640);
  EXPECT_DOUBLE_EQ(outcome->stages.ms_max(Stage::update), 20);
  ASSERT_TRUE(outcome->tracing_overhead.has_value());
  EXPECT_NEAR(outcome->tracing_overhead->estimate, 1.0, 1e-9);
}

TEST(ProfileRun, OneBlockInEightIsTraced) {
  ProfiledScript script([](std::int64_t, bool) { return 1.0; });
  const auto outcome = profile_run(script.engine, *script.recorder, {.iterations = 7 * 640}, go_on);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_NEAR(static_cast<double>(outcome->traced_iterations) / 640, 1, 0.05);
}

TEST(ProfileRun, AShortRunStillHasAStageTable) {
  ProfiledScript script([](std::int64_t, bool) { return 1.0; });
  const auto outcome = profile_run(script.engine, *script.recorder, {.iterations = 1}, go_on);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->iterations, 1);
  EXPECT_GE(outcome->traced_iterations, 1);
  EXPECT_FALSE(outcome->tracing_overhead.has_value());
}

TEST(ProfileRun, SlowIterationsStayWithinTheBudget) {
  ProfiledScript script([](std::int64_t, bool) {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    return 150.0;
  });
  const auto start = std::chrono::steady_clock::now();
  const auto outcome = profile_run(script.engine, *script.recorder, {.budget_s = 1}, go_on);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->warm_up_iterations, 2);
  EXPECT_GE(outcome->iterations, 1);
  EXPECT_EQ(outcome->traced_iterations, 1);
  EXPECT_LT(took.count(), 0.3 + 1 + 0.25);
}

TEST(ProfileRun, EmulatedIterationsAreTimedByThisMachineWhereTimeRunsOut) {
  ProfiledScript script([](std::int64_t, bool) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return 0.01;
  });
  script.engine.emulate();
  const auto start = std::chrono::steady_clock::now();
  const auto outcome = profile_run(script.engine, *script.recorder, {.budget_s = 0.3}, go_on);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(outcome.has_value());
  EXPECT_DOUBLE_EQ(outcome->iteration_ms, 0.01);
  EXPECT_LE(outcome->warm_up_iterations, 2 + 0.5 / 0.005 + 2);
  EXPECT_LT(took.count(), 0.6 + 0.3 + 0.5);
}

TEST(ProfileRun, WarmUpIsRecordedAndExcluded) {
  ProfiledScript script([](std::int64_t iteration, bool) { return iteration < 2 ? 300.0 : 1.0; });
  const auto outcome = profile_run(script.engine, *script.recorder, {.iterations = 64}, go_on);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_GE(outcome->warm_up_iterations, 2);
  EXPECT_NEAR(outcome->iteration_ms, 1, 1e-9);
  ASSERT_TRUE(script.recorder->end({}).has_value());
  const auto& kept = script.sink.kept_iterations;
  EXPECT_EQ(std::count_if(kept.begin(), kept.end(), [](const Iteration& i) { return i.warm_up; }),
            outcome->warm_up_iterations);
  EXPECT_EQ(static_cast<std::int64_t>(kept.size()), script.engine.iterations_run());
}

TEST(ProfileRun, StoppingKeepsWhatWasMeasured) {
  ProfiledScript script([](std::int64_t, bool) { return 1.0; });
  const auto outcome =
      profile_run(script.engine, *script.recorder, {.iterations = 100000},
                  [](const ProfileProgress& progress) { return progress.iterations < 5000; });
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(outcome->interrupted);
  EXPECT_GE(outcome->iterations, 5000);
  EXPECT_LT(outcome->iterations, 100000);
}

TEST(ProfileRun, AnErrorOfTheEngineIsNotHidden) {
  ProfiledScript script([](std::int64_t, bool) { return 1.0; });
  script.engine.fail_after = 1000000;
  const auto outcome = profile_run(script.engine, *script.recorder, {.iterations = 2000000}, go_on);
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().place, "rank 1");
}

}  // namespace
}  // namespace shardscope::engine
