#include "storage/documents.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "storage/access.hpp"
#include "storage/comparisons.hpp"
#include "storage/curves.hpp"
#include "storage/session_writer.hpp"
#include "storage/statistics.hpp"
#include "tests/storage/samples.hpp"
#include "tests/temp_directory.hpp"

namespace shardscope::storage {
namespace {

class Documents : public testing::Test {
 protected:
  static Workload small_workload() {
    Workload workload;
    workload.name = "two tables";
    workload.global_batch = 64;
    for (const char* name : {"users", "items"}) {
      Table table;
      table.name = name;
      table.rows = 100;
      table.dim = 16;
      workload.tables.push_back(table);
      Feature feature;
      feature.name = name;
      feature.table = static_cast<std::int32_t>(workload.tables.size()) - 1;
      workload.features.push_back(feature);
    }
    return workload;
  }

  static Layout small_layout(const Workload& workload, const std::string& name) {
    Layout layout;
    layout.name = name;
    layout.ranks = 2;
    for (const Table& table : workload.tables) {
      layout.table_names.push_back(table.name);
      layout.tables.push_back(table_wise(table, 1));
    }
    return layout;
  }

  test::TempDirectory directory_;
  Session session_ = Session::create(directory_.file("a.shardscope")).value();
};

TEST_F(Documents, AWorkloadComesBackAndIsStoredOnce) {
  const Workload workload = small_workload();
  const std::int64_t id = save_workload(session_, workload).value();
  EXPECT_EQ(load_workload(session_, id).value(), workload);
  EXPECT_EQ(save_workload(session_, workload).value(), id);
  Workload other = workload;
  other.global_batch = 128;
  EXPECT_NE(save_workload(session_, other).value(), id);
}

TEST_F(Documents, ATopologyComesBack) {
  Topology topology;
  topology.name = "h100-pcie";
  const std::int64_t id = save_topology(session_, topology).value();
  EXPECT_EQ(load_topology(session_, id).value(), topology);
  EXPECT_EQ(save_topology(session_, topology).value(), id);
}

TEST_F(Documents, LayoutsFormATree) {
  const Workload workload = small_workload();
  const std::int64_t of = save_workload(session_, workload).value();
  Layout root = small_layout(workload, "root");
  root.note = "as imported";
  const std::int64_t root_id = save_layout(session_, root, of, 0).value();
  Layout child = small_layout(workload, "child");
  child.parent = "root";
  child.tables[0] = data_parallel(workload.tables[0]);
  const std::int64_t child_id = save_layout(session_, child, of, 0).value();
  EXPECT_EQ(load_layout(session_, child_id).value(), child);
  const auto layouts = list_layouts(session_).value();
  ASSERT_EQ(layouts.size(), 2u);
  EXPECT_EQ(layouts[0].parent, 0);
  EXPECT_EQ(layouts[0].note, "as imported");
  EXPECT_EQ(layouts[1].parent, root_id);
  EXPECT_EQ(layouts[1].workload, of);
}

TEST_F(Documents, TheStarMovesAndNotesChange) {
  const Workload workload = small_workload();
  const std::int64_t of = save_workload(session_, workload).value();
  const std::int64_t a = save_layout(session_, small_layout(workload, "a"), of, 0).value();
  const std::int64_t b = save_layout(session_, small_layout(workload, "b"), of, 0).value();
  ASSERT_TRUE(set_reference_layout(session_, a));
  ASSERT_TRUE(set_reference_layout(session_, b));
  ASSERT_TRUE(set_layout_note(session_, a, "too slow"));
  ASSERT_TRUE(set_layout_prediction(session_, a, R"({"iteration_ms": 3})"));
  const auto layouts = list_layouts(session_).value();
  EXPECT_FALSE(layouts.at(0).reference);
  EXPECT_TRUE(layouts.at(1).reference);
  EXPECT_EQ(layouts.at(0).note, "too slow");
  EXPECT_EQ(layouts.at(0).prediction_json, R"({"iteration_ms": 3})");
  ASSERT_TRUE(set_reference_layout(session_, 0));
  EXPECT_FALSE(list_layouts(session_).value().at(1).reference);
}

TEST_F(Documents, WhatIsNotThereIsAUsageErrorAndChangesNothing) {
  const Workload workload = small_workload();
  const std::int64_t of = save_workload(session_, workload).value();
  const std::int64_t a = save_layout(session_, small_layout(workload, "a"), of, 0).value();
  ASSERT_TRUE(set_reference_layout(session_, a));
  EXPECT_EQ(load_layout(session_, 99).error().kind, ErrorKind::usage);
  EXPECT_EQ(set_layout_note(session_, 99, "x").error().kind, ErrorKind::usage);
  const Status moved = set_reference_layout(session_, 99);
  ASSERT_FALSE(moved);
  EXPECT_THAT(to_string(moved.error()), testing::HasSubstr("no layout 99"));
  EXPECT_TRUE(list_layouts(session_).value().at(0).reference) << "the star stayed where it was";
}

TEST_F(Documents, AReadOnlySessionRefusesToStore) {
  ASSERT_TRUE(session_.close());
  const Session reader =
      Session::open(directory_.file("a.shardscope"), Session::Access::read_only).value();
  const auto saved = save_workload(reader, small_workload());
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().kind, ErrorKind::runtime);
  EXPECT_THAT(saved.error().what, testing::HasSubstr("reading only"));
}

TEST_F(Documents, AComparisonComesBackWithItsInterval) {
  SessionWriter writer(session_);
  ComparisonRecord comparison;
  comparison.run_a = writer.begin_run(test::sample_run("A")).value();
  comparison.run_b = writer.begin_run(test::sample_run("B")).value();
  comparison.label_a = "table_row_wise";
  comparison.label_b = "edited";
  comparison.mode = "emulated";
  comparison.ratio = 1.18;
  comparison.low = 1.15;
  comparison.high = 1.21;
  comparison.a_ms = 12.5;
  comparison.b_ms = 10.6;
  comparison.blocks = 24;
  comparison.looks = 4;
  comparison.dropped_iterations = 31;
  comparison.reason = "target";
  comparison.stages_json = R"([{"stage": "update"}])";
  comparison.sentence = "edited is 18 % faster.";
  comparison.id = save_comparison(session_, comparison).value();
  ComparisonRecord unknown;
  unknown.ratio = unknown.low = unknown.high = std::nan("");
  ASSERT_TRUE(save_comparison(session_, unknown)) << "too few blocks for an interval";
  auto listed = list_comparisons(session_).value();
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_GT(listed[0].created_utc_ns, 0);
  comparison.created_utc_ns = listed[0].created_utc_ns;
  EXPECT_EQ(listed[0], comparison);
  EXPECT_EQ(listed[1].run_a, 0);
  EXPECT_TRUE(std::isnan(listed[1].ratio));
}

TEST_F(Documents, ACurveGrowsAndReplacesPointsOfTheSameIteration) {
  const std::vector<CurvePoint> first = {{.iteration = 10, .samples = 640, .loss = 0.6},
                                         {.iteration = 20, .samples = 1280, .loss = 0.5}};
  const std::vector<CurvePoint> later = {
      {.split = "eval", .iteration = 20, .loss = 0.55, .auc = 0.7},
      {.iteration = 20, .samples = 1280, .loss = 0.45}};
  ASSERT_TRUE(save_curve(session_, 1, first));
  ASSERT_TRUE(save_curve(session_, 1, later));
  const auto curve = load_curve(session_, 1).value();
  ASSERT_EQ(curve.size(), 3u);
  EXPECT_EQ(curve[0].split, "eval");
  EXPECT_DOUBLE_EQ(curve[0].auc, 0.7);
  EXPECT_EQ(curve[1].iteration, 10);
  EXPECT_DOUBLE_EQ(curve[2].loss, 0.45);
  EXPECT_TRUE(load_curve(session_, 2).value().empty());
}

TEST_F(Documents, StatisticsComeBackByWorkloadAndSource) {
  const std::int64_t workload = save_workload(session_, small_workload()).value();
  TableStats users;
  users.table = "users";
  users.keys = 1000;
  users.unique = {{10, 9}, {100, 60}};
  TableStats items;
  items.table = "items";
  const std::vector<TableStats> stats = {users, items};
  ASSERT_TRUE(save_table_stats(session_, workload, "zipf 1.1", stats));
  ASSERT_TRUE(save_table_stats(session_, workload, "zipf 1.1", stats));
  ASSERT_TRUE(save_table_stats(session_, workload, "zipf 1.2", {&users, 1}));
  const auto loaded = list_table_stats(session_).value();
  ASSERT_EQ(loaded.size(), 2u);
  EXPECT_EQ(loaded[0].workload, small_workload().name);
  EXPECT_EQ(loaded[0].source, "zipf 1.1");
  ASSERT_EQ(loaded[0].tables.size(), 2u);
  EXPECT_EQ(loaded[0].tables[0], items);
  EXPECT_EQ(loaded[0].tables[1], users);
  EXPECT_EQ(loaded[1].source, "zipf 1.2");
  EXPECT_EQ(loaded[1].tables.size(), 1u);
}

}  // namespace
}  // namespace shardscope::storage
