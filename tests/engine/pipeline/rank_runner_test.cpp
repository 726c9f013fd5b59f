#include "engine/pipeline/rank_runner.hpp"

#include <gtest/gtest.h>

#include "engine/comm/threads.hpp"

namespace shardscope::engine {
namespace {

/// One rank, one table in that cluster, room for two samples of two ids.
RunPlan runner_plan(ClusterType cluster, std::int32_t row_shards) {
  RunPlan plan;
  plan.workload.tables = {Table{.name = "wide", .rows = 100, .dim = 4}};
  Feature feature;
  feature.name = "f";
  feature.hotness = Hotness::fixed(2);
  plan.workload.features = {feature};
  plan.workload.global_batch = 2;
  plan.layout.ranks = 1;
  plan.layout.table_names = {"wide"};
  plan.layout.tables = {
      cluster == ClusterType::DP
          ? data_parallel(plan.workload.tables[0])
          : row_wise(plan.workload.tables[0],
                     std::vector<std::int32_t>(static_cast<std::size_t>(row_shards)), cluster)};
  plan.schedule = make_schedule(ScheduleKind::serial, presence_of(plan.workload, plan.layout));
  plan.capacity = expected_counts(plan.workload, plan.layout);
  plan.routes = routes_of(plan.workload, plan.topology, plan.layout);
  plan.readers = features_by_table(plan.workload);
  return plan;
}

RankBatch runner_batch(std::int32_t length, std::int32_t stride) {
  RankBatch batch;
  batch.samples = 2;
  FeatureBatch& feature = batch.features.emplace_back();
  feature.lengths = {length, length};
  for (std::int32_t n = 0; n < 2 * length; ++n) feature.ids.i32.push_back(n * stride % 100);
  return batch;
}

Status run_one(const RunPlan& plan, const RankBatch& batch) {
  auto fabric = ThreadsFabric::create(plan.topology, 1);
  EXPECT_TRUE(fabric.has_value());
  const auto ops = make_cpu_ops();
  const BatchRing batches = {{batch}};
  auto runner = RankRunner::create(plan, 0, **fabric, StreamMode::threaded, *ops, batches, nullptr);
  EXPECT_TRUE(runner.has_value());
  return (*runner)->run({0, 1});
}

TEST(RankRunner, RunsWhatItsBuffersHold) {
  for (const ClusterType cluster : {ClusterType::DP, ClusterType::RB, ClusterType::UB}) {
    const Status status = run_one(runner_plan(cluster, 1), runner_batch(2, 7));
    EXPECT_TRUE(status.has_value()) << to_string(cluster) << ": " << to_string(status.error());
  }
}

TEST(RankRunner, NamesTableAndRankWhenABatchDoesNotFit) {
  for (const ClusterType cluster : {ClusterType::DP, ClusterType::RB, ClusterType::UB}) {
    const Status status = run_one(runner_plan(cluster, 1), runner_batch(3, 7));
    ASSERT_FALSE(status.has_value()) << to_string(cluster);
    EXPECT_NE(to_string(status.error()).find("table wide"), std::string::npos);
    EXPECT_NE(to_string(status.error()).find("rank 0"), std::string::npos);
  }
}

}  // namespace
}  // namespace shardscope::engine
