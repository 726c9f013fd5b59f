#include "ui/model/table_edits.hpp"

#include <gtest/gtest.h>

#include "layout/check.hpp"
#include "layout/models.hpp"
#include "planner/baselines.hpp"
#include "planner/plan_rules.hpp"

namespace shardscope::ui {
namespace {

class TableEditsTest : public testing::Test {
 protected:
  TableEditsTest()
      : document_(*model_by_name("dcnv2"), *topology_by_name("dgx-h100:2"),
                  *baseline("table_wise", *model_by_name("dcnv2"), *topology_by_name("dgx-h100:2")),
                  PredictOptions{}) {}

  [[nodiscard]] std::vector<Violation> check_of(const Layout& layout) const {
    return check(document_.workload(), document_.topology(), layout, Executor::engine);
  }

  Document document_;
};

TEST_F(TableEditsTest, ManyTablesChangeClusterAndNoOther) {
  const std::set<std::int32_t> tables = {3, 5, 7};
  const Layout layout = set_tables_cluster(document_, tables, ClusterType::DP);
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    const bool chosen = tables.contains(static_cast<std::int32_t>(t));
    EXPECT_EQ(layout.tables[t].cluster == ClusterType::DP, chosen) << t;
    if (!chosen) {
      EXPECT_EQ(layout.tables[t], document_.layout().tables[t]);
    }
  }
  document_.apply(layout, "to DP");
  const Layout back = set_tables_cluster(document_, tables, ClusterType::RB);
  EXPECT_FALSE(has_errors(check_of(back)));
  EXPECT_EQ(back.tables[3].owners.size(), 1U);
}

TEST_F(TableEditsTest, ManyTablesAreCutIntoEqualShardsThatCoverThem) {
  const auto layout = set_tables_cut(document_, {0, 20, 21}, 2, 4);
  ASSERT_TRUE(layout) << to_string(layout.error());
  for (const std::size_t t : {0U, 20U, 21U}) {
    EXPECT_EQ(layout->tables[t].row_shards, 2);
    EXPECT_EQ(layout->tables[t].column_cuts, (std::vector<std::int32_t>{0, 32, 64, 96, 128}));
    EXPECT_EQ(layout->tables[t].owners.size(), 8U);
    EXPECT_EQ(layout->tables[t].owners[0], document_.layout().tables[t].owners[0]);
  }
  EXPECT_FALSE(has_errors(check_of(*layout)));
  EXPECT_FALSE(set_tables_cut(document_, {5}, 1000, 1));  // a table of three rows
  EXPECT_FALSE(set_tables_cut(document_, {20}, 0, 1));
  EXPECT_FALSE(set_tables_cut(document_, {20}, 1, 64));
}

TEST_F(TableEditsTest, ExchangeAndCodecsOverrideTheClusters) {
  const Layout layout = set_tables_exchange(document_, {20}, Exchange::hierarchical);
  EXPECT_EQ(layout.exchange_of(20), Exchange::hierarchical);
  EXPECT_EQ(layout.exchange_of(21), Exchange::flat);
  const CodecSlot slot{"dedup-huffman", 0.03, true};
  document_.apply(set_tables_codec(document_, {20, 21}, CodecPlace::forward_inter, slot), "codec");
  EXPECT_EQ(document_.layout().codecs_of(20).forward_inter, slot);
  EXPECT_EQ(document_.layout().codecs_of(20).backward_inter, CodecSlot{});
  EXPECT_EQ(document_.layout().codecs_of(19), CodecSlots{});
  EXPECT_EQ(clear_tables_codecs(document_, {20, 21}).codecs_of(20), CodecSlots{});
}

TEST(CodecText, ComesBackAsItWasAndSaysWhatIsWrong) {
  for (const CodecSlot& slot :
       {CodecSlot{}, CodecSlot{"fixed", 0.001, false}, CodecSlot{"dedup-huffman", 0.03, true}}) {
    const auto back = parse_codec(codec_text(slot));
    ASSERT_TRUE(back) << codec_text(slot);
    EXPECT_EQ(*back, slot);
  }
  for (const char* wrong : {"", "fixed x", "fixed -1", "fixed 1 sometimes", "fixed 1 rel more",
                            "fixed nan", "fixed inf"}) {
    EXPECT_FALSE(parse_codec(wrong)) << wrong;
  }
}

TEST_F(TableEditsTest, BoundsMoveBetweenTheirNeighboursAlone) {
  const Table& table = document_.workload().tables[20];
  auto placement = split_rows_at(table, document_.layout().tables[20], {20, 0, 0}, 1000, 3);
  ASSERT_TRUE(placement);
  EXPECT_EQ(move_row_cut(*placement, 1, 5000)->row_cuts[1], 5000);
  EXPECT_FALSE(move_row_cut(*placement, 1, 0));
  EXPECT_FALSE(move_row_cut(*placement, 1, table.rows));
  EXPECT_FALSE(move_row_cut(*placement, 0, 5));
  EXPECT_FALSE(move_row_cut(document_.layout().tables[20], 1, 5));
  placement = split_columns_at(table, document_.layout().tables[20], {20, 0, 0}, 64, 3);
  ASSERT_TRUE(placement);
  EXPECT_EQ(move_column_cut(*placement, 1, 32)->column_cuts[1], 32);
  EXPECT_FALSE(move_column_cut(*placement, 1, 33));
  EXPECT_FALSE(move_column_cut(*placement, 1, 128));
}

TEST_F(TableEditsTest, RulesOfAPlanAreReadAndWrongWordsNamed) {
  const auto rules =
      parse_plan_rules("cat_20=DP cat_3=0,1  !7 cat_1+cat_2", document_.workload(), 16);
  ASSERT_TRUE(rules) << to_string(rules.error());
  EXPECT_EQ(rules->clusters.size(), 1U);
  EXPECT_EQ(rules->only_ranks.at(0).second, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(rules->forbidden_ranks, std::vector<std::int32_t>{7});
  EXPECT_EQ(rules->together.at(0), (std::vector<std::int32_t>{1, 2}));
  for (const char* wrong : {"cat_99=DP", "cat_1=XX", "!16", "!-1", "cat_1", "cat_1+nobody", "="}) {
    const auto refused = parse_plan_rules(wrong, document_.workload(), 16);
    EXPECT_FALSE(refused) << wrong;
  }
}

TEST_F(TableEditsTest, AnotherExecutorIsPricedAndCheckedAnew) {
  const double before = document_.current().iteration_s;
  const ScheduleKind schedule = document_.options().schedule;
  document_.set_executor(Executor::torchrec, ScheduleKind::inter);
  EXPECT_EQ(document_.executor(), Executor::torchrec);
  EXPECT_NE(document_.current().iteration_s, before);
  document_.set_executor(Executor::engine, schedule);
  EXPECT_DOUBLE_EQ(document_.current().iteration_s, before);
}

}  // namespace
}  // namespace shardscope::ui
