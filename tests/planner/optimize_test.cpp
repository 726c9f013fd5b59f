#include "planner/optimize.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "layout/check.hpp"
#include "planner/planners.hpp"
#include "random_case.hpp"

namespace shardscope {
namespace {

using testing_planner::cases;
using testing_planner::random_case;
using testing_planner::RandomCase;
using testing_planner::some_topology;

class OptimizeProperty : public testing::TestWithParam<Executor> {};

/// A case that the executor can train at all.
RandomCase trainable_case(std::uint64_t seed, Executor executor) {
  RandomCase made = random_case(seed);
  if (executor != Executor::hugectr) return made;
  for (Table& table : made.workload.tables)
    table.optimizer = make_optimizer(OptimizerKind::adagrad);
  for (Feature& feature : made.workload.features) {
    feature.weighted = false;
    feature.num_poolings = 1;
  }
  const std::int64_t ranks = made.topology.ranks();
  made.workload.global_batch = made.workload.global_batch / ranks * ranks;
  return made;
}

TEST_P(OptimizeProperty, IsValidAboveTheBoundAndNoWorseThanAnyBaseline) {
  for (std::uint64_t seed = 0; seed < cases(25); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomCase made = trainable_case(seed, GetParam());
    const OptimizeOptions options{
        .predict = {.executor = GetParam(), .schedule = ScheduleKind::inter}};
    const auto plan = optimize(made.workload, made.topology, options);
    ASSERT_TRUE(plan) << to_string(plan.error());
    for (const Violation& violation : check(made.workload, made.topology, plan->layout, GetParam()))
      EXPECT_NE(violation.severity, Severity::error) << violation.message;
    EXPECT_GE(plan->seconds, plan->lower_bound_s * (1 - 1e-9));
    EXPECT_NEAR(plan->seconds,
                *predicted_seconds(made.workload, made.topology, plan->layout, options.predict),
                plan->seconds * 1e-9);
    for (const std::string& name : named_planners()) {
      const auto named = named_plan(name, made.workload, made.topology, {});
      if (!named || has_errors(check(made.workload, made.topology, named->layout, GetParam())))
        continue;
      EXPECT_LE(plan->seconds,
                *predicted_seconds(made.workload, made.topology, named->layout, options.predict) *
                    (1 + 1e-9))
          << name;
    }
  }
}

TEST_P(OptimizeProperty, IsDeterministic) {
  const RandomCase made = trainable_case(17, GetParam());
  const OptimizeOptions options{.predict = {.executor = GetParam()}};
  const auto first = optimize(made.workload, made.topology, options);
  const auto second = optimize(made.workload, made.topology, options);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->layout, second->layout);
}

TEST_P(OptimizeProperty, ABetterMachineIsNeverPlannedWorse) {
  for (std::uint64_t seed = 0; seed < cases(12); ++seed) {
    const RandomCase made = trainable_case(seed, GetParam());
    const OptimizeOptions options{
        .predict = {.executor = GetParam(), .schedule = ScheduleKind::inter}};
    const double before = optimize(made.workload, made.topology, options)->seconds;
    for (const auto& [what, better] : testing_planner::better_machines(made.topology)) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << what);
      EXPECT_LE(optimize(made.workload, better, options)->seconds, before * 1.01);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Executors, OptimizeProperty,
                         testing::Values(Executor::engine, Executor::hugectr, Executor::torchrec),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

TEST(Optimize, ObeysConstraints) {
  RandomCase made = random_case(33, {.max_tables = 12});
  made.topology = some_topology(2, 4);
  while (made.workload.tables.size() < 5) {
    const auto index = static_cast<std::int32_t>(made.workload.tables.size());
    made.workload.features.push_back({.name = fmt::format("more{}", index), .table = index});
    made.workload.tables.push_back({.name = fmt::format("more{}", index), .rows = 5000, .dim = 16});
  }
  OptimizeOptions options;
  options.constraints.pinned = {{0, table_wise(made.workload.tables[0], 3)}};
  options.constraints.clusters = {{1, ClusterType::DP}};
  options.constraints.together = {{2, 3}};
  options.constraints.only_ranks = {{4, {5, 6}}};
  options.constraints.forbidden_ranks = {7};
  const auto plan = optimize(made.workload, made.topology, options);
  ASSERT_TRUE(plan) << to_string(plan.error());
  const auto& tables = plan->layout.tables;
  EXPECT_EQ(tables[0], options.constraints.pinned[0].second);
  EXPECT_EQ(tables[1].cluster, ClusterType::DP);
  EXPECT_EQ(tables[2].owners, tables[3].owners);
  EXPECT_EQ(tables[2].owners.size(), 1U);
  for (const std::int32_t owner : tables[4].owners) EXPECT_TRUE(owner == 5 || owner == 6);
  for (const TablePlacement& table : tables)
    EXPECT_EQ(std::count(table.owners.begin(), table.owners.end(), 7), 0);
}

TEST(Optimize, SaysWhenNothingFits) {
  RandomCase made = random_case(3);
  made.topology.gpu.memory_bytes.value = 1e6;
  made.workload.tables[0].rows = 100000000;
  const auto plan = optimize(made.workload, made.topology, {});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind, ErrorKind::infeasible);
}

TEST(Optimize, ProgressNeverFallsAndComesNearTheWhole) {
  for (const std::uint64_t seed : {3U, 9U}) {
    const RandomCase made = random_case(seed);
    OptimizeOptions options;
    double share = 0;
    int steps = 0;
    options.progress = [&](const OptimizeProgress& progress) {
      EXPECT_GE(progress.share, share);
      EXPECT_LE(progress.share, 1);
      steps += progress.share > share ? 1 : 0;
      share = progress.share;
      return true;
    };
    ASSERT_TRUE(optimize(made.workload, made.topology, options));
    EXPECT_GE(share, 0.8);
    EXPECT_GE(steps, 8);
  }
}

TEST(Optimize, ReportsProgressAndCanBeCancelled) {
  const RandomCase made = random_case(9);
  OptimizeOptions options;
  int reports = 0;
  options.progress = [&](const OptimizeProgress& progress) {
    EXPECT_FALSE(progress.phase.empty());
    return ++reports < 4;
  };
  const auto plan = optimize(made.workload, made.topology, options);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->cancelled);
  EXPECT_GT(plan->seconds, 0);
}

}  // namespace
}  // namespace shardscope
