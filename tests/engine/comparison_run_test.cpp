#include "engine/comparison_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "engine/trade_period.hpp"
#include "tests/engine/scripted_engine.hpp"

namespace shardscope::engine {
namespace {

bool carry_on(const ComparisonProgress&) {
  return true;
}

Layout named(const char* name) {
  Layout layout;
  layout.name = name;
  return layout;
}

/// A and B on engines of their own.
struct ResidentPair {
  ResidentPair(ScriptedEngine::Times a_times, ScriptedEngine::Times b_times)
      : a_engine(2, std::move(a_times)),
        b_engine(2, std::move(b_times)),
        a_recorder(RunRecorder::begin(sink, RunInfo{}, a_engine).value()),
        b_recorder(RunRecorder::begin(sink, RunInfo{}, b_engine).value()) {}

  Result<ComparisonOutcome> run(const ComparisonConfig& config,
                                const ComparisonObserver& observer = carry_on) {
    return comparison_run({&a_engine, a_recorder.get(), nullptr},
                          {&b_engine, b_recorder.get(), nullptr}, config, observer);
  }

  ScriptedEngine a_engine, b_engine;
  KeepingSink sink;
  std::unique_ptr<RunRecorder> a_recorder, b_recorder;
};

/// 2 % noise without memory, different for every iteration.
double noisy(std::int64_t iteration, double ms) {
  return ms * (1 + 0.02 * static_cast<double>(iteration * 7919 % 101 - 50) / 50);
}

TEST(ComparisonRun, FindsTheRatioAndStopsAtTheTarget) {
  ResidentPair pair([](std::int64_t i, bool) { return noisy(i, 20); },
                    [](std::int64_t i, bool) { return noisy(i + 13, 16); });
  const auto outcome = pair.run({.rule = {.target = 0.01}, .budget_s = 30});
  ASSERT_TRUE(outcome.has_value());
  ASSERT_TRUE(outcome->ratio.has_value());
  EXPECT_EQ(outcome->ratio->reason, StopReason::target);
  EXPECT_TRUE(outcome->ratio->ratio.contains(1.25)) << outcome->ratio->ratio.low;
  EXPECT_TRUE(outcome->resident);
  EXPECT_DOUBLE_EQ(outcome->swap_s, 0);
  EXPECT_NEAR(outcome->a.iteration_ms, 20, 0.5);
  EXPECT_NEAR(outcome->b.samples_per_s, 100 / 0.016, 200);
}

TEST(ComparisonRun, DropsSettlingIterationsAndCountsThem) {
  // The first two iterations of every block of 5 are slow.
  const auto settling = [](std::int64_t i, bool) { return i % 5 < 2 ? 400.0 : 200.0; };
  ResidentPair pair(settling, settling);
  const auto outcome = pair.run({.rule = {.maximum_pairs = 8}, .budget_s = 30});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_GT(outcome->dropped_iterations, 0);
  EXPECT_DOUBLE_EQ(outcome->ratio->ratio.estimate, 1);
}

TEST(ComparisonRun, TracedPairsGiveStagesAndNoTimes) {
  const auto slow_when_traced = [](std::int64_t, bool traced) { return traced ? 90.0 : 30.0; };
  ResidentPair pair(slow_when_traced, slow_when_traced);
  const auto outcome = pair.run({.rule = {.maximum_pairs = 24}, .budget_s = 30});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_GE(outcome->traced_pairs, 3);
  EXPECT_DOUBLE_EQ(outcome->a.iteration_ms, 30);
  EXPECT_DOUBLE_EQ(outcome->a.stages.ms_max(Stage::update), 90);
}

TEST(ComparisonRun, SwappedSidesShareAnEngineAndApplyTheirLayouts) {
  ScriptedEngine engine(2, [](std::int64_t, bool) { return 10.0; });
  KeepingSink sink;
  const auto a = RunRecorder::begin(sink, RunInfo{}, engine).value();
  const auto b = RunRecorder::begin(sink, RunInfo{}, engine).value();
  const Layout layout_a = named("a");
  const Layout layout_b = named("b");
  const auto outcome = comparison_run({&engine, a.get(), &layout_a}, {&engine, b.get(), &layout_b},
                                      {.rule = {.maximum_pairs = 16}, .budget_s = 30}, carry_on);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_FALSE(outcome->resident);
  EXPECT_GT(engine.applied, 16);
  const auto& blocks = engine.layouts_run;
  EXPECT_EQ(std::count(blocks.begin(), blocks.end(), "a"),
            std::count(blocks.begin(), blocks.end(), "b"));
}

/// Engine 1 is 3 % faster, whichever layout it has; layout b is 10 % faster, whichever engine.
struct TradingPair {
  TradingPair()
      : engine_0(2, [this](std::int64_t i, bool) { return noisy(i, time_ms(engine_0) * 1.03); }),
        engine_1(2, [this](std::int64_t i, bool) { return noisy(i + 13, time_ms(engine_1)); }),
        a_recorder(RunRecorder::begin(sink, RunInfo{}, engine_0).value()),
        b_recorder(RunRecorder::begin(sink, RunInfo{}, engine_1).value()) {
    EXPECT_TRUE(engine_0.apply(layout_a));
    EXPECT_TRUE(engine_1.apply(layout_b));
  }

