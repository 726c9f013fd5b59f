#include "layout/byte_text.hpp"

#include <gtest/gtest.h>

namespace shardscope {
namespace {

TEST(ByteText, AmountsHaveThreeDigitsAndPowersOf1024) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1.00 KiB");
  EXPECT_EQ(bytes_text(312 * 1024), "312 KiB");
  EXPECT_EQ(bytes_text(1.5 * 1024 * 1024), "1.50 MiB");
  EXPECT_EQ(bytes_text(38.1 * (1 << 30)), "38.1 GiB");
  EXPECT_EQ(bytes_text(123.0 * (1 << 30)), "123 GiB");
}

TEST(ByteText, RatesArePowersOf1000) {
  EXPECT_EQ(bytes_per_s_text(0), "0 B/s");
  EXPECT_EQ(bytes_per_s_text(1.94e9), "1.94 GB/s");
  EXPECT_EQ(bytes_per_s_text(575e6), "575 MB/s");
  EXPECT_EQ(bytes_per_s_text(999.6e6), "1.00 GB/s");
}

}  // namespace
}  // namespace shardscope
