#include <gtest/gtest.h>

#include "layout/models.hpp"
#include "planner/baselines.hpp"
#include "ui/model/layout_export.hpp"
#include "ui/model/matrix_model.hpp"
#include "ui/model/plan_diff.hpp"
#include "ui/model/plan_job.hpp"

namespace shardscope::ui {
namespace {

std::unique_ptr<Document> planned_document() {
  Workload workload = *model_by_name("dcnv2");
  Topology topology = *topology_by_name("dgx-h100");
  Layout layout = *baseline("table_wise", workload, topology);
  return std::make_unique<Document>(std::move(workload), std::move(topology), std::move(layout),
                                    PredictOptions{});
}

TEST(PlanDiff, AllGroupsTickedGiveTheProposal) {
  const auto document = planned_document();
  const Layout proposed = *baseline("table_row_wise", document->workload(), document->topology());
  PlanDiff diff = plan_diff(*document, proposed);
  std::size_t tables = 0;
  for (const PlanGroup& group : diff.groups) tables += group.tables.size();
  EXPECT_GT(tables, 0U);
  EXPECT_EQ(ticked_layout(document->layout(), proposed, diff).tables, proposed.tables);
  for (PlanGroup& group : diff.groups) group.ticked = false;
  EXPECT_EQ(ticked_layout(document->layout(), proposed, diff).tables, document->layout().tables);
  diff.groups.front().ticked = true;
  const Layout some = ticked_layout(document->layout(), proposed, diff);
  for (std::size_t t = 0; t < some.tables.size(); ++t) {
    const auto& group = diff.groups.front().tables;
    const bool ticked =
        std::find(group.begin(), group.end(), static_cast<std::int32_t>(t)) != group.end();
    EXPECT_EQ(some.tables[t], ticked ? proposed.tables[t] : document->layout().tables[t]);
  }
}

TEST(PlanDiff, NothingDiffersFromItself) {
  const auto document = planned_document();
  EXPECT_TRUE(plan_diff(*document, document->layout()).groups.empty());
}

TEST(PlanJob, AFinishedPlanIsNoWorseThanItsStart) {
  const auto document = planned_document();
  PlanRequest request;
  request.time_limit_s = 0.3;
  request.options.predict = document->options();
  request.options.starts = {document->layout()};
  PlanJob job(document->workload(), document->topology(), request);
  job.wait();
  ASSERT_TRUE(job.finished());
  const auto& plan = job.result();
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_LE(plan->seconds, document->current().iteration_s * (1 + 1e-9));
  EXPECT_GT(plan->lower_bound_s, 0);
}

TEST(PlanJob, CancelEndsItSoon) {
  const auto document = planned_document();
  PlanRequest request;
  request.time_limit_s = 600;
  request.options.effort = 1000;
  request.options.predict = document->options();
  PlanJob job(document->workload(), document->topology(), request);
  job.cancel();
  job.wait();
  EXPECT_TRUE(job.finished());
}

TEST(PlanJob, AnUnknownPlannerIsAFailure) {
  const auto document = planned_document();
  PlanRequest request;
  request.planner = "magic";
  PlanJob job(document->workload(), document->topology(), request);
  job.wait();
  EXPECT_FALSE(job.result());
}

TEST(Matrix, HoldsEveryTableOnceAndEveryShard) {
  const auto document = planned_document();
  MatrixModel matrix;
  matrix.update(*document, document->current().layout, MatrixValue::cost);
  std::vector<int> seen(document->workload().tables.size());
  double cost = 0;
  for (const MatrixGroup& group : matrix.groups()) {
    for (const MatrixRow& row : group.rows) {
      ++seen[static_cast<std::size_t>(row.table)];
      cost += row.cost_s;
    }
  }
  for (const int count : seen) EXPECT_EQ(count, 1);
  double loads = 0;
  for (const double load : document->current().load_s) loads += load;
  EXPECT_NEAR(cost, loads, 1e-9 * loads);
}

TEST(Matrix, FoldedLinesKeepTheLargestCell) {
  MatrixGroup group;
  for (int r = 0; r < 10; ++r) {
    group.rows.push_back({r, 0, {{r % 4, static_cast<float>(r + 1)}}});
  }
  const std::vector<float> folded = fold_rows(group, 2, 4);
  EXPECT_FLOAT_EQ(*std::max_element(folded.begin(), folded.begin() + 4), 5);
  EXPECT_FLOAT_EQ(*std::max_element(folded.begin() + 4, folded.end()), 10);
}

TEST(Export, EveryFormatGivesTextOrAReasonWithItsCure) {
  const auto document = planned_document();
  for (std::size_t f = 0; f < kExportFormats; ++f) {
    const ExportText text = export_layout(document->workload(), document->topology(),
                                          document->layout(), static_cast<ExportFormat>(f));
    EXPECT_NE(text.text.empty(), text.refusal.empty());
    EXPECT_FALSE(text.file_name.empty());
  }
}

}  // namespace
}  // namespace shardscope::ui
