#include "ui/model/numbers.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "ui/model/map_blocks.hpp"

namespace shardscope::ui {
namespace {

TEST(Numbers, AreWrittenInTheirUnits) {
  EXPECT_EQ(ms_text(0.003208), "3.208");
  EXPECT_EQ(short_ms_text(0.00429), "4.29");
  EXPECT_EQ(short_ms_text(0.000686), "0.686");
  EXPECT_EQ(signed_ms_text(-0.000296), "−0.296");
  EXPECT_EQ(signed_ms_text(1e-9), "±0.000");
  EXPECT_EQ(signed_percent_text(-0.085), "−8.5 %");
  EXPECT_EQ(gib_text(38.1 * kGiB), "38.1");
  EXPECT_EQ(gib_text(1000), "<.01");
  EXPECT_EQ(count_text(3067956), "3.07M");
  EXPECT_EQ(count_text(2209), "2,209");
  EXPECT_EQ(mega_text(17.24e6), "17.24");
  EXPECT_EQ(duration_text(149800), "149.8 µs");
  EXPECT_EQ(plural(1, "table"), "1 table");
  EXPECT_EQ(plural(26, "table"), "26 tables");
}

TEST(Numbers, SmallOnesKeepTheirDigits) {
  EXPECT_EQ(ms_text(0.0000123), "0.0123");
  EXPECT_EQ(ms_text(0.00000123), "0.00123");
  EXPECT_EQ(ms_text(0), "0.000");
  EXPECT_EQ(short_ms_text(0.0000456), "0.0456");
  EXPECT_EQ(signed_ms_text(-0.0000123), "−0.012");
  EXPECT_EQ(signed_ms_text(-0.00000123), "−0.0012");
}

TEST(Numbers, MarksOfAnAxisDifferAndHaveEqualDecimals) {
  EXPECT_EQ(axis_text(0.005, 0.0025), "0.0050");
  EXPECT_EQ(axis_text(0.0075, 0.0025), "0.0075");
  EXPECT_EQ(axis_text(0.5, 0.25), "0.50");
  EXPECT_EQ(axis_text(40, 20), "40");
  EXPECT_EQ(axis_text(1e-20, 0.1), "0.0");
  for (double top = 1e-5; top < 1e7; top *= 3.7) {
    const double step = nice_step(top, 5);
    std::string before;
    for (double value = 0; value <= top; value += step) {
      const std::string text = axis_text(value, step);
      EXPECT_NE(text, before) << "step " << step;
      before = text;
    }
  }
}

TEST(Numbers, GroupsEveryInteger) {
  EXPECT_EQ(grouped_text(0), "0");
  EXPECT_EQ(grouped_text(-1234567), "−1,234,567");
  EXPECT_EQ(grouped_text(std::numeric_limits<std::int64_t>::min()), "−9,223,372,036,854,775,808");
}

TEST(Numbers, StepsOfAnAxisAreRound) {
  EXPECT_DOUBLE_EQ(nice_step(1.5, 6), 0.25);
  EXPECT_DOUBLE_EQ(nice_step(3.5, 7), 0.5);
  EXPECT_DOUBLE_EQ(nice_step(100, 5), 20);
  EXPECT_DOUBLE_EQ(nice_step(0, 5), 1);
}

}  // namespace
}  // namespace shardscope::ui
