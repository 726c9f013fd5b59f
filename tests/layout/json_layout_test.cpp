#include <gtest/gtest.h>

#include "layout/json.hpp"

namespace shardscope {
namespace {

TEST(LayoutJson, ReadsShardsTiersOverridesAndCodecs) {
  const auto layout = layout_from_json(R"({
    "format": "shardscope.layout/1", "name": "mine", "parent": "table_wise", "ranks": 4,
    "clusters": {"RB": {"exchange": "hierarchical",
                        "codecs": {"forward_inter": "fp16",
                                   "backward_inter": {"name": "hybrid", "bound": 0.01,
                                                      "relative": false}}},
                 "UB": {"dedup": false}},
    "tables": [
      {"name": "a", "cluster": "RB", "mapping": "block", "row_shards": 2, "row_cuts": [0, 3, 10],
       "column_cuts": [0, 4, 16], "owners": [0, 1, 1, 3], "exchange": "flat",
       "tiers": ["hbm", "uvm", {"tier": "uvm_cached", "cache_load_factor": 0.2}, "hbm"]},
      {"name": "b", "cluster": "DP", "column_cuts": [0, 8]}]})",
                                       "l.json");
  ASSERT_TRUE(layout) << to_string(layout.error());
  EXPECT_EQ(layout->parent, "table_wise");
  EXPECT_EQ(layout->exchange_of(0), Exchange::flat);
  EXPECT_EQ(layout->options(ClusterType::RB).exchange, Exchange::hierarchical);
  EXPECT_EQ(layout->codecs_of(0).forward_inter.name, "fp16");
  EXPECT_EQ(layout->codecs_of(0).backward_inter, (CodecSlot{"hybrid", 0.01, false}));
  EXPECT_FALSE(layout->options(ClusterType::UB).dedup);
  EXPECT_EQ(layout->tables[0].row_cuts, (std::vector<std::int64_t>{0, 3, 10}));
  EXPECT_EQ(layout->tables[0].owner(1, 1), 3);
  EXPECT_EQ(layout->tables[0].tiers[2], (ShardTier{Tier::uvm_cached, 0.2}));
  EXPECT_EQ(layout->tables[1], data_parallel({.name = "b", .rows = 1, .dim = 8}));
  EXPECT_EQ(layout->table_names, (std::vector<std::string>{"a", "b"}));
}

std::string error_of_table(const std::string& fields) {
  const auto layout = layout_from_json(
      R"({"format": "shardscope.layout/1", "name": "x", "ranks": 4, "tables": [{"name": "a", )" +
          fields + "}]}",
      "l.json");
  return layout ? "no error" : to_string(layout.error());
}

TEST(LayoutJson, WrongFieldsNameTheirPath) {
  EXPECT_EQ(error_of_table(R"("cluster": "RB", "column_cuts": [0, 8], "owners": [0])"), "no error");
  EXPECT_NE(error_of_table(R"("cluster": "RB", "column_cuts": [0, -8])")
                .find("l.json: tables[0].column_cuts[1]: -8"),
            std::string::npos);
  EXPECT_NE(error_of_table(R"("cluster": "XX", "column_cuts": [0, 8])").find("DP | RB | UB"),
            std::string::npos);
  EXPECT_NE(error_of_table(R"("cluster": "RB", "column_cuts": [0, 8], "row_shards": 0)")
                .find("tables[0].row_shards"),
            std::string::npos);
  EXPECT_NE(error_of_table(R"("cluster": "RB", "column_cuts": [0, 8], "tiers": ["disk"])")
                .find("tables[0].tiers[0].tier: \"disk\" is unknown"),
            std::string::npos);
  EXPECT_NE(error_of_table(R"("cluster": "RB", "column_cuts": [0, 8], "codecs": {"inter": "raw"})")
                .find("tables[0].codecs.inter: unknown field"),
            std::string::npos);
  EXPECT_NE(error_of_table(R"("cluster": "RB", "column_cuts": 8)").find("expected a list"),
            std::string::npos);
}

}  // namespace
}  // namespace shardscope
