#include "storage/import/nccl_tests.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardscope::storage {
namespace {

/// An all-to-all between four GPUs of two hosts, as the program prints it.
const std::vector<std::string> kAllToAll = {
    "# nThread 1 nGpus 1 minBytes 1048576 maxBytes 4194304 step: 2(factor) warmup iters: 5 "
    "iters: 20 agg iters: 1 validation: 1 graph: 0",
    "#",
    "# Using devices",
    "#  Rank  0 Group  0 Pid   4711 on   alpha device  0 [0x17] NVIDIA A100",
    "#  Rank  1 Group  0 Pid   4712 on   alpha device  1 [0x18] NVIDIA A100",
    "#  Rank  2 Group  0 Pid   9911 on    beta device  0 [0x17] NVIDIA A100",
    "#  Rank  3 Group  0 Pid   9912 on    beta device  1 [0x18] NVIDIA A100",
    "#",
    "#                                                out-of-place            in-place",
    "#       size   count    type   redop    root     time   algbw   busbw #wrong     time   "
    "algbw   busbw #wrong",
    "#        (B)  (elements)                         (us)  (GB/s)  (GB/s)            (us)  "
    "(GB/s)  (GB/s)",
    "     1048576   65536   float    none      -1    102.4   10.24    7.68      0    101.1   "
    "10.37    7.78    N/A",
    "     2097152  131072   float    none      -1    180.5   11.62    8.71      0    181.0   "
    "11.58    8.69    N/A",
    "     4194304  262144   float    none      -1    350.0   11.98    8.99      0    349.2   "
    "12.01    9.01    N/A",
    "# Out of bounds values : 0 OK",
    "# Avg bus bandwidth    : 8.48"};

std::string nccl_text(const std::vector<std::string>& lines, const std::string& prefix = "",
                      std::size_t count = 1000) {
  std::string text;
  for (std::size_t i = 0; i < lines.size() && i < count; ++i) text += prefix + lines[i] + "\n";
  return text;
}

NcclTest only_test(const std::string& text, std::int32_t ranks = 0,
                   const std::string& name = "alltoall.txt") {
  ImportNotes notes(name);
  const auto tests = read_nccl_tests(text, ranks, name, notes);
  EXPECT_TRUE(tests) << to_string(tests.error());
  if (!tests) return {};
  EXPECT_EQ(tests->size(), 1U);
  return tests->front();
}

TEST(NcclTests, AnAllToAllGivesMessagesAndTimes) {
  const NcclTest test = only_test(nccl_text(kAllToAll));
  EXPECT_EQ(test.collective, "alltoall");
  EXPECT_EQ(test.ranks, 4);
  EXPECT_EQ(test.hosts, 2);
  ASSERT_EQ(test.times.size(), 3U);
  EXPECT_DOUBLE_EQ(test.times[0].message_bytes, 262144);
  EXPECT_DOUBLE_EQ(test.times[0].received_bytes, 3 * 262144);
  EXPECT_DOUBLE_EQ(test.times[0].seconds, 102.4e-6);
  // The bus bandwidth that the program prints is what a rank receives a second.
  EXPECT_NEAR(test.times[2].received_bytes / test.times[2].seconds / 1e9, 8.99, 0.01);
}

TEST(NcclTests, PrefixesOfLaunchersDoNotMatter) {
  const NcclTest plain = only_test(nccl_text(kAllToAll));
  for (const char* prefix : {"[1,0]<stdout>: ", "0: ", "2026-01-01 12:00:00 node3 | "}) {
    const NcclTest test = only_test(nccl_text(kAllToAll, prefix));
    EXPECT_EQ(test.times, plain.times) << prefix;
    EXPECT_EQ(test.ranks, 4) << prefix;
  }
}

TEST(NcclTests, ATruncatedTableKeepsItsLines) {
  std::string text = nccl_text(kAllToAll, "", 13);
  text += "     4194304  262144   flo";
  EXPECT_EQ(only_test(text).times.size(), 2U);
}

TEST(NcclTests, LinesAloneTakeTheRanksThatAreGiven) {
  const std::string line = "  4194304  262144   float    none      -1    350.0\n";
  const NcclTest test = only_test(line, 8);
  EXPECT_EQ(test.ranks, 8);
  EXPECT_DOUBLE_EQ(test.times.front().received_bytes, 4194304.0 * 7 / 8);
  ImportNotes notes("lines");
  const auto unknown = read_nccl_tests(line, 0, "lines", notes);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(to_string(unknown.error()), testing::HasSubstr("--topology"));
}

TEST(NcclTests, OlderOutputsHaveNoRoot) {
  const NcclTest test = only_test(
      "     8192    2048   float     sum    25.31    0.32    0.57  1e-07    24.90    0.33    0.58  "
      "1e-07\n",
      8, "old_all_reduce.log");
  EXPECT_EQ(test.collective, "all_reduce");
  EXPECT_DOUBLE_EQ(test.times.front().seconds, 25.31e-6);
  EXPECT_DOUBLE_EQ(test.times.front().received_bytes, 2 * 8192.0 * 7 / 8);
}

TEST(NcclTests, AWholeTimeIsNoRoot) {
  const NcclTest test =
      only_test(" 1073741824 16777216 float none -1 98765 10.9 10.1 0 98700 10.9 10.1 N/A\n", 16);
  EXPECT_DOUBLE_EQ(test.times.front().seconds, 98765e-6);
}

TEST(NcclTests, SeveralTestsOfOneLogStandApart) {
  const std::string reduce =
      "$ ./all_reduce_perf -b 8 -e 128M\n"
      "  1024  256  float  sum  -1  20.0  0.05  0.09  0  20.0  0.05  0.09  0\n";
  ImportNotes notes("log");
  const auto tests =
      read_nccl_tests(reduce + "$ ./alltoall_perf -b 1M\n" + nccl_text(kAllToAll), 8, "log", notes);
  ASSERT_TRUE(tests);
  ASSERT_EQ(tests->size(), 2U);
  EXPECT_EQ(tests->at(0).collective, "all_reduce");
  EXPECT_EQ(tests->at(0).ranks, 8);
  EXPECT_EQ(tests->at(1).collective, "alltoall");
  EXPECT_EQ(tests->at(1).ranks, 4);
}

TEST(NcclTests, AnUnnamedReductionIsToldByItsBusBandwidth) {
  ImportNotes notes("log");
  const auto tests = read_nccl_tests(
      "  67108864  16777216  float  sum  -1  400.0  167.77  293.6  0\n", 8, "log", notes);
  ASSERT_TRUE(tests);
  EXPECT_EQ(tests->front().collective, "all_reduce");
  EXPECT_EQ(notes.warning_count(), 1);
}

TEST(NcclTests, RepeatedSizesGiveTheirMedian) {
  std::string text;
  for (const char* time : {"90.0", "100.0", "900.0"})
    text += std::string("  4194304  262144  float  none  -1  ") + time + "\n";
  const NcclTest test = only_test(text, 4);
  ASSERT_EQ(test.times.size(), 1U);
  EXPECT_DOUBLE_EQ(test.times.front().seconds, 100e-6);
}

TEST(NcclTests, OtherTextIsRefused) {
  ImportNotes notes("poem");
  const auto tests = read_nccl_tests("roses are red\n1 2 float\n", 8, "poem", notes);
  ASSERT_FALSE(tests);
  EXPECT_EQ(tests.error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace shardscope::storage
