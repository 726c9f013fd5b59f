#include "planner/baselines.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "layout/check.hpp"
#include "layout/models.hpp"

namespace shardscope {
namespace {

Workload five_tables() {
  Workload workload;
  workload.name = "five";
  for (const std::int64_t rows : {100, 5000, 3, 2000, 1000}) {
    Table table;
    table.name = fmt::format("t{}", workload.tables.size());
    table.rows = rows;
    table.dim = 8;
    Feature feature;
    feature.name = fmt::format("f{}", workload.features.size());
    feature.table = static_cast<std::int32_t>(workload.tables.size());
    workload.tables.push_back(table);
    workload.features.push_back(feature);
  }
  workload.features[4].pooling = Pooling::sequence;
  workload.global_batch = 64;
  return workload;
}

Topology two_by_two() {
  Topology topology;
  topology.hosts = 2;
  topology.gpus_per_host = 2;
  topology.fast_domain = 2;
  return topology;
}

TEST(Baselines, EveryNameGivesAGridOfOwnersInRange) {
  const Workload workload = five_tables();
  const Topology topology = two_by_two();
  for (const std::string& name : baseline_names()) {
    const Result<Layout> layout = baseline(name, workload, topology);
    ASSERT_TRUE(layout.has_value()) << name;
    EXPECT_EQ(layout->ranks, 4);
    ASSERT_EQ(layout->tables.size(), 5u);
    EXPECT_EQ(layout->table_names[3], "t3");
    for (const TablePlacement& placement : layout->tables) {
      if (placement.cluster == ClusterType::DP) continue;
      EXPECT_EQ(placement.owners.size(), static_cast<std::size_t>(placement.row_shards) *
                                             static_cast<std::size_t>(placement.column_shards()));
      for (const std::int32_t owner : placement.owners) {
        EXPECT_GE(owner, 0);
        EXPECT_LT(owner, 4);
      }
    }
  }
}

TEST(Baselines, UnpooledTablesAreUniqueBased) {
  const Result<Layout> layout = baseline("uniform", five_tables(), two_by_two());
  EXPECT_EQ(layout->tables[0].cluster, ClusterType::RB);
  EXPECT_EQ(layout->tables[4].cluster, ClusterType::UB);
}

TEST(Baselines, TableRowWiseStaysOnOneHost) {
  const Result<Layout> layout = baseline("table_row_wise", five_tables(), two_by_two());
  EXPECT_EQ(layout->tables[0].owners, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(layout->tables[1].owners, (std::vector<std::int32_t>{2, 3}));
}

TEST(Baselines, TableWiseBalancesLargestFirst) {
  const Result<Layout> layout = baseline("table_wise", five_tables(), two_by_two());
  std::set<std::int32_t> owners;
  for (const std::size_t large : {1u, 3u, 4u, 0u}) owners.insert(layout->tables[large].owners[0]);
  EXPECT_EQ(owners.size(), 4u);
}

TEST(Baselines, NoTableIsCutIntoMoreShardsThanRows) {
  const Result<Layout> layout = baseline("uniform", five_tables(), two_by_two());
  EXPECT_EQ(layout->tables[2].row_shards, 3);
}

TEST(Baselines, UnknownNameListsTheKnownOnes) {
  const Result<Layout> layout = baseline("clever", five_tables(), two_by_two());
  ASSERT_FALSE(layout.has_value());
  EXPECT_EQ(layout.error().kind, ErrorKind::usage);
  EXPECT_NE(layout.error().expected.find("table_row_wise"), std::string::npos);
}

TEST(Baselines, UnknownNameSuggestsTheNearest) {
  EXPECT_EQ(baseline("table_rowwise", five_tables(), two_by_two()).error().cure,
            "Did you mean table_row_wise?");
}

TEST(Baselines, ATableLargerThanAHostGoesOverAllRanks) {
  Topology topology = two_by_two();
  topology.gpu.memory_bytes.value = 2000 * 8 * 4 / 2;
  const Result<Layout> layout = baseline("table_row_wise", five_tables(), topology);
  EXPECT_EQ(layout->tables[3].owners, (std::vector<std::int32_t>{2, 3}));
  EXPECT_EQ(layout->tables[1].owners, (std::vector<std::int32_t>{0, 1, 2, 3}));
}

/// "rule: message" of the errors that more memory would not cure.
std::string errors_beside_memory(const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& one : violations) {
    if (one.severity == Severity::error && one.rule.rfind("memory.", 0) != 0) {
      text += one.rule + ": " + one.message + "\n";
    }
  }
  return text;
}

class BaselinesOfAModel : public testing::TestWithParam<std::string> {};

TEST_P(BaselinesOfAModel, AreValidForTheEngineOnEveryShapeOfMachine) {
  const Workload workload = *model_by_name(GetParam());
  for (const char* machine :
       {"host-cpu:2x4", "host-cpu:3x2", "dgx-h100:2", "gb200:2", "a40-pcie:1x1"}) {
    const Topology topology = *topology_by_name(machine);
    for (const std::string& name : baseline_names()) {
      SCOPED_TRACE(name + " on " + machine);
      const Result<Layout> layout = baseline(name, workload, topology);
      ASSERT_TRUE(layout);
      EXPECT_EQ(errors_beside_memory(check(workload, topology, *layout, Executor::engine)), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, BaselinesOfAModel, testing::ValuesIn(model_names()),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Baselines, WithUnpooledFeaturesAreValidForTheEngine) {
  const Workload workload = five_tables();
  const Topology topology = two_by_two();
  for (const std::string& name : baseline_names()) {
    const Result<Layout> layout = baseline(name, workload, topology);
    EXPECT_EQ(errors_beside_memory(check(workload, topology, *layout, Executor::engine)), "")
        << name;
  }
}

}  // namespace
}  // namespace shardscope
