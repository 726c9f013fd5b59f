#include "app/stage_comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace shardscope::app {
namespace {

StageProfile measured_profile() {
  StageProfile profile;
  profile.iterations = 1;
  profile.by_rank.resize(2);
  const auto put = [&](std::size_t rank, Stage stage, double ms) {
    profile.by_rank[rank][static_cast<std::size_t>(stage)].ms = ms;
  };
  put(0, Stage::local_reduce, 3);
  put(1, Stage::local_reduce, 5);
  put(0, Stage::update, 1);
  return profile;
}

PredictedStage predicted(Stage stage, Work work, double first_ms, double second_ms) {
  PredictedStage one;
  one.stage = stage;
  one.work = work;
  one.rank_s = {first_ms / 1e3, second_ms / 1e3};
  return one;
}

const StageComparison* row_named(const std::vector<StageComparison>& rows, const char* name) {
  for (const StageComparison& row : rows) {
    if (row.stage == name) return &row;
  }
  return nullptr;
}

TEST(StageComparison, ComparesAFusedKernelWithBothItsStages) {
  Prediction prediction;
  prediction.stages = {predicted(Stage::local_reduce, Work::RB, 1, 2),
                       predicted(Stage::update, Work::RB, 4, 2),
                       predicted(Stage::update, Work::dense, 0.5, 0.5)};
  const auto fused = compare_stages(measured_profile(), &prediction, true);
  ASSERT_EQ(fused.size(), 2U);
  const StageComparison* both = row_named(fused, "local_reduce+update");
  ASSERT_NE(both, nullptr);
  EXPECT_DOUBLE_EQ(both->measured_max, 5);
  EXPECT_DOUBLE_EQ(both->predicted_max, 5) << "rank 0: 1 + 4";
  EXPECT_DOUBLE_EQ(both->error(), 0);
  const StageComparison* dense = row_named(fused, "update (dense)");
  ASSERT_NE(dense, nullptr);
  EXPECT_DOUBLE_EQ(dense->predicted_max, 0.5);
  EXPECT_EQ(error_text(dense->error()), "-50 %");
  const auto apart = compare_stages(measured_profile(), &prediction, false);
  EXPECT_DOUBLE_EQ(row_named(apart, "local_reduce")->predicted_max, 2);
  EXPECT_DOUBLE_EQ(row_named(apart, "update")->predicted_max, 4.5);
}

TEST(StageComparison, HasNoErrorWithoutAPrediction) {
  const auto rows = compare_stages(measured_profile(), nullptr, false);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_TRUE(std::isnan(rows[0].predicted_max));
  EXPECT_EQ(error_text(rows[0].error()), "-");
}

}  // namespace
}  // namespace shardscope::app
