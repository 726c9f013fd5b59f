#include "storage/import/torchrec_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage/import/plan_samples.hpp"

namespace shardscope::storage {
namespace {

constexpr const char* kPrinted =
    "I0101 10:00:00 main.py:12] module: model.sparse.ebc\n"
    "I0101 10:00:00 main.py:12] \n"
    "I0101 10:00:00 main.py:12]  param | sharding type | compute kernel | ranks\n"
    "I0101 10:00:00 main.py:12] ------ | ------------- | -------------- | ---------\n"
    "I0101 10:00:00 main.py:12] user   | column_wise   | fused          | [3, 0]\n"
    "I0101 10:00:00 main.py:12] item   | row_wise      | fused          | [0, 1, 2, 3]\n"
    "I0101 10:00:00 main.py:12] \n"
    "I0101 10:00:00 main.py:12]  param | shard offsets | shard sizes | placement\n"
    "I0101 10:00:00 main.py:12] ------ | ------------- | ----------- | -------------\n"
    "I0101 10:00:00 main.py:12] user   | [0, 0]        | [100, 64]   | rank:3/cuda:1\n"
    "I0101 10:00:00 main.py:12] user   | [0, 64]       | [100, 32]   | rank:0/cuda:0\n"
    "I0101 10:00:00 main.py:12] item   | [0, 0]        | [2, 8]      | rank:0/cuda:0\n"
    "I0101 10:00:00 main.py:12] item   | [2, 0]        | [2, 8]      | rank:1/cuda:1\n"
    "I0101 10:00:00 main.py:12] item   | [4, 0]        | [1, 8]      | rank:2/cuda:0\n"
    "I0101 10:00:00 main.py:12] item   | [5, 0]        | [0, 8]      | rank:3/cuda:1\n";

TEST(TorchrecPlan, ReadsAPrintedPlanThroughALogsPrefix) {
  ImportNotes notes("log");
  const auto plan = read_torchrec_text(kPrinted, notes);
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_EQ(plan->ranks, 4);
  EXPECT_EQ(plan->local_ranks, 2);
  const auto resolved = resolve_torchrec_plan(*plan, {}, notes);
  ASSERT_TRUE(resolved) << to_string(resolved.error());
  const Layout& layout = *resolved->layout;
  EXPECT_EQ(resolved->workload->tables[0].module_path, "model.sparse.ebc");
  EXPECT_EQ(resolved->workload->tables[0].dim, 96);
  EXPECT_EQ(layout.tables[0].owners, (std::vector<std::int32_t>{3, 0}));
  EXPECT_EQ(layout.tables[0].column_cuts, (std::vector<std::int32_t>{0, 64, 96}));
  EXPECT_EQ(layout.tables[1].row_cuts, (std::vector<std::int64_t>{0, 2, 4, 5, 5}));
  EXPECT_GE(notes.warning_count(), 2);  // features and machine are assumptions
}

TEST(TorchrecPlan, ReadsTheSerializedForm) {
  ImportNotes notes("plan.json");
  const auto plan = read_torchrec_json(R"({"plan": {"m": {
      "t": {"sharding_type": "table_wise", "compute_kernel": "fused_uvm", "ranks": [1],
            "shards": [{"shard_offsets": [0, 0], "shard_sizes": [7, 4],
                        "placement": "rank:1/cuda:1"}]},
      "r": {"sharding_type": "data_parallel", "compute_kernel": "dense", "ranks": [0, 1]}}}})",
                                       notes);
  ASSERT_TRUE(plan) << to_string(plan.error());
  const auto resolved = resolve_torchrec_plan(*plan, {}, notes);
  ASSERT_TRUE(resolved) << to_string(resolved.error());
  ASSERT_EQ(resolved->layout->tables.size(), 1U) << "the size of r is nowhere";
  EXPECT_EQ(resolved->layout->tables[0].tiers.front().tier, Tier::uvm);
  bool named = false;
  for (const ImportNote& note : notes.warnings()) named = named || note.place == "m.r";
  EXPECT_TRUE(named) << "what is left out is named";
}

TEST(TorchrecPlan, TakesPlansWithoutShardsWhereTheWorkloadGivesSizes) {
  ImportNotes notes("plan");
  const auto plan = read_torchrec_json(R"({"m": {
      "a": {"sharding_type": "row_wise", "compute_kernel": "fused", "ranks": [0, 1, 2, 3]},
      "b": {"sharding_type": "data_parallel", "compute_kernel": "dense", "ranks": [0, 1, 2, 3]},
      "c": {"sharding_type": "table_wise", "compute_kernel": "fused", "ranks": [2]},
      "d": {"sharding_type": "column_wise", "compute_kernel": "fused", "ranks": [1, 3]}}})",
                                       notes);
  ASSERT_TRUE(plan) << to_string(plan.error());
  const auto resolved = resolve_torchrec_plan(
      *plan, {test_plans::small_workload(), test_plans::small_topology(2)}, notes);
  ASSERT_TRUE(resolved) << to_string(resolved.error());
  EXPECT_EQ(resolved->layout->tables[0].row_cuts,
            (std::vector<std::int64_t>{0, 250, 500, 750, 1000}));
  EXPECT_EQ(resolved->layout->tables[3].column_cuts, (std::vector<std::int32_t>{0, 16, 32}));
}

TEST(TorchrecPlan, RefusesShardsThatAreNoGrid) {
  std::vector<TorchrecShardEntry> shards = {{0, 0, 10, 4, 0}, {5, 4, 5, 4, 1}};
  EXPECT_FALSE(placement_of_shards(shards, ClusterType::RB));
  shards[1] = {0, 4, 10, 4, 1};
  EXPECT_TRUE(placement_of_shards(shards, ClusterType::RB));
}

TEST(TorchrecPlan, RefusesATableOfAnotherSize) {
  ImportNotes notes("plan");
  const auto plan = read_torchrec_json(R"({"m": {"a": {"sharding_type": "table_wise",
      "compute_kernel": "fused", "ranks": [0], "shards": [{"shard_offsets": [0, 0],
      "shard_sizes": [999, 32], "placement": "rank:0/cuda:0"}]}}})",
                                       notes);
  Workload workload = test_plans::small_workload();
  workload.tables.resize(1);
  workload.features.resize(1);
  const auto resolved =
      resolve_torchrec_plan(*plan, {workload, test_plans::small_topology(1)}, notes);
  ASSERT_FALSE(resolved);
  EXPECT_THAT(resolved.error().expected, testing::HasSubstr("1000"));
}

}  // namespace
}  // namespace shardscope::storage
