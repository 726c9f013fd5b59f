// Tables wider than HugeCTR's widest vector, on fewer ranks than they need column shards.

#include <gtest/gtest.h>

#include "layout/check.hpp"
#include "planner/optimize.hpp"
#include "random_case.hpp"

namespace shardscope {
namespace {

Workload one_table(std::int32_t dim) {
  Workload workload;
  workload.name = "wide";
  workload.global_batch = 960;
  workload.tables = {
      {.name = "t", .rows = 5000, .dim = dim, .optimizer = make_optimizer(OptimizerKind::sgd)}};
  workload.features = {{.name = "f", .table = 0}};
  return workload;
}

TEST(WideTables, AreReplicatedWhereTheirColumnsNeedMoreRanks) {
  OptimizeOptions options;
  options.predict.executor = Executor::hugectr;
  for (const std::int32_t dim : {1024, 1023, 1021}) {
    SCOPED_TRACE(dim);
    const Topology topology = testing_planner::some_topology(1, 3);
    const auto plan = optimize(one_table(dim), topology, options);
    ASSERT_TRUE(plan) << to_string(plan.error());
    EXPECT_EQ(plan->layout.tables[0].cluster, ClusterType::DP);
    EXPECT_FALSE(has_errors(check(one_table(dim), topology, plan->layout, Executor::hugectr)));
  }
}

TEST(WideTables, AreCutWhereRanksSuffice) {
  OptimizeOptions options;
  options.predict.executor = Executor::hugectr;
  options.constraints.clusters = {{0, ClusterType::RB}};
  const auto plan = optimize(one_table(1024), testing_planner::some_topology(2, 2), options);
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_EQ(plan->layout.tables[0].column_cuts,
            (std::vector<std::int32_t>{0, 256, 512, 768, 1024}));
}

TEST(WideTables, WithoutAPlaceAreAnErrorAndNoCrash) {
  OptimizeOptions options;
  options.predict.executor = Executor::hugectr;
  options.constraints.clusters = {{0, ClusterType::RB}};
  const auto plan = optimize(one_table(1023), testing_planner::some_topology(1, 4), options);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind, ErrorKind::infeasible);
}

}  // namespace
}  // namespace shardscope
