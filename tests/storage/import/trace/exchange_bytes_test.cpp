#include "storage/import/trace/exchange_bytes.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace shardscope::storage {
namespace {

CollectiveCall call_of(std::int64_t sent, std::int32_t group) {
  CollectiveCall call;
  call.sent_bytes = sent;
  call.group_size = group;
  return call;
}

TEST(ExchangeBytes, KnowsCollectivesByTheirKernels) {
  EXPECT_EQ(collective_kind("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t"),
            CollectiveKind::all_to_all);
  EXPECT_EQ(collective_kind("ncclDevKernel_AllReduce_Sum_f32"), CollectiveKind::all_reduce);
  EXPECT_EQ(collective_kind("ncclDevKernel_ReduceScatter_Sum"), CollectiveKind::reduce_scatter);
  EXPECT_EQ(collective_kind("ncclDevKernel_Broadcast"), CollectiveKind::other);
}

TEST(ExchangeBytes, SpreadsASumEvenlyAndLeavesOutWhatStays) {
  const LinkBytes split = split_by_link(CollectiveKind::all_to_all, call_of(8000, 8), 5, 8, 4);
  EXPECT_EQ(split.intra, 3000) << "three other ranks of the domain, 1000 bytes each";
  EXPECT_EQ(split.inter, 4000);
}

TEST(ExchangeBytes, TakesStatedSplitsByPeer) {
  CollectiveCall call = call_of(1111, 4);
  call.sent_splits = {1, 10, 100, 1000};
  const LinkBytes split = split_by_link(CollectiveKind::all_to_all, call, 1, 4, 2);
  EXPECT_EQ(split.intra, 1);
  EXPECT_EQ(split.inter, 1100);
}

TEST(ExchangeBytes, FollowsTheRanksOfAGroup) {
  CollectiveCall call = call_of(400, 4);
  call.group_ranks = {1, 3, 5, 7};
  const LinkBytes split = split_by_link(CollectiveKind::all_to_all, call, 3, 8, 4);
  EXPECT_EQ(split.intra, 100) << "rank 1";
  EXPECT_EQ(split.inter, 200) << "ranks 5 and 7";
}

TEST(ExchangeBytes, CountsAnAllReduceAsChunksAndSums) {
  const LinkBytes split = split_by_link(CollectiveKind::all_reduce, call_of(4000, 4), 0, 4, 4);
  EXPECT_EQ(split.intra, 3 * 2 * 1000);
  EXPECT_EQ(split.inter, 0);
}

TEST(ExchangeBytes, SurvivesHostileNumbers) {
  CollectiveCall call = call_of(std::int64_t{1} << 50, std::numeric_limits<std::int32_t>::max());
  EXPECT_GT(split_by_link(CollectiveKind::all_gather, call, 0, 2, 1).inter, 0);
  call = call_of(1, 2);
  call.sent_splits = {std::numeric_limits<std::int64_t>::max(),
                      std::numeric_limits<std::int64_t>::max()};
  call.group_ranks = {-2147483647, 2147483647};
  EXPECT_GT(split_by_link(CollectiveKind::all_to_all, call, 1, 2, 1).inter, 0);
  EXPECT_EQ(split_by_link(CollectiveKind::all_to_all, call_of(10, 0), 0, -5, 0).intra, 0);
}

}  // namespace
}  // namespace shardscope::storage
