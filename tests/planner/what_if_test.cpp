#include "planner/what_if.hpp"

#include "random_case.hpp"

namespace shardscope {
namespace {

using testing_planner::random_case;
using testing_planner::random_placement;
using testing_planner::RandomCase;

class WhatIfProperty : public testing::TestWithParam<Executor> {};

TEST_P(WhatIfProperty, EveryEditPricesAsAFreshPrediction) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomCase made = random_case(seed);
    const PredictOptions options{.executor = GetParam(), .schedule = ScheduleKind::inter};
    auto what_if = WhatIf::create(made.workload, made.topology, made.layout, options);
    ASSERT_TRUE(what_if);
    std::mt19937_64 random(seed);
    for (int edit = 0; edit < 12; ++edit) {
      const std::size_t table = random() % made.workload.tables.size();
      const TablePlacement placement =
          random_placement(made.workload, table, made.topology.ranks(), random);
      const double before = what_if->seconds();
      const double tried = what_if->try_table(table, placement);
      EXPECT_DOUBLE_EQ(what_if->seconds(), before);
      const double set = what_if->set_table(table, placement);
      const double fresh =
          *predicted_seconds(made.workload, made.topology, what_if->layout(), options);
      EXPECT_NEAR(set, fresh, fresh * 1e-9);
      EXPECT_NEAR(tried, fresh, fresh * 1e-9);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Executors, WhatIfProperty,
                         testing::Values(Executor::engine, Executor::hugectr, Executor::torchrec),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

TEST(WhatIf, MovesAndSplitsShards) {
  RandomCase made = random_case(4);
  made.topology = testing_planner::some_topology(2, 4);
  made.layout.ranks = 8;
  for (std::size_t t = 0; t < made.layout.tables.size(); ++t)
    made.layout.tables[t] = table_wise(made.workload.tables[t], 0);
  auto what_if = WhatIf::create(made.workload, made.topology, made.layout, {});
  ASSERT_TRUE(what_if);
  const double crowded = what_if->seconds();
  for (std::size_t t = 0; t < made.layout.tables.size(); ++t)
    what_if->move_shard(t, 0, 0, static_cast<std::int32_t>(t % 8));
  EXPECT_LE(what_if->seconds(), crowded);
  EXPECT_EQ(what_if->layout().tables[0].owners[0], 0);
  what_if->split_rows(0, {1, 2, 3});
  EXPECT_EQ(what_if->layout().tables[0].row_shards, 3);
  const WhatIf::StageTimes times = what_if->stage_times();
  EXPECT_EQ(times.own_s.size(), times.schedule.steps.size());
  EXPECT_EQ(times.own_s[0].size(), 8U);
}

TEST(WhatIf, RefusesALayoutOfAnotherSize) {
  RandomCase made = random_case(6);
  made.layout.ranks += 3;
  EXPECT_FALSE(WhatIf::create(made.workload, made.topology, made.layout, {}));
}

}  // namespace
}  // namespace shardscope
