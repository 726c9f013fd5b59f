#include <gtest/gtest.h>

#include <cmath>

#include "layout/json.hpp"

namespace shardscope {
namespace {

constexpr const char* kSmall = R"({
  "format": "shardscope.workload/1", "name": "small", "global_batch": 64,
  "tables": [{"name": "a", "rows": 10, "dim": 4}],
  "features": [{"name": "f", "table": "a"}]
})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string error_with(const std::string& from, const std::string& to) {
  const auto workload = workload_from_json(replaced(kSmall, from, to), "w.json");
  return workload ? "no error" : to_string(workload.error());
}

TEST(WorkloadJson, FillsInWhatIsUsual) {
  const auto workload = workload_from_json(kSmall, "w.json");
  ASSERT_TRUE(workload) << to_string(workload.error());
  Workload expected;
  expected.name = "small";
  expected.global_batch = 64;
  expected.tables = {{.name = "a", .rows = 10, .dim = 4}};
  expected.features = {{.name = "f"}};
  EXPECT_EQ(*workload, expected);
}

TEST(WorkloadJson, ReadsEveryKindOfFeature) {
  const auto workload = workload_from_json(
      replaced(kSmall, R"({"name": "f", "table": "a"})",
               R"({"name": "u", "table": 0, "pooling": "sequence", "num_poolings": 2,
                   "hotness": {"kind": "uniform", "minimum": 0, "maximum": 5}, "weighted": true,
                   "ids": {"kind": "reuse_histogram", "reuse": [
                     {"reuse_at_most": 4, "share_of_rows": 0.75},
                     {"reuse_at_most": null, "share_of_rows": 0.25}]}},
                  {"name": "h", "table": "a", "pooling": "mean",
                   "hotness": {"kind": "histogram", "minimum": 2, "weights": [1, 0, 3]},
                   "ids": {"kind": "heavy_hitters", "alpha": 0, "heavy_hitters": [0.5, 0.1]}},
                  {"name": "r", "table": "a",
                   "ids": {"kind": "recorded", "stream": "s.csv", "column": "C1"}})"),
      "w.json");
  ASSERT_TRUE(workload) << to_string(workload.error());
  const auto& features = workload->features;
  ASSERT_EQ(features.size(), 3U);
  EXPECT_EQ(features[0].hotness, Hotness::uniform(0, 5));
  EXPECT_TRUE(features[0].weighted);
  EXPECT_EQ(features[0].num_poolings, 2);
  EXPECT_TRUE(std::isinf(features[0].ids.reuse[1].reuse_at_most));
  EXPECT_EQ(features[1].hotness.maximum, 4);
  EXPECT_EQ(features[1].ids.heavy_hitters, (std::vector<double>{0.5, 0.1}));
  EXPECT_EQ(features[2].ids.stream, "s.csv");
}

TEST(WorkloadJson, OptimizersAreNamesOrObjects) {
  const auto workload = workload_from_json(
      replaced(kSmall, R"("dim": 4})",
               R"("dim": 4, "dtype": "bf16", "optimizer": {"kind": "other", "words_per_element": 3,
                   "words_per_row": 2, "learning_rate": 0.5, "per_shard": true}},
                  {"name": "b", "rows": 1, "dim": 1, "optimizer": "adam"})"),
      "w.json");
  ASSERT_TRUE(workload) << to_string(workload.error());
  EXPECT_EQ(workload->tables[0].dtype, DType::bf16);
  EXPECT_EQ(workload->tables[0].optimizer.words_per_element, 3);
  EXPECT_EQ(workload->tables[0].optimizer.words_per_row, 2);
  EXPECT_TRUE(workload->tables[0].optimizer.per_shard);
  EXPECT_EQ(workload->tables[1].optimizer, make_optimizer(OptimizerKind::adam));
}

TEST(WorkloadJson, UnknownFieldsAreNamedWithTheNearestKnownOne) {
  EXPECT_EQ(error_with(R"("rows": 10)", R"("rows": 10, "dtyp": "fp16")"),
            "w.json: tables[0].dtyp: unknown field; expected one of name, rows, dim, dtype, "
            "optimizer, module_path. Did you mean \"dtype\"?");
  EXPECT_NE(
      error_with(R"("global_batch": 64)", R"("global_batch": 64, "x": 1)").find("w.json: x: "),
      std::string::npos);
}

