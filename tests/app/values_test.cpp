#include "app/values.hpp"

#include <gtest/gtest.h>

namespace shardscope::app {
namespace {

TEST(Values, SharesArePercentOrFractions) {
  EXPECT_DOUBLE_EQ(parse_share("1%", "--ci").value(), 0.01);
  EXPECT_DOUBLE_EQ(parse_share("0.5%", "--ci").value(), 0.005);
  EXPECT_DOUBLE_EQ(parse_share("0.02", "--ci").value(), 0.02);
  for (const char* text : {"", "%", "0", "-1%", "100%", "1.5", "x", "1%%", "nan", "1e400"}) {
    EXPECT_FALSE(parse_share(text, "--ci").has_value()) << text;
  }
}

TEST(Values, TimesHaveUnits) {
  EXPECT_DOUBLE_EQ(parse_seconds("60s", "--budget").value(), 60);
  EXPECT_DOUBLE_EQ(parse_seconds("60", "--budget").value(), 60);
  EXPECT_DOUBLE_EQ(parse_seconds("500ms", "--budget").value(), 0.5);
  EXPECT_DOUBLE_EQ(parse_seconds("2min", "--budget").value(), 120);
  EXPECT_DOUBLE_EQ(parse_seconds("2m", "--budget").value(), 120);
  EXPECT_DOUBLE_EQ(parse_seconds("1.5h", "--budget").value(), 5400);
  for (const char* text : {"", "s", "0s", "-3s", "60 s", "1d", "inf"}) {
    EXPECT_FALSE(parse_seconds(text, "--budget").has_value()) << text;
  }
}

TEST(Values, WireIsForBothLinkClassesOrEach) {
  EXPECT_DOUBLE_EQ(parse_wire("")->intra_bytes_per_s, 0);
  EXPECT_DOUBLE_EQ(parse_wire("4")->intra_bytes_per_s, 4e9);
  EXPECT_DOUBLE_EQ(parse_wire("4")->inter_bytes_per_s, 4e9);
  EXPECT_DOUBLE_EQ(parse_wire("10,0.5")->inter_bytes_per_s, 0.5e9);
  for (const char* text : {"0", "a", "1,", ",1", "1,2,3", "-1"}) {
    EXPECT_FALSE(parse_wire(text).has_value()) << text;
  }
}

TEST(Values, NamesAreMatchedExactly) {
  EXPECT_EQ(parse_schedule("inter").value(), ScheduleKind::inter);
  EXPECT_FALSE(parse_schedule("Inter").has_value());
  EXPECT_EQ(parse_executor("torchrec").value(), Executor::torchrec);
  EXPECT_FALSE(parse_executor("pytorch").has_value());
  EXPECT_EQ(parse_range_policy("wrap").value(), engine::RangePolicy::wrap);
  EXPECT_EQ(parse_schedule("fast").error().kind, ErrorKind::usage);
}

TEST(Values, BackendsThatCannotRunHereSayWhy) {
  EXPECT_EQ(parse_comm("cpu", "threads").value(), engine::CommKind::threads);
  EXPECT_EQ(parse_comm("cpu", "loopback").value(), engine::CommKind::loopback);
  EXPECT_EQ(parse_comm("cuda", "threads").error().kind, ErrorKind::usage);
  EXPECT_EQ(parse_comm("cuda", "loopback").value(), engine::CommKind::loopback);
  EXPECT_EQ(parse_comm("cuda", "nccl").value(), engine::CommKind::nccl);
  EXPECT_EQ(parse_comm("cpu", "nccl").error().kind, ErrorKind::usage);
  EXPECT_EQ(parse_comm("tpu", "threads").error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace shardscope::app
