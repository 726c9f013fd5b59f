#include "planner/torchrec_estimator.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "torchrec_production_plan.hpp"

namespace shardscope {
namespace {

using testing_planner::ProductionTable;

double at_quantile(std::vector<double> values, double quantile) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(quantile * static_cast<double>(values.size() - 1))];
}

TEST(TorchRecEstimator, ReproducesTheProductionPlan) {
  const auto plan = testing_planner::production_plan();
  if (plan.empty()) GTEST_SKIP() << "../shared/data/plans/torchrec_prod_plan_1935.csv is absent";
  ASSERT_EQ(plan.size(), 1935U);
  const TorchRecMachine machine = testing_planner::production_machine();
  std::vector<double> time_errors, storage_errors;
  for (const ProductionTable& table : plan) {
    double ms = 0, bytes = 0;
    for (const TorchRecShard& shard :
         torchrec_shards(table.table, table.form, machine, table.column_width)) {
      ms += shard.total_ms();
      bytes += shard.hbm_bytes;
    }
    // Printed with three digits: smaller figures say nothing.
    if (table.perf_ms > 0.05) time_errors.push_back(std::abs(ms / table.perf_ms - 1));
    const double gib = bytes / 1024 / 1024 / 1024;
    if (table.hbm_gib > 0.05) storage_errors.push_back(std::abs(gib / table.hbm_gib - 1));
  }
  EXPECT_GT(time_errors.size(), 1900U);
  EXPECT_LE(at_quantile(time_errors, 0.5), 0.001);
  EXPECT_LE(at_quantile(time_errors, 0.99), 0.02);
  EXPECT_GT(storage_errors.size(), 700U);
  EXPECT_LE(at_quantile(storage_errors, 0.5), 0.002);
}

TEST(TorchRecEstimator, RowWiseSequenceTableIsExact) {
  const auto plan = testing_planner::production_plan();
  if (plan.empty()) GTEST_SKIP() << "../shared/data/plans/torchrec_prod_plan_1935.csv is absent";
  for (const ProductionTable& table : plan) {
    if (table.form != TorchRecForm::row_wise) continue;
    double ms = 0, bytes = 0;
    for (const TorchRecShard& shard :
         torchrec_shards(table.table, table.form, testing_planner::production_machine())) {
      ms += shard.total_ms();
      bytes += shard.hbm_bytes;
    }
    EXPECT_NEAR(ms / table.perf_ms, 1, 0.001);
    EXPECT_NEAR(bytes / 1024 / 1024 / 1024 / table.hbm_gib, 1, 0.001);
  }
}

TEST(TorchRecEstimator, CutsAsTorchRecDoes) {
  TorchRecTable table;
  table.rows = 10;
  table.dim = 128;
  table.inputs = {{1, 1}};
  TorchRecMachine machine;
  machine.world = machine.local_world = 4;
  const auto rows_of = [&](TorchRecForm form) {
    std::vector<std::int64_t> rows;
    for (const TorchRecShard& shard : torchrec_shards(table, form, machine))
      rows.push_back(shard.rows);
    return rows;
  };
  EXPECT_EQ(rows_of(TorchRecForm::row_wise), (std::vector<std::int64_t>{3, 3, 3, 1}));
  table.rows = 5;
  EXPECT_EQ(rows_of(TorchRecForm::row_wise), (std::vector<std::int64_t>{2, 2, 1}));
  EXPECT_EQ(torchrec_shards(table, TorchRecForm::column_wise, machine).size(), 1U);
  table.dim = 1280;
  EXPECT_EQ(torchrec_shards(table, TorchRecForm::column_wise, machine).size(), 10U);
  EXPECT_EQ(torchrec_shards(table, TorchRecForm::column_wise, machine, 64).size(), 20U);
}

}  // namespace
}  // namespace shardscope
