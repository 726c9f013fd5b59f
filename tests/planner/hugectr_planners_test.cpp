#include "planner/hugectr_planners.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "planner/numpy_order.hpp"
#include "random_case.hpp"
#include "tests/shared_data.hpp"

namespace shardscope {
namespace {

using Matrix = std::vector<std::vector<std::int32_t>>;

const std::vector<std::int64_t> kDcnRows = {
    40000000, 39060,    17295,    7424,     20265,  3,     7122, 1543, 63,
    40000000, 3067956,  405282,   10,       2209,   11938, 155,  4,    976,
    14,       40000000, 40000000, 40000000, 590152, 12973, 108,  36};
const std::vector<std::int32_t> kDcnHotness = {3, 2, 1, 2, 6, 1, 1,  1,   1,  7,  3, 8, 1,
                                               6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1};

Workload dcn_workload(std::int64_t batch) {
  Workload workload;
  workload.name = "dcnv2";
  workload.global_batch = batch;
  workload.wire = DType::fp16;
  for (std::size_t t = 0; t < kDcnRows.size(); ++t) {
    workload.tables.push_back({.name = fmt::format("{}", t),
                               .rows = kDcnRows[t],
                               .dim = 128,
                               .optimizer = make_optimizer(OptimizerKind::adagrad)});
    workload.features.push_back({.name = fmt::format("f{}", t),
                                 .table = static_cast<std::int32_t>(t),
                                 .hotness = Hotness::fixed(kDcnHotness[t])});
  }
  return workload;
}

std::filesystem::path plans_file(const std::string& name) {
  return test_data::shared_path("plans/" + name);
}

Matrix matrix_from(const nlohmann::json& json) {
  Matrix matrix;
  for (const auto& rank : json) {
    std::vector<std::int32_t>& row = matrix.emplace_back();
    for (const auto& id : rank)
      row.push_back(id.is_string() ? std::stoi(id.get<std::string>()) : id.get<std::int32_t>());
  }
  return matrix;
}

/// Equal when tables of the same hotness, width and number of shards may stand for each other, and
/// ranks are compared as sets: what an unstable sort of equal keys can change, and no more.
bool equal_but_for_ties(const Matrix& a, const Matrix& b, const Workload& workload) {
  const auto kinds = [&](const Matrix& matrix) {
    std::map<std::int32_t, int> shards;
    for (const auto& rank : matrix)
      for (const std::int32_t table : rank) ++shards[table];
    std::vector<std::multiset<std::tuple<double, int, int>>> ranks;
    for (const auto& rank : matrix) {
      auto& kind = ranks.emplace_back();
      for (const std::int32_t table : rank)
        kind.insert({workload.features[static_cast<std::size_t>(table)].hotness.mean(),
                     workload.tables[static_cast<std::size_t>(table)].dim, shards[table]});
    }
    std::sort(ranks.begin(), ranks.end());
    return ranks;
  };
  return kinds(a) == kinds(b);
}

TEST(NumpyOrder, SmallSortsAreStableAndAllSortsAreSorted) {
  EXPECT_EQ(numpy_argsort({1, 0, 1, 0}), (std::vector<std::size_t>{1, 3, 0, 2}));
  EXPECT_EQ(numpy_argsort_descending({1, 0, 1, 0}), (std::vector<std::size_t>{2, 0, 3, 1}));
  std::mt19937_64 random(1);
  for (int n = 0; n < 400; ++n) {
    std::vector<double> keys(static_cast<std::size_t>(n));
    for (double& key : keys) key = static_cast<double>(random() % 9);
    const std::vector<std::size_t> order = numpy_argsort(keys);
    for (std::size_t i = 1; i < order.size(); ++i) EXPECT_LE(keys[order[i - 1]], keys[order[i]]);
    EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), keys.size());
  }
}

TEST(MlperfPlanner, ReproducesTheLoggedPlans) {
  const auto path = plans_file("mlperf_measured_plans.json");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent";
  int exact = 0, plans = 0;
  for (const auto& logged : nlohmann::json::parse(std::ifstream(path))) {
    const auto ranks = static_cast<std::int32_t>(logged.at("shard_matrix").size());
    const Workload workload = dcn_workload(logged.at("batchsize"));
    const auto setting = [&](const char* key) { return fmt::format("{}", logged.value(key, 0.0)); };
    const auto plan = mlperf_plan(workload, testing_planner::some_topology(1, ranks), false,
                                  {{"mem_comm_bw_ratio", setting("mem_comm_bw_ratio")},
                                   {"mem_comm_work_ratio", setting("mem_comm_work_ratio")},
                                   {"memory_cap_gib", setting("dram_cap_gb")},
                                   {"dp_threshold_gb", setting("dp_threshold_gb")}});
    ASSERT_TRUE(plan) << to_string(plan.error());
    SCOPED_TRACE(logged.at("example_log").get<std::string>());
    double cost = 0;
    for (std::size_t r = 0; r < logged.at("hotness_cost").size(); ++r)
      cost = std::max(cost, logged.at("hotness_cost")[r].get<double>() +
                                logged.at("table_cost")[r].get<double>());
    EXPECT_NEAR(plan->cost, cost, cost * 1e-6);
    const Matrix matrix = matrix_from(logged.at("shard_matrix"));
    EXPECT_TRUE(equal_but_for_ties(plan->matrix, matrix, workload));
    exact += plan->matrix == matrix ? 1 : 0;
    ++plans;
  }
  EXPECT_EQ(plans, 7);
  EXPECT_GE(exact, 4);
}

