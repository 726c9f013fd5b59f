#include <gtest/gtest.h>

#include "layout/json.hpp"
#include "tests/shared_data.hpp"

namespace shardscope {
namespace {

Workload must_load(const std::string& text) {
  const auto workload = workload_from_json(text, "list.json");
  EXPECT_TRUE(workload) << to_string(workload.error());
  return workload.value_or(Workload{});
}

std::string error_loading(const std::string& text) {
  const auto workload = workload_from_json(text, "list.json");
  return workload ? "no error" : to_string(workload.error());
}

TEST(TableList, TablesSharedByFeaturesKeepTheirHotness) {
  const Workload workload = must_load(R"({"name": "m", "alpha": 1.05, "optimizer": "adagrad",
    "global_batch": 65536, "mlp": [256, 128], "note": "x",
    "tables": [{"name": "t0", "rows": 10, "dim": 8, "hotness": 11, "features": [1, 10]},
               {"name": "t1", "rows": 20, "dim": 16, "hotness": 1, "features": [1], "group": 4}]})");
  ASSERT_EQ(workload.tables.size(), 2U);
  ASSERT_EQ(workload.features.size(), 3U);
  EXPECT_EQ(workload.features[0].name, "t0.0");
  EXPECT_EQ(workload.features[1].name, "t0.1");
  EXPECT_EQ(workload.features[2].name, "t1");
  EXPECT_EQ(workload.features[1].hotness, Hotness::fixed(10));
  EXPECT_EQ(workload.features[1].table, 0);
  EXPECT_EQ(workload.features[2].table, 1);
  EXPECT_EQ(workload.features[0].ids.alpha, 1.05);
  EXPECT_EQ(workload.tables[0].optimizer, make_optimizer(OptimizerKind::adagrad));
  EXPECT_EQ(workload.dense.interaction, Interaction::concat);
  EXPECT_EQ(workload.dense.top_mlp, (std::vector<std::int32_t>{256, 128, 1}));
}

TEST(TableList, GroupsExpandToNumberedTables) {
  const Workload workload = must_load(R"({"name": "g", "groups": [
    {"num_tables": 2, "rows": 10, "dim": 8, "hotness": 3},
    {"num_tables": 1, "rows": 20, "dim": 4, "hotness": 1}]})");
  ASSERT_EQ(workload.tables.size(), 3U);
  EXPECT_EQ(workload.tables[1].name, "t1");
  EXPECT_EQ(workload.tables[1].rows, 10);
  EXPECT_EQ(workload.tables[2].dim, 4);
  EXPECT_EQ(workload.features[1].hotness, Hotness::fixed(3));
  EXPECT_EQ(workload.global_batch, 0);
  EXPECT_EQ(workload.dense.interaction, Interaction::none);
}

TEST(TableList, DlrmWidthsInTextFormBeginWithTheDenseInputs) {
  const Workload workload = must_load(R"({"name": "rm", "bottom_mlp": "128-64-32",
    "top_mlp": "256-64-1", "tables": [{"name": "c", "rows": 10, "dim": 32, "hotness": 80}]})");
  EXPECT_EQ(workload.dense.dense_features, 128);
  EXPECT_EQ(workload.dense.bottom_mlp, (std::vector<std::int32_t>{64, 32}));
  EXPECT_EQ(workload.dense.top_mlp, (std::vector<std::int32_t>{256, 64, 1}));
  EXPECT_EQ(workload.dense.interaction, Interaction::dot);
}

TEST(TableList, UnequalWidthsAreConcatenated) {
  const Workload workload = must_load(R"({"name": "rm", "bottom_mlp": [64, 32], "top_mlp": [1],
    "dense_features": 13, "tables": [{"name": "c", "rows": 10, "dim": 16, "hotness": 1}]})");
  EXPECT_EQ(workload.dense.dense_features, 13);
  EXPECT_EQ(workload.dense.interaction, Interaction::concat);
}

TEST(TableList, MistakesAreNamed) {
  EXPECT_NE(error_loading(R"({"name": "x", "tables": [{"name": "a", "rows": 1, "dim": 1,
                              "hotnes": 2}]})")
                .find("tables[0]: the field \"hotness\" is missing"),
            std::string::npos);
  EXPECT_NE(error_loading(R"({"name": "x", "tables": [{"name": "a", "rows": 1, "dim": 1,
                              "hotness": 2, "optimiser": 1}]})")
                .find("tables[0].optimiser: unknown field"),
            std::string::npos);
  EXPECT_NE(error_loading(R"({"name": "x", "bottom_mlp": "12--3", "tables": []})")
                .find("bottom_mlp: \"12--3\""),
            std::string::npos);
  EXPECT_NE(error_loading(R"({"name": "x", "optimizer": "adamw", "tables": []})")
                .find("optimizer: \"adamw\" is unknown"),
            std::string::npos);
  EXPECT_NE(error_loading(R"({"batches": []})").find("neither a workload nor a table list"),
            std::string::npos);
  EXPECT_NE(error_loading(R"({"name": "x", "groups": [{"num_tables": 2000000, "rows": 1, "dim": 1,
                              "hotness": 1}]})")
                .find("groups[0].num_tables"),
            std::string::npos);
}

TEST(TableList, LoadsDcnv2AsItIsPublished) {
  SHARDSCOPE_SHARED_DATA(text, "specs/mlperf_dlrm_dcnv2.json");
  const Workload workload = must_load(text);
  EXPECT_EQ(workload.tables.size(), 26U);
  EXPECT_EQ(workload.global_batch, 55296);
  EXPECT_EQ(workload.tables[0].optimizer.kind, OptimizerKind::adagrad);
  EXPECT_EQ(workload.dense.interaction, Interaction::dcnv2);
  EXPECT_EQ(workload.dense.cross_layers, 3);
  EXPECT_EQ(workload.dense.cross_rank, 512);
  EXPECT_EQ(workload.dense.dense_features, 13);
  EXPECT_EQ(workload.dense.top_mlp.back(), 1);
}

class PublishedTableList : public testing::TestWithParam<const char*> {};

TEST_P(PublishedTableList, LoadsAsItIs) {
  SHARDSCOPE_SHARED_DATA(text, std::string("specs/") + GetParam() + ".json");
  const Workload workload = must_load(text);
  EXPECT_FALSE(workload.tables.empty());
  EXPECT_GE(workload.features.size(), workload.tables.size());
}

INSTANTIATE_TEST_SUITE_P(Specs, PublishedTableList,
                         testing::Values("criteo_kaggle", "criteo_terabyte_40M",
                                         "deeprecsys_dlrm_rm1", "deeprecsys_dlrm_rm2",
                                         "deeprecsys_dlrm_rm3", "hugectr_180table_70B_hotness80",
                                         "hugectr_200table_100B_hotness20",
                                         "hugectr_510table_110B_hotness5", "merlin_de_small",
                                         "merlin_de_tiny", "mlperf_dlrm_dcnv2",
                                         "param_dlrm_kineto_8xV100"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace shardscope
