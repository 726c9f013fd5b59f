#include <gtest/gtest.h>

#include "app/jobs/compare_job.hpp"

namespace shardscope::app {
namespace {

engine::ComparisonOutcome compared(double a_ms, double b_ms, Interval ratio) {
  engine::ComparisonOutcome outcome;
  outcome.a.iteration_ms = a_ms;
  outcome.b.iteration_ms = b_ms;
  outcome.ratio.emplace();
  outcome.ratio->ratio = ratio;
  return outcome;
}

TEST(CompareText, ExplainsMediansThatContradictTheRatio) {
  const std::string text = medians_apart_text(compared(45.85, 43.28, {0.927, 0.90, 0.96, 0.95}));
  EXPECT_NE(text.find("1.059"), std::string::npos) << text;
  EXPECT_NE(text.find("trust the ratio"), std::string::npos) << text;
}

TEST(CompareText, SaysNothingWhereTheyAgree) {
  EXPECT_EQ(medians_apart_text(compared(10.0, 9.5, {1.05, 1.04, 1.06, 0.95})), "");
  engine::ComparisonOutcome without;
  EXPECT_EQ(medians_apart_text(without), "");
}

}  // namespace
}  // namespace shardscope::app
