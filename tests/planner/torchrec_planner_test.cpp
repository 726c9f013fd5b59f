#include "planner/torchrec_planner.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>

#include "random_case.hpp"
#include "torchrec_production_plan.hpp"

namespace shardscope {
namespace {

using testing_planner::ProductionTable;

TorchRecPlacement published_placement(const std::vector<ProductionTable>& plan,
                                      const TorchRecMachine& machine) {
  TorchRecPlacement placement;
  placement.rank_ms.assign(96, 0.0);
  placement.rank_hbm_bytes.assign(96, 0.0);
  for (const ProductionTable& table : plan) {
    TorchRecChoice choice{table.form,
                          torchrec_shards(table.table, table.form, machine, table.column_width),
                          table.ranks};
    if (choice.ranks.empty()) {
      choice.ranks.resize(choice.shards.size());
      std::iota(choice.ranks.begin(), choice.ranks.end(), 0);
    }
    for (std::size_t s = 0; s < choice.shards.size(); ++s) {
      const auto rank = static_cast<std::size_t>(choice.ranks[s]);
      placement.rank_ms[rank] += choice.shards[s].total_ms();
      placement.rank_hbm_bytes[rank] += choice.shards[s].hbm_bytes;
    }
    placement.tables.push_back(std::move(choice));
  }
  return placement;
}

TEST(TorchRecBalance, EvensOutTheProductionPlanInUnderASecond) {
  const auto plan = testing_planner::production_plan();
  if (plan.empty()) GTEST_SKIP() << "../shared/data/plans/torchrec_prod_plan_1935.csv is absent";
  const TorchRecMachine machine = testing_planner::production_machine();
  const TorchRecPlacement published = published_placement(plan, machine);
  EXPECT_NEAR(published.max_ms() / 1300.3, 1, 0.005);
  EXPECT_NEAR(published.mean_ms() / 1003.6, 1, 0.002);
  std::vector<TorchRecTable> tables;
  for (const ProductionTable& table : plan) tables.push_back(table.table);
  const auto start = std::chrono::steady_clock::now();
  const TorchRecPlacement balanced = torchrec_balance(tables, machine, published);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LE(balanced.max_ms(), 1010);
  for (const double bytes : balanced.rank_hbm_bytes) EXPECT_LE(bytes, machine.hbm_bytes);
  // Sanitizers slow this down tenfold; the figure itself stands in docs/measurements.md.
  EXPECT_LT(seconds.count(), 10);
  for (std::size_t t = 0; t < tables.size(); ++t) {
    std::int64_t elements = 0;
    for (const TorchRecShard& shard : balanced.tables[t].shards) {
      elements += shard.rows * shard.columns;
      if (plan[t].table.dim % 4 == 0) {
        EXPECT_EQ(shard.columns % 4, 0) << plan[t].table.name;
      }
    }
    EXPECT_EQ(elements, tables[t].rows * tables[t].dim);
  }
  std::printf("slowest rank %.1f ms, mean %.1f ms (published %.1f and %.1f), in %.2f s\n",
              balanced.max_ms(), balanced.mean_ms(), published.max_ms(), published.mean_ms(),
              seconds.count());
}

TEST(TorchRecPartition, PutsUniformFormsFirstAndTheRestWhereThereIsLeast) {
  TorchRecMachine machine;
  machine.world = 2;
  machine.local_world = 2;
  machine.hbm_bytes = 100;
  const auto shard = [](double ms, double bytes) {
    TorchRecShard one;
    one.forward_compute_ms = ms;
    one.hbm_bytes = bytes;
    return one;
  };
  TorchRecPlacement placement;
  placement.tables = {{TorchRecForm::table_wise, {shard(1, 10)}, {}},
                      {TorchRecForm::table_wise, {shard(5, 20)}, {}},
                      {TorchRecForm::row_wise, {shard(2, 5), shard(3, 5)}, {}}};
  ASSERT_TRUE(torchrec_partition(machine, placement));
  EXPECT_EQ(placement.tables[2].ranks, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(placement.tables[1].ranks[0], 0);  // more storage: first, on the less loaded rank
  EXPECT_EQ(placement.tables[0].ranks[0], 1);
  EXPECT_DOUBLE_EQ(placement.max_ms(), 7);
  placement.tables[1].shards[0].hbm_bytes = 200;
  EXPECT_FALSE(torchrec_partition(machine, placement));
}

TEST(TorchRecPlanner, PlansWholeModelsAndBalancingNeverHurts) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const testing_planner::RandomCase made = testing_planner::random_case(seed);
    const auto plan = torchrec_plan(made.workload, made.topology, {});
    ASSERT_TRUE(plan) << to_string(plan.error());
    const auto balanced = torchrec_plan(made.workload, made.topology, {{"balanced", "true"}});
    ASSERT_TRUE(balanced);
    EXPECT_LE(balanced->cost, plan->cost * (1 + 1e-12));
    for (std::size_t t = 0; t < plan->layout.tables.size(); ++t) {
      const TablePlacement& table = plan->layout.tables[t];
      if (table.cluster == ClusterType::DP) continue;
      EXPECT_EQ(table.row_cuts.back(), made.workload.tables[t].rows);
      for (const std::int32_t owner : table.owners) EXPECT_LT(owner, made.topology.ranks());
    }
  }
}

TEST(TorchRecPlanner, SaysWhenNothingFits) {
  const testing_planner::RandomCase made = testing_planner::random_case(1);
  const auto plan = torchrec_plan(made.workload, made.topology, {{"hbm_cap_gib", "0.000001"}});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind, ErrorKind::infeasible);
}

}  // namespace
}  // namespace shardscope