TEST(WorkloadJson, WrongValuesNameTheirPathAndRange) {
  EXPECT_EQ(error_with(R"("rows": 10)", R"("rows": -1)"),
            "w.json: tables[0].rows: -1 does not belong here; expected a whole number from 0 to "
            "9223372036854775807");
  EXPECT_EQ(error_with(R"("dim": 4)", R"("dim": 2147483648)"),
            "w.json: tables[0].dim: 2147483648 does not belong here; expected a whole number from "
            "0 to 2147483647");
  EXPECT_EQ(error_with(R"("rows": 10)", R"("rows": 9223372036854775808)"),
            "w.json: tables[0].rows: 9.223372036854776e+18 does not belong here; expected a whole "
            "number from 0 to 9223372036854775807");
  EXPECT_NE(error_with(R"("rows": 10)", R"("rows": 1.5)").find("1.5"), std::string::npos);
  EXPECT_NE(error_with(R"("rows": 10)", R"("rows": "ten")").find("\"ten\""), std::string::npos);
  EXPECT_NE(error_with(R"("name": "a")", R"("name": 7)").find("expected a text"),
            std::string::npos);
  EXPECT_NE(error_with(R"("dim": 4)", R"("dim": 4, "dtype": "fp8")").find("fp32 | fp16 | bf16"),
            std::string::npos);
  EXPECT_NE(error_with(R"({"name": "f", "table": "a"})", "3").find("features[0]: a whole number"),
            std::string::npos);
}

TEST(WorkloadJson, FeaturesMustNameOneTable) {
  EXPECT_EQ(error_with(R"("table": "a")", R"("table": "b")"),
            "w.json: features[0].table: there is no table \"b\"; expected the name of one table of "
            "this workload, or its index");
  EXPECT_NE(error_with(R"({"name": "a", "rows": 10, "dim": 4})",
                       R"({"name": "a", "rows": 10, "dim": 4}, {"name": "a", "rows": 1, "dim": 4})")
                .find("two tables are named \"a\""),
            std::string::npos);
}

TEST(WorkloadJson, MissingFieldsAreNamed) {
  EXPECT_EQ(error_with(R"("rows": 10, )", ""),
            "w.json: tables[0]: the field \"rows\" is missing; expected it in this object");
}

TEST(WorkloadJson, NearNamesAreSuggested) {
  EXPECT_NE(error_with(R"("rows": 10, )", R"("row": 10, )").find("\"row\" may be meant for it"),
            std::string::npos);
  EXPECT_NE(error_with(R"("dim": 4)", R"("dim": 4, "optimizer": "Adam")").find("mean \"adam\"?"),
            std::string::npos);
  EXPECT_NE(error_with(R"("dim": 4)", R"("dim": 4, "dtype": "FP16")").find("mean \"fp16\"?"),
            std::string::npos);
}

TEST(WorkloadJson, OtherVersionsAndFormatsAreRefused) {
  EXPECT_EQ(error_with("workload/1", "workload/2"),
            "w.json: format: \"shardscope.workload/2\" is not read here; expected "
            "\"shardscope.workload/1\". It was written by a newer version; update this program");
  EXPECT_NE(error_with("workload/1", "layout/1").find("Check that this is the file you meant"),
            std::string::npos);
}

TEST(WorkloadJson, WholeNumbersMayBeWrittenInScientificForm) {
  const auto workload = workload_from_json(replaced(kSmall, R"("rows": 10)", R"("rows": 4e7)"), "");
  ASSERT_TRUE(workload);
  EXPECT_EQ(workload->tables[0].rows, 40000000);
}

TEST(WorkloadJson, HistogramsMustHaveWeights) {
  EXPECT_NE(
      error_with(R"("table": "a")",
                 R"("table": "a", "hotness": {"kind": "histogram", "minimum": 0, "weights": []})")
          .find("features[0].hotness.weights"),
      std::string::npos);
}

}  // namespace
}  // namespace shardscope
