#include "planner/shortage.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "layout/check.hpp"
#include "layout/models.hpp"
#include "planner/baselines.hpp"
#include "planner/optimize.hpp"
#include "random_case.hpp"

namespace shardscope {
namespace {

using testing_planner::random_case;
using testing_planner::RandomCase;
using testing_planner::some_topology;

constexpr double kGibibyte = 1 << 30;

/// Ten pooled tables of 1 GiB of fp32 weights, Adam on top: 30 GiB.
Workload ten_tables() {
  Workload workload;
  workload.name = "ten";
  workload.global_batch = 1024;
  for (int t = 0; t < 10; ++t) {
    workload.tables.push_back({.name = fmt::format("t{}", t),
                               .rows = 1 << 21,
                               .dim = 128,
                               .optimizer = make_optimizer(OptimizerKind::adam)});
    workload.features.push_back({.name = fmt::format("f{}", t), .table = t});
  }
  return workload;
}

Topology machine(std::int32_t hosts, double gib) {
  Topology topology = some_topology(hosts, 4);
  topology.gpu.memory_bytes.value = gib * kGibibyte;
  return topology;
}

const ReliefEffect* effect_of(const Shortage& found, Relief relief) {
  const auto at = std::find_if(found.reliefs.begin(), found.reliefs.end(),
                               [&](const ReliefEffect& one) { return one.relief == relief; });
  return at == found.reliefs.end() ? nullptr : &*at;
}

TEST(Shortage, IsNoneWhereALayoutFits) {
  EXPECT_FALSE(find_shortage(ten_tables(), machine(1, 20), {}));
}

TEST(Shortage, OfTablesCountsBytesAndFindsTheFewestHosts) {
  const Workload workload = ten_tables();
  const auto found = find_shortage(workload, machine(1, 5), {});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->table_bound);
  EXPECT_NEAR(found->table_bytes, 30 * kGibibyte, 0.01 * kGibibyte);
  // 30 GiB over four GPUs of 5.
  EXPECT_GE(found->needed_bytes, 7.5 * kGibibyte);
  EXPECT_LT(found->needed_bytes, 8.5 * kGibibyte);
  EXPECT_NEAR(found->short_bytes, found->needed_bytes - 5 * kGibibyte, 1);
  EXPECT_FALSE(found->left_over.empty());
  EXPECT_EQ(found->largest.size(), 5U);
  const ReliefEffect* hosts = effect_of(*found, Relief::more_hosts);
  ASSERT_NE(hosts, nullptr);
  EXPECT_TRUE(hosts->fits);
  EXPECT_EQ(hosts->amount, 2);
  // No batch helps, so none is offered.
  EXPECT_EQ(effect_of(*found, Relief::smaller_batch), nullptr);
}

TEST(Shortage, SaysWhatHalfWeightsAndOtherOptimizersFree) {
  const auto found = find_shortage(ten_tables(), machine(1, 5), {});
  ASSERT_TRUE(found);
  const double mean = 1.0 / 4;
  const ReliefEffect* half = effect_of(*found, Relief::half_weights);
  ASSERT_NE(half, nullptr);
  EXPECT_NEAR(half->freed_bytes, 5 * mean * kGibibyte, 0.5 * kGibibyte);
  EXPECT_FALSE(half->fits);
  const ReliefEffect* rowwise = effect_of(*found, Relief::rowwise_state);
  ASSERT_NE(rowwise, nullptr);
  EXPECT_NEAR(rowwise->freed_bytes, 20 * mean * kGibibyte, 0.8 * kGibibyte);
  EXPECT_TRUE(rowwise->fits);
  // Not every table has to change.
  EXPECT_FALSE(rowwise->enough.empty());
  EXPECT_LT(rowwise->enough.size(), 10U);
  ASSERT_TRUE(found->least);
  EXPECT_EQ(found->reliefs[*found->least].relief, Relief::rowwise_state);
}

TEST(Shortage, OfTheBatchOffersTheLargestThatFits) {
  Workload workload = ten_tables();
  for (Table& table : workload.tables) table.rows = 1000;
  workload.global_batch = 4 << 20;
  const Topology topology = machine(1, 6);
  const auto found = find_shortage(workload, topology, {});
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->table_bound);
  const ReliefEffect* batch = effect_of(*found, Relief::smaller_batch);
  ASSERT_NE(batch, nullptr);
  EXPECT_TRUE(batch->fits);
  EXPECT_GT(batch->amount, 0);
  EXPECT_LT(batch->amount, workload.global_batch);
  ASSERT_TRUE(found->least);
  EXPECT_EQ(*found->least, 0U);
  workload.global_batch = batch->amount;
  EXPECT_TRUE(optimize(workload, topology, {}));
  workload.global_batch = batch->amount * 11 / 10 / 4 * 4;
  EXPECT_TRUE(find_shortage(workload, topology, {}));
}

