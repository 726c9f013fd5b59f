#include "storage/import/hugectr/hugectr_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/import/import_files.hpp"
#include "tests/shared_data.hpp"
#include "tests/storage/import/plan_samples.hpp"

namespace shardscope::storage {
namespace {

Result<ImportedPlan> import_hugectr(const std::string& text, const ImportContext& context = {}) {
  ImportNotes notes("plan");
  const auto plans = read_hugectr_plans(text, notes);
  if (!plans) return fail(plans.error());
  return resolve_hugectr_plan(plans->front(), context, notes);
}

ImportContext small_context() {
  return {test_plans::small_workload(), test_plans::small_topology(2)};
}

constexpr const char* kNumbered =
    R"({"shard_matrix": [["0", 1], [1, 2, 0], [1, "3", 0], ["1", 3, 0]],
        "shard_strategy": {"mp": [["0", 2], 2, "3"], "dp": [1]}})";

TEST(HugectrPlan, ReadsIndicesAsNumbersAndAsDecimalStrings) {
  const auto plan = import_hugectr(kNumbered, small_context());
  ASSERT_TRUE(plan) << to_string(plan.error());
  const Layout& layout = *plan->layout;
  EXPECT_EQ(layout.tables[1].cluster, ClusterType::DP);
  EXPECT_EQ(layout.tables[2].owners, std::vector<std::int32_t>{1});
  EXPECT_EQ(layout.tables[3].owners, (std::vector<std::int32_t>{2, 3}));
  EXPECT_EQ(layout.tables[3].row_shards, 2);
}

TEST(HugectrPlan, GivesATablesGpusItsShardsColumnByColumn) {
  const auto plan = import_hugectr(kNumbered, small_context());
  ASSERT_TRUE(plan) << to_string(plan.error());
  const TablePlacement& grid = plan->layout->tables[0];
  EXPECT_EQ(grid.row_shards, 2);
  EXPECT_EQ(grid.column_cuts, (std::vector<std::int32_t>{0, 16, 32}));
  EXPECT_EQ(grid.owner(0, 0), 0);
  EXPECT_EQ(grid.owner(1, 0), 1);
  EXPECT_EQ(grid.owner(0, 1), 2);
  EXPECT_EQ(grid.owner(1, 1), 3);
}

TEST(HugectrPlan, ReadsLiteralsOfAScriptWithoutExecutingIt) {
  const std::string script = R"(import hugectr, os
os.system("false")
shard_matrix = [  # one row a GPU
    ["a", "b"], ["a", "b", "c"],
    ["a", "b", "d"],
    ['a', 'b', u'd'],
]
shard_strategy = [("mp", [("a", 2), "c", "d"]), ("dp", ["b",])]
compression_strategy = {
    hugectr.CompressionStrategy.Unique: ["c"],
    hugectr.CompressionStrategy.Reduction: ["a", "d"],
}
config = hugectr.EmbeddingCollectionConfig(comm_strategy=hugectr.CommunicationStrategy.Hierarchical)
)";
  const auto plan = import_hugectr(script, small_context());
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_EQ(plan->layout->tables[2].cluster, ClusterType::UB);
  EXPECT_EQ(plan->layout->tables[0].cluster, ClusterType::RB);
  EXPECT_EQ(plan->layout->options(ClusterType::RB).exchange, Exchange::hierarchical);
}

TEST(HugectrPlan, ReadsALogWithAPrefixBeforeEveryLine) {
  const std::string log =
      "[HCTR][10:11:12.345][INFO][RK0]: start\n"
      "INFO:root:shard_matrix:\n"
      "INFO:root:[['0', '1'], ['1', '2', '0'],\n"
      "INFO:root: ['1', '3', '0'], ['1', '3', '0']]\n"
      "INFO:root:shard_strategy: [('mp', [('0', 2), '2', '3']), ('dp', ['1'])]\n";
  const auto plan = import_hugectr(log, small_context());
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_EQ(plan->layout->tables[3].owners, (std::vector<std::int32_t>{2, 3}));
}

TEST(HugectrPlan, SaysThatAComputedMatrixCannotBeRead) {
  const auto plan = import_hugectr("x = 1\nshard_matrix = make_plan(args)\n", small_context());
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().what, testing::HasSubstr("computed"));
  EXPECT_EQ(plan.error().place, "plan:2");
}

TEST(HugectrPlan, NamesTablesThatThePlanForgot) {
  const auto plan = import_hugectr(
      R"({"shard_matrix": [["a"], ["a"], ["c"], ["c"]], "shard_strategy": {"mp": ["a", "c"]}})",
      small_context());
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().what, testing::HasSubstr("b, d"));
}