TEST(MlperfPlanner, ReproducesTheMultiNodePlans) {
  // Plan figures of HugeCTR's samples/dlrm for 8x8 and 16x8.
  const PlanSettings settings = {{"mem_comm_bw_ratio", "67"}, {"dp_threshold_gb", "0.0125"}};
  const auto eight =
      mlperf_plan(dcn_workload(135168), testing_planner::some_topology(8, 8), true, settings);
  ASSERT_TRUE(eight);
  EXPECT_DOUBLE_EQ(eight->cost, 61.5);
  const auto sixteen =
      mlperf_plan(dcn_workload(135168), testing_planner::some_topology(16, 8), true, settings);
  ASSERT_TRUE(sixteen);
  EXPECT_DOUBLE_EQ(sixteen->cost, 41.75);
  for (std::size_t node = 0; node < 16; ++node) {
    const std::vector<std::int32_t>& tables = sixteen->matrix[node * 8];
    if (node < 6) {
      EXPECT_EQ(tables.front(), node < 4 ? 20 : 21);
    }
  }
  EXPECT_EQ(sixteen->layout.tables[20].row_shards, 32);
  EXPECT_EQ(sixteen->layout.options(ClusterType::RB).exchange, Exchange::hierarchical);
}

TEST(EmbarkPlanner, ReproducesTheReferencePlans) {
  const auto path = plans_file("embark_reference_plans.json");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent";
  int exact = 0, plans = 0;
  for (const auto& reference : nlohmann::json::parse(std::ifstream(path))) {
    const std::string kind = reference.at("sharding_plan");
    if (kind == "table_row_wise") continue;
    const Workload workload = dcn_workload(reference.at("batchsize"));
    const auto number = [&](const char* key) {
      return fmt::format("{}", reference.at(key).get<double>());
    };
    const auto plan = embark_plan(
        workload,
        testing_planner::some_topology(reference.at("num_nodes"),
                                       reference.at("num_gpus_per_node")),
        kind == "hier_auto",
        {{"mem_comm_bw_ratio", number("mem_comm_bw_ratio")},
         {"mem_comm_work_ratio", number("mem_comm_work_ratio")},
         {"dp_threshold", number("dp_threshold")},
         {"dense_threshold", number("dense_threshold")},
         {"memory_cap_gib", number("memory_cap_for_embedding")},
         {"column_wise", reference.at("use_column_wise_shard").get<bool>() ? "true" : "false"},
         {"optimizer", reference.at("optimizer")}});
    ASSERT_TRUE(plan) << to_string(plan.error());
    const Matrix matrix = matrix_from(reference.at("shard_matrix"));
    EXPECT_TRUE(equal_but_for_ties(plan->matrix, matrix, workload))
        << kind << " " << reference.at("memory_cap_for_embedding");
    exact += plan->matrix == matrix ? 1 : 0;
    for (const auto& entry : reference.at("shard_strategy").back().at(1)) {
      if (!entry.is_array()) continue;
      const auto table = static_cast<std::size_t>(std::stoi(entry[0].get<std::string>()));
      EXPECT_EQ(plan->column_factors[table], entry[1].get<int>()) << table;
    }
    ++plans;
  }
  EXPECT_GE(plans, 4);
  EXPECT_GE(exact, 3);
}

TEST(EmbarkPlanner, HasTheReferenceCost) {
  const auto plan = embark_plan(dcn_workload(55296), testing_planner::some_topology(1, 8), false,
                                {{"mem_comm_bw_ratio", "7.444444444444445"}});
  ASSERT_TRUE(plan);
  EXPECT_NEAR(plan->cost, 979107840, 1);
}

TEST(EmbarkPlanner, ThresholdsChooseClusters) {
  const auto plan = embark_plan(dcn_workload(65536), testing_planner::some_topology(2, 8), true,
                                {{"dp_threshold", "8"}, {"dense_threshold", "4"}});
  ASSERT_TRUE(plan);
  std::array<int, 3> clusters{};
  for (const TablePlacement& table : plan->layout.tables)
    ++clusters[static_cast<std::size_t>(table.cluster)];
  EXPECT_EQ(clusters, (std::array<int, 3>{8, 14, 4}));
  EXPECT_EQ(plan->layout.tables[17].row_shards, 16);  // UB over all ranks
}

TEST(HugectrPlanners, TellWhatIsWrong) {
  const Topology one = testing_planner::some_topology(1, 8);
  EXPECT_EQ(mlperf_plan(dcn_workload(65536), one, true, {}).error().kind, ErrorKind::usage);
  EXPECT_EQ(mlperf_plan(dcn_workload(65536), one, false, {{"memory_cap_gib", "3"}}).error().kind,
            ErrorKind::infeasible);
  const auto unknown = embark_plan(dcn_workload(65536), one, false, {{"ratio", "3"}});
  EXPECT_NE(to_string(unknown.error()).find("mem_comm_bw_ratio"), std::string::npos);
  EXPECT_EQ(embark_plan(dcn_workload(65536), one, false, {{"optimizer", "adam"}}).error().kind,
            ErrorKind::usage);
}

}  // namespace
}  // namespace shardscope
