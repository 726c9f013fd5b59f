#include "storage/import/torchrec/torchrec_plan.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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

// Two tables of two modules, as json.dumps and as Python print them.
const std::string kPlanJson =
    R"({"plan": {"m.ebc": {"a": {"sharding_type": "table_wise", "compute_kernel": "fused",
  "ranks": [1], "shards": [{"shard_offsets": [0, 0], "shard_sizes": [10, 8],
  "placement": "rank:1/cuda:1"}]}}, "m.ec": {"b": {"sharding_type": "column_wise",
  "compute_kernel": "fused", "ranks": [0, 1], "shards": [
  {"shard_offsets": [0, 0], "shard_sizes": [10, 4], "placement": "rank:0/cuda:0"},
  {"shard_offsets": [0, 4], "shard_sizes": [10, 4], "placement": "rank:1/cuda:1"}]}}}})";

void expect_both_tables(const std::string& text) {
  ImportNotes notes("log");
  const auto plan = read_torchrec_json(text, notes);
  ASSERT_TRUE(plan) << to_string(plan.error());
  ASSERT_EQ(plan->tables.size(), 2U);
  EXPECT_EQ(plan->tables[0].module, "m.ebc");
  EXPECT_EQ(plan->tables[0].table, "a");
  EXPECT_EQ(plan->tables[1].module, "m.ec");
  EXPECT_EQ(plan->tables[1].table, "b");
  ASSERT_EQ(plan->tables[1].shards.size(), 2U);
  EXPECT_EQ(plan->tables[1].shards[1].rank, 1);
  EXPECT_FALSE(plan->cut);
}

TEST(TorchrecPlan, FindsJsonInsideALog) {
  expect_both_tables(fmt::format("10:00 [rank0] INFO plan={}\nstep 1 {{loss}} 0.3\n", kPlanJson));
  std::string prefixed = "[rank0]: ";
  for (const char letter : kPlanJson) {
    prefixed += letter;
    if (letter == '\n') prefixed += "[rank0]: ";
  }
  expect_both_tables(prefixed);
  std::string python = kPlanJson;
  std::replace(python.begin(), python.end(), '"', '\'');
  expect_both_tables(fmt::format("plan: {}", python));
}

TEST(TorchrecPlan, KeepsTheTablesBeforeACutAndSaysSo) {
  ImportNotes notes("plan");
  const auto plan = read_torchrec_json(kPlanJson.substr(0, kPlanJson.rfind("rank:0")), notes);
  ASSERT_TRUE(plan) << to_string(plan.error());
  ASSERT_EQ(plan->tables.size(), 1U);
  EXPECT_EQ(plan->tables[0].table, "a");
  EXPECT_TRUE(plan->cut);
  ASSERT_EQ(notes.warning_count(), 1);
  EXPECT_THAT(notes.warnings()[0].message, testing::HasSubstr("\"b\""));
}

TEST(TorchrecPlan, ReadsAPrintedPlanWhoseFirstLineAloneHasAPrefix) {
  ImportNotes notes("log");
  const auto plan = read_torchrec_text(
      "INFO 10:00 the plan: module: m.ebc\n\n"
      "  param  | sharding type | compute kernel | ranks\n"
      "-------- | ------------- | -------------- | -----\n"
      "a     | table_wise    | fused          | [1]\n"
      "b     | column_wise   | fused          | [0, 1]\n\n"
      "param | shard offsets | shard sizes | placement\n"
      "----- | ------------- | ----------- | ---------\n"
      "a     | [0, 0]        | [10, 8]     | rank:1/cuda:1\n"
      "b     | [0, 0]        | [10, 4]     | rank:0/cuda:0\n",
      notes);
  ASSERT_TRUE(plan) << to_string(plan.error());
  ASSERT_EQ(plan->tables.size(), 1U) << "b's second shard is missing: it is left out";
  EXPECT_EQ(plan->tables[0].module, "m.ebc");
  EXPECT_EQ(plan->tables[0].shards.size(), 1U);
  EXPECT_TRUE(plan->cut);
  EXPECT_THAT(notes.warnings()[0].message, testing::HasSubstr("1 of 2 shards"));
}

TEST(TorchrecPlan, BoundsShardsThatThePlanDoesNotList) {
  std::string text = "{\"m\": {";
  Workload workload;
  for (int t = 0; t < 100; ++t) {
    const std::string name = fmt::format("t{}", t);
    text += (t == 0 ? "\"" : ", \"") + name +
            "\": {\"sharding_type\": \"row_wise\", \"compute_kernel\": \"fused\"" +
            (t == 0 ? ", \"ranks\": [65535]" : "") + "}";
    Table table;
    table.name = name;
    table.rows = 10;
    table.dim = 4;
    workload.tables.push_back(table);
  }
  ImportNotes notes("plan");
  const auto plan = read_torchrec_json(text + "}}", notes);
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_FALSE(resolve_torchrec_plan(*plan, {workload, std::nullopt}, notes));
}

}  // namespace
}  // namespace shardscope::storage
