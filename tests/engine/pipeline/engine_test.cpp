#include "engine/engine.hpp"

#include <chrono>
#include <cmath>
#include <thread>

#include <gtest/gtest.h>

#include "layout/models.hpp"
#include "run_case.hpp"
#include "small_config.hpp"

namespace shardscope::engine {
namespace {

/// The small model with a dense part.
EngineConfig dense_config() {
  EngineConfig config = small_config(40, 2);
  DensePart& dense = config.workload.dense;
  dense.dense_features = 4;
  dense.bottom_mlp = {16, 8};
  dense.interaction = Interaction::dot;
  dense.top_mlp = {16, 1};
  dense.optimizer = make_optimizer(OptimizerKind::adagrad, 0.05);
  return config;
}

std::shared_ptr<const BatchSource> dense_source(const EngineConfig& config,
                                                Split split = Split::training) {
  auto source = make_batch_source(config.workload, 1, RangePolicy::error, split);
  EXPECT_TRUE(source.has_value()) << to_string(source.error());
  return std::move(*source);
}

std::unique_ptr<Engine> dense_engine(const EngineConfig& config) {
  auto engine = Engine::create(config, dense_source(config));
  EXPECT_TRUE(engine.has_value()) << to_string(engine.error());
  return std::move(*engine);
}

double last_loss(Engine& engine, std::int32_t iterations) {
  const auto block = engine.run(iterations, nullptr);
  EXPECT_TRUE(block.has_value()) << to_string(block.error());
  return block->iterations.back().loss;
}

TEST(Engine, LossFallsWhileItTrains) {
  for (const ScheduleKind kind : {ScheduleKind::serial, ScheduleKind::intra, ScheduleKind::inter}) {
    EngineConfig config = dense_config();
    config.schedule = kind;
    const auto engine = dense_engine(config);
    const double first = last_loss(*engine, 1);
    const double last = last_loss(*engine, 60);
    EXPECT_NEAR(first, std::log(2.0), 0.1);
    EXPECT_LT(last, first - 0.02) << to_string(kind);
  }
}

TEST(Engine, EveryScheduleAndLayoutGivesTheSameLossButForRounding) {
  EngineConfig config = dense_config();
  const double expected = last_loss(*dense_engine(config), 10);
  for (const ScheduleKind kind : {ScheduleKind::serial, ScheduleKind::intra, ScheduleKind::inter}) {
    for (const bool deferred : {false, true}) {
      config.schedule = kind;
      config.deferred_streams = deferred;
      EXPECT_NEAR(last_loss(*dense_engine(config), 10), expected, 1e-5) << to_string(kind);
    }
  }
  config = dense_config();
  for (std::size_t t = 0; t < 3; ++t) {
    config.layout.tables[t] = table_wise(config.workload.tables[t], static_cast<std::int32_t>(t),
                                         t == 2 ? ClusterType::UB : ClusterType::RB);
  }
  EXPECT_NEAR(last_loss(*dense_engine(config), 10), expected, 1e-5);
}

TEST(Engine, DenseTrafficFollowsTheFormula) {
  const EngineConfig config = dense_config();
  const auto engine = dense_engine(config);
  static_cast<void>(last_loss(*engine, 1));
  const auto expected = traffic_of(config.workload, config.topology, config.layout,
                                   expected_counts(config.workload, config.layout));
  for (std::size_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(engine->traffic()[rank].at(Stage::allreduce, Work::dense),
              expected[rank].at(Stage::allreduce, Work::dense));
  }
}

TEST(Engine, EvaluationMeetsLargerBatchesAndLeavesTheModelAlone) {
  EngineConfig config = dense_config();
  config.batches = 60;
  const auto engine = dense_engine(config);
  static_cast<void>(last_loss(*engine, 5));
  const std::vector<float> before = engine->weights(1);
  const auto source = dense_source(config, Split::evaluation);
  const auto first = engine->evaluate(*source, 20);
  ASSERT_TRUE(first.has_value()) << to_string(first.error());
  EXPECT_EQ(first->samples, 20 * 64);
  EXPECT_GT(first->loss, 0.1);
  EXPECT_GT(first->auc, 0.3);
  EXPECT_EQ(engine->weights(1), before);
  const auto again = engine->evaluate(*source, 20);
  ASSERT_TRUE(again.has_value());
  EXPECT_DOUBLE_EQ(again->loss, first->loss);
  static_cast<void>(last_loss(*engine, 60));
  const auto later = engine->evaluate(*source, 20);
  ASSERT_TRUE(later.has_value());
  EXPECT_LT(later->loss, first->loss);
}

TEST(Engine, TimesOfABlockAreInOrder) {
  const auto engine = dense_engine(dense_config());
  const auto block = engine->run(5, nullptr);
  ASSERT_TRUE(block.has_value());
  ASSERT_EQ(block->iterations.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(block->iterations[i].index, static_cast<std::int32_t>(i));
    EXPECT_GT(block->iterations[i].end_ns, block->iterations[i].start_ns);
    EXPECT_GT(block->critical_path_ms[i], 0);
    if (i > 0) {
      EXPECT_EQ(block->iterations[i].start_ns, block->iterations[i - 1].end_ns);
    }
  }
}

TEST(Engine, AbortEndsARunWithTheReason) {
  const auto engine = dense_engine(dense_config());
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    engine->abort({ErrorKind::runtime, "cancelled by the user", "", "", ""});
  });
  const auto block = engine->run(20'000, nullptr);
  canceller.join();
  ASSERT_FALSE(block.has_value());
  EXPECT_EQ(block.error().what, "cancelled by the user");
}

TEST(Engine, RefusesALayoutThatBreaksARule) {
  EngineConfig config = dense_config();
  config.layout.tables[2].cluster = ClusterType::RB;  // a sequence is not pooled
  const auto engine = Engine::create(config, dense_source(config));
  ASSERT_FALSE(engine.has_value());
  EXPECT_EQ(engine.error().kind, ErrorKind::usage);
  EXPECT_NE(to_string(engine.error()).find("rb.unpooled"), std::string::npos);
}

TEST(Engine, NamesAskedAndAvailableMemoryWhenTablesDoNotFit) {
  EngineConfig config = dense_config();
  config.workload.key = KeyType::i64;
  const auto source = dense_source(config);
  config.workload.tables[1].rows = 1'000'000'000'000;
  const auto engine = Engine::create(config, source);
  ASSERT_FALSE(engine.has_value());
  EXPECT_EQ(engine.error().kind, ErrorKind::infeasible);
  EXPECT_NE(engine.error().what.find("available"), std::string::npos) << engine.error().what;
}

TEST(Engine, RefusesAHotnessThatNoMemoryHolds) {
  EngineConfig config = dense_config();
  const auto source = dense_source(config);
  config.workload.global_batch = 100'000;
  config.workload.features[0].hotness = Hotness::fixed(40'000);
  const auto engine = Engine::create(config, source);
  ASSERT_FALSE(engine.has_value());
  EXPECT_EQ(engine.error().kind, ErrorKind::infeasible) << to_string(engine.error());
}

}  // namespace
}  // namespace shardscope::engine