TEST(HugectrPlan, RefusesAPlanForAnotherNumberOfGpus) {
  ImportContext context = small_context();
  context.topology = test_plans::small_topology(4);
  const auto plan = import_hugectr(kNumbered, context);
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().what, testing::HasSubstr("4 GPUs"));
}

TEST(HugectrPlan, GivesOnlyTheMatrixWhereSizesAreUnknown) {
  const auto plan = import_hugectr(kNumbered);
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_FALSE(plan->layout);
  EXPECT_EQ(plan->matrix[1], (std::vector<std::string>{"1", "2", "0"}));
}

TEST(HugectrPlan, ReadsZeroOneMatricesOfVersion4) {
  ImportNotes notes("plan");
  const auto plans = read_hugectr_plans(
      R"({"shard_matrix": [[1, 1, 0], [1, 0, 1]], "shard_strategy": {"mp": [1, 2], "dp": [0]}})",
      notes);
  ASSERT_TRUE(plans) << to_string(plans.error());
  EXPECT_EQ(plans->front().matrix[1], (std::vector<std::string>{"0", "2"}));
}

TEST(HugectrPlan, ReadsThePlanFilesOfVersion3) {
  SHARDSCOPE_SHARED_DATA(text, "plans/plan_file_2.json");
  Workload workload = test_plans::small_workload();
  Table fifth = workload.tables[1];
  fifth.name = "e";
  workload.tables.push_back(fifth);
  const auto plan = import_hugectr(text, {workload, test_plans::small_topology(1)});
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_EQ(plan->layout->tables[4].cluster, ClusterType::DP);
  for (std::size_t t = 0; t < 4; ++t) {
    EXPECT_EQ(plan->layout->tables[t].row_shards, 2);
    EXPECT_EQ(plan->layout->tables[t].owners, (std::vector<std::int32_t>{0, 1}));
  }
}

TEST(HugectrPlan, ReadsTheReferencePlans) {
  SHARDSCOPE_SHARED_DATA(embark, "plans/embark_reference_plans.json");
  SHARDSCOPE_SHARED_DATA(mlperf, "plans/mlperf_measured_plans.json");
  ImportNotes notes("plans");
  const auto first = read_hugectr_plans(embark, notes);
  const auto second = read_hugectr_plans(mlperf, notes);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->size(), 5U);
  EXPECT_EQ(second->size(), 7U);
  for (const auto* plans : {&*first, &*second}) {
    for (const HugectrPlan& plan : *plans) {
      const auto resolved = resolve_hugectr_plan(plan, {}, notes);
      ASSERT_TRUE(resolved) << to_string(resolved.error());
      ASSERT_TRUE(resolved->layout);
      EXPECT_EQ(resolved->layout->tables.size(), 26U);
    }
  }
  const auto unique = resolve_hugectr_plan((*first)[2], {}, notes);
  EXPECT_EQ(unique->layout->tables[17].cluster, ClusterType::UB);
  EXPECT_EQ(unique->workload->features[17].pooling, Pooling::concat);
  EXPECT_EQ(unique->layout->options(ClusterType::RB).exchange, Exchange::hierarchical);
}

TEST(HugectrPlan, ReadsALiteralOverSeveralLinesOfALog) {
  ImportNotes notes("log");
  const auto plans = read_hugectr_plans(
      "[1,0]<stdout>:shard_matrix = [['0', '1'],\n"
      "[1,0]<stdout>: ['1', '2']]\n"
      "[1,0]<stdout>:shard_strategy = [('mp', ['0', '2']),\n"
      "[1,0]<stdout>: ('dp', ['1'])]\n",
      notes);
  ASSERT_TRUE(plans) << to_string(plans.error());
  ASSERT_EQ(plans->size(), 1U);
  EXPECT_EQ(plans->front().matrix, (std::vector<std::vector<std::string>>{{"0", "1"}, {"1", "2"}}));
  EXPECT_EQ(plans->front().data_parallel, std::vector<std::string>{"1"});
}

TEST(HugectrPlan, SaysThatAMatrixIsCutOff) {
  ImportNotes notes("train.py");
  const auto plans = read_hugectr_plans("import hugectr\nshard_matrix = [['0', '1'], ['1',", notes);
  ASSERT_FALSE(plans);
  EXPECT_THAT(plans.error().what, testing::HasSubstr("cut off"));
  EXPECT_EQ(plans.error().place, "train.py:2");
}

}  // namespace
}  // namespace shardscope::storage
