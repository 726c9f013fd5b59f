#include "ui/model/learning_curve.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace shardscope::ui {
namespace {

TEST(LearningCurve, TheTwoPointsOfAnEvaluationBecomeOneInOrder) {
  LearningCurve curve;
  curve.add("eval", 20, 2000, 0.5, 0.7);
  curve.add("train", 10, 1000, 0.7, std::nan(""));
  curve.add("eval", 10, 1000, 0.6, 0.6);
  curve.add("train", 20, 2000, 0.55, std::nan(""));
  ASSERT_EQ(curve.points().size(), 2U);
  EXPECT_EQ(curve.points()[0].iteration, 10);
  EXPECT_EQ(curve.points()[0].train_loss, 0.7);
  EXPECT_EQ(curve.points()[0].auc, 0.6);
  EXPECT_EQ(curve.points()[1].loss, 0.5);
  EXPECT_LT(curve.losses().low, 0.5);
  EXPECT_GT(curve.losses().high, 0.7);
  EXPECT_LT(curve.aucs().low, 0.6);
  EXPECT_GT(curve.aucs().high, 0.7);
}

TEST(LearningCurve, WhatWasNotComputedLeavesTheRangeAlone) {
  LearningCurve curve;
  EXPECT_LT(curve.losses().low, curve.losses().high);
  curve.add("train", 1, 100, std::nan(""), std::nan(""));
  curve.add("eval", 1, 100, 0.4, 0.5);
  EXPECT_NEAR(curve.losses().low, 0.4, 1e-3);
  EXPECT_NEAR(curve.losses().high, 0.4, 1e-3);
  EXPECT_LT(curve.aucs().low, curve.aucs().high);
}

TEST(LearningCurve, AMoveStandsWhereTheLastPointWas) {
  LearningCurve curve;
  curve.add("eval", 10, 1000, 0.6, 0.6);
  curve.add_move("b");
  ASSERT_EQ(curve.moves().size(), 1U);
  EXPECT_EQ(curve.moves()[0].samples, 1000);
}

}  // namespace
}  // namespace shardscope::ui