  double time_ms(const ScriptedEngine& engine) const {
    return engine.config().layout.name == "b" ? 20.0 / 1.1 : 20.0;
  }

  Result<ComparisonOutcome> run(double trade_s) {
    return comparison_run(
        {&engine_0, a_recorder.get(), &layout_a}, {&engine_1, b_recorder.get(), &layout_b},
        {.rule = {.maximum_pairs = 64}, .budget_s = 30, .trade_s = trade_s}, carry_on);
  }

  Layout layout_a = named("a"), layout_b = named("b");
  ScriptedEngine engine_0, engine_1;
  KeepingSink sink;
  std::unique_ptr<RunRecorder> a_recorder, b_recorder;
};

TEST(ComparisonRun, AnEngineFasterThanItsEqualDoesNotCountForItsLayout) {
  TradingPair pair;
  const auto outcome = pair.run(1e-9);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->trades, 16);
  EXPECT_NEAR(outcome->ratio->ratio.estimate, 1.1, 0.003);
  EXPECT_TRUE(outcome->ratio->ratio.contains(1.1));
}

TEST(ComparisonRun, WithoutTradesThatEngineDoesCount) {
  TradingPair pair;
  const auto outcome = pair.run(0);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->trades, 0);
  EXPECT_GT(outcome->ratio->ratio.low, 1.1);
}

TEST(ComparisonRun, IterationsOfATradedRunStayOnOneAxis) {
  TradingPair pair;
  ASSERT_TRUE(pair.run(1e-9));
  ASSERT_TRUE(pair.a_recorder->end({}));
  for (const Iteration& iteration : pair.sink.kept_iterations) {
    EXPECT_GE(iteration.start_ns, 0);
  }
}

TEST(ComparisonRun, EndsWithinItsBudgetWhereBlocksAreSlow) {
  // Iterations of 40 ms of real time; a budget for some four pairs.
  const auto slow = [](std::int64_t, bool) {
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
    return 40.0;
  };
  ResidentPair pair(slow, slow);
  const auto start = std::chrono::steady_clock::now();
  const auto outcome = pair.run({.budget_s = 1.0});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(outcome.has_value());
  EXPECT_LT(took.count(), 1.3);
  EXPECT_GT(outcome->pair_s, 0.15);
}

TEST(ComparisonRun, TradesOftenWhereTheyAreCheapAndNeverWhereTheyAreDear) {
  EXPECT_EQ(trade_period(0.1, 0.2, 60), 4);
  EXPECT_EQ(trade_period(3, 1, 60), 16);
  EXPECT_EQ(trade_period(30, 1, 60), 0);
  EXPECT_EQ(trade_period(1e9, 1e-9, 60), 0);
}

TEST(ComparisonRun, AnInterruptedComparisonKeepsItsPairs) {
  ResidentPair pair([](std::int64_t i, bool) { return noisy(i, 20); },
                    [](std::int64_t i, bool) { return noisy(i + 13, 20); });
  const auto outcome =
      pair.run({.rule = {.maximum_pairs = 1000}, .budget_s = 30},
               [](const ComparisonProgress& progress) { return progress.pairs < 10; });
  ASSERT_TRUE(outcome.has_value());
  ASSERT_TRUE(outcome->ratio.has_value());
  EXPECT_EQ(outcome->ratio->reason, StopReason::interrupted);
  EXPECT_EQ(outcome->ratio->pairs, 10);
}

TEST(ComparisonRun, StoppingBeforeTheFirstLookHasNoRatio) {
  ResidentPair pair([](std::int64_t, bool) { return 20.0; },
                    [](std::int64_t, bool) { return 20.0; });
  const auto outcome = pair.run(
      {.budget_s = 30}, [](const ComparisonProgress& progress) { return progress.pairs < 2; });
  ASSERT_TRUE(outcome.has_value());
  EXPECT_FALSE(outcome->ratio.has_value());
}

TEST(ComparisonRun, AnErrorOfAnEngineIsNotHidden) {
  ResidentPair pair([](std::int64_t, bool) { return 20.0; },
                    [](std::int64_t, bool) { return 20.0; });
  pair.b_engine.fail_after = 100;
  const auto outcome = pair.run({.rule = {.maximum_pairs = 1000}, .budget_s = 30});
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().place, "rank 1");
}

}  // namespace
}  // namespace shardscope::engine
