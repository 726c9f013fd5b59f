#include "planner/planners.hpp"

#include <algorithm>

#include "layout/check.hpp"
#include "planner/cost_model.hpp"
#include "random_case.hpp"

namespace shardscope {
namespace {

TEST(Planners, EveryNameGivesAPlanThatCanBePriced) {
  const testing_planner::RandomCase made = testing_planner::random_case(21);
  for (const std::string& name : named_planners()) {
    SCOPED_TRACE(name);
    const auto plan = named_plan(name, made.workload, made.topology, {});
    if (!plan) {
      EXPECT_NE(plan.error().kind, ErrorKind::runtime) << to_string(plan.error());
      continue;
    }
    ASSERT_EQ(plan->layout.tables.size(), made.workload.tables.size());
    EXPECT_EQ(plan->matrix.size(), static_cast<std::size_t>(made.topology.ranks()));
    EXPECT_EQ(plan->layout.table_names.size(), made.workload.tables.size());
    const auto seconds = predicted_seconds(made.workload, made.topology, plan->layout,
                                           {.executor = Executor::hugectr});
    ASSERT_TRUE(seconds);
    EXPECT_GT(*seconds, 0);
  }
}

TEST(Planners, UnknownNamesListTheKnownOnes) {
  const testing_planner::RandomCase made = testing_planner::random_case(2);
  const auto plan = named_plan("fastest", made.workload, made.topology, {});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind, ErrorKind::usage);
  EXPECT_NE(plan.error().expected.find("embark-hier"), std::string::npos);
}

TEST(Planners, GreedyHeuristicsBalanceTheirOwnCost) {
  Workload workload;
  workload.global_batch = 4096;
  for (const auto& [rows, hotness] : {std::pair{1000, 8}, {1000000, 1}, {10, 8}, {500000, 1}}) {
    workload.features.push_back({.name = "f",
                                 .table = static_cast<std::int32_t>(workload.tables.size()),
                                 .hotness = Hotness::fixed(hotness)});
    workload.tables.push_back({.name = "t", .rows = rows, .dim = 64});
  }
  const Topology topology = testing_planner::some_topology(1, 2);
  const auto lookup = named_plan("lookup", workload, topology, {});
  const auto size = named_plan("size", workload, topology, {});
  ASSERT_TRUE(lookup && size);
  EXPECT_DOUBLE_EQ(lookup->cost, 64 * 9);
  EXPECT_NE(lookup->layout.tables[0].owners[0], lookup->layout.tables[2].owners[0]);
  EXPECT_NE(size->layout.tables[1].owners[0], size->layout.tables[3].owners[0]);
  EXPECT_FALSE(named_plan("dim", workload, topology, {{"x", "1"}}));
}

}  // namespace
}  // namespace shardscope
