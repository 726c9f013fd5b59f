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
  EXPECT_EQ(bytes_text(575e6), "575 MB");
  EXPECT_EQ(bytes_text(1.94e9), "1.94 GB");
  EXPECT_EQ(count_text(3067956), "3.07M");
  EXPECT_EQ(count_text(2209), "2,209");
  EXPECT_EQ(mega_text(17.24e6), "17.24");
  EXPECT_EQ(duration_text(149800), "149.8 µs");
  EXPECT_EQ(plural(1, "table"), "1 table");
  EXPECT_EQ(plural(26, "table"), "26 tables");
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
