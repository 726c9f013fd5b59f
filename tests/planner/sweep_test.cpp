#include "planner/sweep.hpp"

#include <gtest/gtest.h>

#include "planner/planners.hpp"
#include "random_case.hpp"

namespace shardscope {
namespace {

using testing_planner::random_case;
using testing_planner::RandomCase;

TEST(Sweep, GoesThroughEveryCombinationInOrder) {
  const RandomCase made = random_case(5);
  const SweepAxes axes{.nodes = {1, 2},
                       .batches = {256, 512},
                       .planners = {"round_robin", "uniform"},
                       .optimizers = {OptimizerKind::sgd, OptimizerKind::adagrad},
                       .dtypes = {DType::fp32, DType::fp16},
                       .wires = {DType::fp32}};
  EXPECT_EQ(sweep_size(axes), 32U);
  std::vector<SweepRow> rows;
  const auto done = sweep(
      made.workload, made.topology, {}, axes, [&](const SweepRow& row) { rows.push_back(row); },
      [] { return true; });
  ASSERT_TRUE(done);
  ASSERT_EQ(rows.size(), 32U);
  EXPECT_EQ(*done, 32U);
  EXPECT_EQ(rows[0].what.dtype, "fp32");
  EXPECT_EQ(rows[1].what.dtype, "fp16");
  EXPECT_EQ(rows[2].what.optimizer, "adagrad");
  EXPECT_EQ(rows[4].what.planner, "uniform");
  EXPECT_EQ(rows[8].what.batch, 512);
  EXPECT_EQ(rows[16].what.nodes, 2);
  for (const SweepRow& row : rows) {
    if (!row.fits) {
      EXPECT_FALSE(row.why_not.empty());
      continue;
    }
    EXPECT_GE(row.predicted_s, row.lower_bound_s * (1 - 1e-9));
    EXPECT_NEAR(row.samples_per_s, static_cast<double>(row.what.batch) / row.predicted_s,
                row.samples_per_s * 1e-9);
    EXPECT_GT(row.memory_bytes, 0);
  }
}

TEST(Sweep, ARowIsThePredictionOfThatPlan) {
  const RandomCase made = random_case(11);
  std::vector<SweepRow> rows;
  ASSERT_TRUE(sweep(
      made.workload, made.topology, {}, {.planners = {"round_robin"}},
      [&](const SweepRow& row) { rows.push_back(row); }, [] { return true; }));
  const auto plan = named_plan("round_robin", made.workload, made.topology, {});
  ASSERT_TRUE(plan && rows.size() == 1 && rows[0].fits);
  EXPECT_EQ(rows[0].predicted_s,
            *predicted_seconds(made.workload, made.topology, plan->layout, {}));
}

TEST(Sweep, KeepsWhatWasDoneWhenItIsStopped) {
  const RandomCase made = random_case(7);
  std::size_t rows = 0;
  const auto done = sweep(
      made.workload, made.topology, {}, {.batches = {256, 512, 1024, 2048}},
      [&](const SweepRow&) { ++rows; }, [&] { return rows < 2; });
  ASSERT_TRUE(done);
  EXPECT_EQ(*done, 2U);
  EXPECT_EQ(rows, 2U);
}

TEST(Sweep, RefusesUnknownPlanners) {
  const RandomCase made = random_case(7);
  const auto done = sweep(
      made.workload, made.topology, {}, {.planners = {"magic"}}, [](const SweepRow&) {},
      [] { return true; });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace shardscope
