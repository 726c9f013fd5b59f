#include "planner/explain.hpp"

#include "layout/check.hpp"
#include "layout/models.hpp"
#include "planner/baselines.hpp"
#include "planner/table_arithmetic.hpp"
#include "random_case.hpp"

namespace shardscope {
namespace {

using testing_planner::random_case;
using testing_planner::RandomCase;

constexpr PredictOptions kInter{.executor = Executor::engine, .schedule = ScheduleKind::inter};

/// All tables of criteo-kaggle on one of 16 ranks.
struct Crowded {
  Workload workload = *model_by_name("criteo-kaggle");
  Topology topology = *topology_by_name("dgx-h100:2");
  Layout layout = *baseline("table_wise", workload, topology);
  Crowded() {
    for (TablePlacement& table : layout.tables) table.owners = {3};
  }
};

TEST(Explain, NamesTheCrowdedRankItsTablesAndTheImbalance) {
  const Crowded crowded;
  const auto found = explain_layout(crowded.workload, crowded.topology, crowded.layout, kInter);
  ASSERT_TRUE(found) << to_string(found.error());
  EXPECT_EQ(found->critical_rank, 3);
  EXPECT_EQ(found->costliest.size(), 5U);
  for (std::size_t i = 1; i < found->costliest.size(); ++i)
    EXPECT_GE(found->costliest[i - 1].total_s(), found->costliest[i].total_s());
  const auto imbalance =
      std::find_if(found->limits.begin(), found->limits.end(),
                   [](const LimitEffect& effect) { return effect.limit == Limit::imbalance; });
  EXPECT_LT(imbalance->without_s, found->iteration_s * 0.8);
  EXPECT_NE(found->verdict.find("Rank 3"), std::string::npos) << found->verdict;
}

TEST(Explain, EditsKeepTheirPromiseAndStayValid) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomCase made = random_case(seed);
    const auto found = explain_layout(made.workload, made.topology, made.layout, kInter);
    ASSERT_TRUE(found) << to_string(found.error());
    for (const SuggestedEdit& edit : found->edits) {
      Layout edited = made.layout;
      edited.tables[static_cast<std::size_t>(edit.table)] = edit.placement;
      EXPECT_FALSE(has_errors(check(made.workload, made.topology, edited, Executor::engine)))
          << edit.what;
      EXPECT_NEAR(*predicted_seconds(made.workload, made.topology, edited, kInter), edit.seconds,
                  edit.seconds * 1e-9);
      EXPECT_LT(edit.seconds, found->iteration_s);
    }
  }
}

TEST(Explain, AFreeLimitIsNeverSlower) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    const RandomCase made = random_case(seed);
    const auto found = explain_layout(made.workload, made.topology, made.layout, kInter);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->limits.size(), kLimits);
    for (std::size_t i = 1; i < found->limits.size(); ++i)
      EXPECT_LE(found->limits[i - 1].without_s, found->limits[i].without_s);
    EXPECT_LE(found->limits.back().without_s, found->iteration_s);
  }
}

TEST(Explain, DescribesPlacements) {
  const Table table{.name = "t", .rows = 100, .dim = 16};
  EXPECT_EQ(describe(data_parallel(table), Exchange::flat), "DP on every rank");
  EXPECT_EQ(describe(table_wise(table, 3), Exchange::flat), "RB flat, whole on rank 3");
  EXPECT_EQ(describe(row_wise(table, {4, 5, 6, 9}, ClusterType::UB), Exchange::flat),
            "UB, 4 row shards on ranks 4-6, 9");
}

TEST(TableArithmetic, PricesEveryFormAsThePredictionDoes) {
  const Crowded crowded;
  const auto forms =
      table_arithmetic(crowded.workload, crowded.topology, crowded.layout, 2, kInter);
  ASSERT_TRUE(forms) << to_string(forms.error());
  ASSERT_EQ(forms->size(), 4U);
  for (const FormArithmetic& form : *forms) {
    Layout layout = crowded.layout;
    layout.tables[2] = form.placement;
    EXPECT_NEAR(*predicted_seconds(crowded.workload, crowded.topology, layout, kInter),
                form.iteration_s, form.iteration_s * 1e-9);
    EXPECT_GT(form.memory_bytes, 0);
    EXPECT_GE(form.lines.size(), 4U);
    for (const ArithmeticLine& line : form.lines) EXPECT_GE(line.value, 0) << line.label;
  }
  EXPECT_FALSE(table_arithmetic(crowded.workload, crowded.topology, crowded.layout, 26, kInter));
}

}  // namespace
}  // namespace shardscope
