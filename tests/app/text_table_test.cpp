#include "app/text_table.hpp"

#include <gtest/gtest.h>

#include "app/console.hpp"
#include "app/progress.hpp"

namespace shardscope::app {
namespace {

TEST(TextTable, AlignsNumbersRightAndTextLeftWithoutTrailingBlanks) {
  TextTable table({{"stage", Align::left}, {"ms"}});
  table.row({"update", "1.25"});
  table.row({"input_dist", "12.5"});
  table.rule();
  table.row({"all", "13.75"});
  EXPECT_EQ(table.text(),
            "stage          ms\n"
            "update       1.25\n"
            "input_dist   12.5\n"
            "─────────────────\n"
            "all         13.75\n");
  EXPECT_TRUE(table.text(2).starts_with("  stage "));
}

TEST(TextTable, CountsColumnsNotBytes) {
  EXPECT_EQ(columns_of("█▌ é"), 4);
  EXPECT_EQ(columns_of("\x1b[31mred\x1b[0m"), 3);
  TextTable table({{"bar", Align::left}, {"n"}});
  table.row({"█", "1"});
  EXPECT_EQ(table.text(), "bar  n\n█    1\n");
}

TEST(Counted, IsPluralButForOne) {
  EXPECT_EQ(counted(1, "rank"), "1 rank");
  EXPECT_EQ(counted(0, "look"), "0 looks");
  EXPECT_EQ(counted(1234, "iteration"), "1,234 iterations");
}

TEST(Bar, HasEighthsAndAlwaysItsWidth) {
  EXPECT_EQ(bar(0, 4), "    ");
  EXPECT_EQ(bar(1, 4), "████");
  EXPECT_EQ(bar(0.5, 4), "██  ");
  EXPECT_EQ(bar(1.0 / 32, 4), "▏   ");
  EXPECT_EQ(bar(7, 4), "████");
  for (int share = 0; share <= 64; ++share) EXPECT_EQ(columns_of(bar(share / 64.0, 8)), 8);
}

TEST(Numbers, HaveUnitsAndThreeDigits) {
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(-999), "-999");
  EXPECT_EQ(count_text(950), "950");
  EXPECT_EQ(count_text(1200), "1.20 k");
  EXPECT_EQ(count_text(4e7), "40.0 M");
  EXPECT_EQ(ms_text(0), "0");
  EXPECT_EQ(ms_text(0.01234), "0.012");
  EXPECT_EQ(ms_text(1.2344), "1.234");
  EXPECT_EQ(ms_text(123.456), "123.5");
  EXPECT_EQ(ms_text(12345.6), "12346");
}

TEST(Durations, ReadLikeSpeech) {
  EXPECT_EQ(duration_text(0.04), "0.0 s");
  EXPECT_EQ(duration_text(4.21), "4.2 s");
  EXPECT_EQ(duration_text(42.4), "42 s");
  EXPECT_EQ(duration_text(83), "1 min 23 s");
  EXPECT_EQ(duration_text(7260), "2 h 1 min");
}

TEST(ProgressLine, TellsShareElapsedAndLeft) {
  EXPECT_EQ(Progress::line("profile", 0.25, 3, "12 blocks"),
            "profile   25 %  3.0 s, 9.0 s left  12 blocks");
  EXPECT_EQ(Progress::line("profile", 0, 3, ""), "profile    0 %  3.0 s");
}

}  // namespace
}  // namespace shardscope::app
