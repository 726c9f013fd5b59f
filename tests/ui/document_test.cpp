#include "ui/model/document.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "layout/models.hpp"
#include "planner/baselines.hpp"
#include "planner/cost_model.hpp"
#include "ui/desktop/open.hpp"
#include "ui/model/map_blocks.hpp"
#include "ui/model/suggestions.hpp"
#include "ui/model/table_list.hpp"

namespace shardscope::ui {
namespace {

std::unique_ptr<Document> open_document(const char* layout = "table_wise") {
  Workload workload = *model_by_name("dcnv2");
  Topology topology = *topology_by_name("dgx-h100");
  Layout first = *baseline(layout, workload, topology);
  PredictOptions options;
  options.schedule = ScheduleKind::inter;
  return std::make_unique<Document>(std::move(workload), std::move(topology), std::move(first),
                                    std::move(options));
}

TEST(Document, AnEditIsPricedAsThePlannerPricesIt) {
  const auto document = open_document();
  std::mt19937 random(11);
  RecordProperty("seed", 11);
  for (int i = 0; i < 20; ++i) {
    const auto shards = shards_of(document->layout());
    const Shard& shard = shards[random() % shards.size()];
    const auto edit = edit_move(*document, {shard.table, shard.row, shard.column},
                                static_cast<std::int32_t>(random() % 8));
    ASSERT_TRUE(edit);
    document->preview(*edit);
    const double previewed = document->shown().iteration_s;
    document->apply(*edit);
    const auto predicted = predict(document->workload(), document->topology(), document->layout(),
                                   document->options());
    ASSERT_TRUE(predicted);
    EXPECT_NEAR(document->current().iteration_s, predicted->iteration_s,
                1e-9 * predicted->iteration_s);
    EXPECT_NEAR(previewed, predicted->iteration_s, 1e-9 * predicted->iteration_s);
  }
}

TEST(Document, TheCriticalGpuAndTheTimeAreThePlanners) {
  const Workload workload = *model_by_name("dcnv2");
  const Topology topology = *topology_by_name("dgx-h100");
  for (const char* name : {"table_wise", "table_row_wise", "mlperf"}) {
    const Layout layout = *open_layout(name, workload, topology);
    for (const ScheduleKind schedule : {ScheduleKind::serial, ScheduleKind::inter}) {
      PredictOptions options;
      options.schedule = schedule;
      const Document document(workload, topology, layout, options);
      const Prediction prediction = *predict(workload, topology, layout, options);
      EXPECT_EQ(document.current().critical_rank, prediction.critical_rank) << name;
      EXPECT_NEAR(document.current().iteration_s, prediction.iteration_s,
                  1e-9 * prediction.iteration_s);
    }
  }
}

TEST(Document, PathPartsAddUpToTheIteration) {
  for (const char* name : {"table_wise", "uniform", "table_row_wise", "round_robin"}) {
    const auto document = open_document(name);
    const Evaluation& now = document->current();
    ASSERT_TRUE(now.priced) << name;
    double sum = 0;
    for (const PathPart& part : now.path) sum += part.seconds;
    EXPECT_NEAR(sum, now.iteration_s, 1e-6 * now.iteration_s) << name;
  }
}

TEST(Document, UndoOfEveryEditGivesTheFirstLayoutBack) {
  const auto document = open_document();
  const Layout first = document->layout();
  std::mt19937 random(5);
  RecordProperty("seed", 5);
  int steps = 0;
  for (int i = 0; i < 40; ++i) {
    const auto shards = shards_of(document->layout());
    const Shard& s = shards[random() % shards.size()];
    const ShardId shard{s.table, s.row, s.column};
    const auto to = static_cast<std::int32_t>(random() % 8);
    const auto edit = random() % 3 == 0   ? edit_split_rows(*document, shard, 2, to)
                      : random() % 2 == 0 ? edit_cluster(*document, s.table, ClusterType::UB, to)
                                          : edit_move(*document, shard, to);
    if (!edit) continue;
    const std::size_t before = document->history().nodes().size();
    document->apply(*edit);
    if (document->history().nodes().size() > before) ++steps;
  }
  for (int i = 0; i < steps; ++i) EXPECT_TRUE(document->undo());
  EXPECT_FALSE(document->undo());
  EXPECT_EQ(document->layout(), first);
}

TEST(Document, APreviewChangesNothingUntilItIsApplied) {
  const auto document = open_document();
  const double before = document->current().iteration_s;
  const auto edit = edit_split_rows(*document, {20, 0, 0}, 2, 5);
  ASSERT_TRUE(edit);
  document->preview(*edit);
  EXPECT_TRUE(document->previewing());
  EXPECT_NE(document->shown().iteration_s, before);
  document->clear_preview();
  EXPECT_EQ(document->shown().iteration_s, before);
  EXPECT_EQ(document->history().nodes().size(), 1U);
}

TEST(Document, APinnedShardStaysWhereItIs) {
  const auto document = open_document();
  document->pin({20, 0, 0}, true);
  EXPECT_FALSE(edit_move(*document, {20, 0, 0}, 1));
  EXPECT_FALSE(edit_cluster(*document, 20, ClusterType::DP, 1));
  document->pin({20, 0, 0}, false);
  EXPECT_TRUE(edit_move(*document, {20, 0, 0}, 1));
}

TEST(Document, NoLayoutIsBelowTheBound) {
  const auto document = open_document();
  document->wait_for_bound();
  ASSERT_TRUE(document->bound());
  EXPECT_GT(*document->bound(), 0);
  EXPECT_LE(*document->bound(), document->current().iteration_s);
}

TEST(Document, BlocksOfAGpuAddUpToItsLoad) {
  const auto document = open_document("table_row_wise");
  MapModel map;
  map.update(document->shown().layout, MapWidth::time);
  for (std::int32_t rank = 0; rank < 8; ++rank) {
    const double load = document->shown().load_s[static_cast<std::size_t>(rank)];
    EXPECT_NEAR(map.gpu(*document, rank).total, load, 1e-9 * load);
  }
}

TEST(Document, FoldingKeepsValuesAndCounts) {
  const auto document = open_document("table_row_wise");
  MapModel map;
  map.update(document->shown().layout, MapWidth::time);
  const GpuBlocks& gpu = map.gpu(*document, 0);
  const std::vector<MapBlock> folded = fold_narrow_blocks(gpu.blocks, gpu.total / 3);
  EXPECT_LT(folded.size(), gpu.blocks.size());
  double sum = 0;
  std::int32_t count = 0, all = 0;
  for (const MapBlock& block : folded) {
    sum += block.value;
    count += block.count;
  }
  for (const MapBlock& block : gpu.blocks) all += block.count;
  EXPECT_NEAR(sum, gpu.total, 1e-12);
  EXPECT_EQ(count, all);
}

TEST(Document, CostsOfTheListAddUpToTheLoadsOfTheMap) {
  const auto document = open_document("uniform");
  TableList list;
  list.update(*document);
  double costs = 0;
  for (const TableRow& row : list.rows()) costs += row.cost_s;
  const std::vector<double>& loads = document->shown().load_s;
  const double sum = std::accumulate(loads.begin(), loads.end(), 0.0);
  EXPECT_NEAR(costs, sum, 1e-9 * sum);
}

TEST(Document, SuggestionsGainWhatTheySay) {
  const auto document = open_document("round_robin");
  Suggestions suggestions;
  while (!suggestions.work(*document, 5)) {
  }
  ASSERT_FALSE(suggestions.best().empty());
  for (const Suggestion& suggestion : suggestions.best()) {
    const double before = document->current().iteration_s;
    const int errors = document->current().errors;
    document->apply(suggestion.edit);
    EXPECT_NEAR(document->current().iteration_s, before - suggestion.gain_s, 1e-9 * before);
    EXPECT_LE(document->current().errors, errors);
    document->undo();
  }
}

}  // namespace
}  // namespace shardscope::ui