TEST(Shortage, ChangesTheExecutorForbidsAreSaidToBeForbidden) {
  Workload workload = ten_tables();
  for (Table& table : workload.tables) table.optimizer = make_optimizer(OptimizerKind::adagrad);
  const auto found = find_shortage(
      workload, machine(1, 5), {.executor = Executor::hugectr, .schedule = ScheduleKind::inter});
  ASSERT_TRUE(found);
  const ReliefEffect* half = effect_of(*found, Relief::half_weights);
  ASSERT_NE(half, nullptr);
  EXPECT_FALSE(half->legal);
  EXPECT_FALSE(half->fits);
  EXPECT_FALSE(half->why_not.empty());
}

/// What is said to fit does, by the planner and the rules.
TEST(Shortage, EveryChangeThatFitsCanBePlanned) {
  const Workload workload = ten_tables();
  const Topology topology = machine(1, 5);
  const auto found = find_shortage(workload, topology, {});
  ASSERT_TRUE(found);
  EXPECT_FALSE(optimize(workload, topology, {}));
  for (const ReliefEffect& effect : found->reliefs) {
    if (!effect.fits) continue;
    SCOPED_TRACE(to_string(effect.relief));
    Workload changed = workload;
    Topology larger = topology;
    for (std::size_t t = 0; t < changed.tables.size(); ++t) {
      const auto index = static_cast<std::int32_t>(t);
      if (!effect.enough.empty() &&
          std::find(effect.enough.begin(), effect.enough.end(), index) == effect.enough.end())
        continue;
      Table& table = changed.tables[t];
      if (effect.relief == Relief::rowwise_state || effect.relief == Relief::half_and_state)
        table.optimizer = make_optimizer(OptimizerKind::rowwise_adagrad);
      if (effect.relief == Relief::no_state) table.optimizer = make_optimizer(OptimizerKind::sgd);
      if (effect.relief == Relief::half_weights || effect.relief == Relief::half_and_state)
        table.dtype = DType::fp16;
    }
    if (effect.relief == Relief::more_hosts)
      larger.hosts = static_cast<std::int32_t>(effect.amount);
    const auto plan = optimize(changed, larger, {});
    ASSERT_TRUE(plan) << to_string(plan.error());
    EXPECT_FALSE(has_errors(check(changed, larger, plan->layout, Executor::engine)));
  }
}

TEST(LayoutShortage, NamesTheGpuItsTablesAndMovesThatHelp) {
  const Workload workload = ten_tables();
  const Topology topology = machine(2, 8);
  Layout crowded = *baseline("table_wise", workload, topology);
  for (TablePlacement& table : crowded.tables) table.owners = {3};
  const auto found = find_layout_shortage(workload, topology, crowded, {});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->gpus.size(), 1U);
  EXPECT_EQ(found->gpus[0].rank, 3);
  EXPECT_NEAR(found->gpus[0].short_bytes, 22 * kGibibyte, kGibibyte);
  EXPECT_EQ(found->gpus[0].largest.size(), 3U);
  EXPECT_NEAR(found->gpus[0].largest[0].bytes, 3 * kGibibyte, 0.01 * kGibibyte);
  EXPECT_TRUE(found->table_bound);
  ASSERT_TRUE(found->moved);
  EXPECT_FALSE(has_errors(check(workload, topology, *found->moved, Executor::engine)));
  // Two of ten may stay where eight GPUs of 8 GiB hold two each.
  EXPECT_EQ(found->moves.size(), 8U);
}

TEST(LayoutShortage, IsNoneForALayoutThatFits) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const RandomCase made = random_case(seed);
    EXPECT_FALSE(find_layout_shortage(made.workload, made.topology, made.layout, {}))
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace shardscope
