#include "layout/memory.hpp"

#include <gtest/gtest.h>

#include "layout/buffers.hpp"
#include "layout/dense_sizes.hpp"
#include "tests/layout/check_case.hpp"

namespace shardscope {
namespace {

using check_case::Case;
using check_case::valid_case;

MemoryAccount account_of(const Case& one) {
  return memory_of(one.workload, one.topology, one.layout, one.executor);
}

TEST(MemoryEngine, IsTheSumOfTheBuffersOfEveryRank) {
  Case one = valid_case(Executor::engine);
  one.workload.tables[0].rows = 1003;  // shards whose bytes are no multiple of the alignment
  const MemoryAccount account = account_of(one);
  const BatchCounts counts = expected_counts(one.workload, one.layout);
  const Schedule schedule =
      make_schedule(ScheduleKind::inter, presence_of(one.workload, one.layout));
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    const std::int64_t arena =
        arena_bytes(engine_buffers(one.workload, one.topology, one.layout, schedule, rank, counts));
    EXPECT_EQ(account.gpus[static_cast<std::size_t>(rank)].total(), arena) << rank;
  }
}

TEST(MemoryEngine, ReserveAndDensePartAreCounted) {
  Case one = valid_case(Executor::engine);
  const std::int64_t before = account_of(one).gpus[0].total();
  one.topology.reserve_bytes = 12345;
  EXPECT_EQ(account_of(one).gpus[0].total(), before + 12345);
  one.workload.dense = {.dense_features = 4,
                        .bottom_mlp = {8},
                        .interaction = Interaction::concat,
                        .top_mlp = {16, 1}};
  EXPECT_GT(account_of(one).gpus[0].dense, dense_sizes(one.workload, 16).parameter_bytes);
}

TEST(MemoryTiers, DecideWhereWeightsLieAndWhatBookkeepingCosts) {
  Case one = valid_case(Executor::torchrec);
  one.placement(0) = table_wise(one.workload.tables[0], 0);
  const auto use_with = [&](ShardTier tier) {
    one.placement(0).tiers = {tier};
    return account_of(one);
  };
  constexpr std::int64_t kWeights = 1000 * 16 * 4;
  constexpr std::int64_t kReplicated = 50 * 8 * 4;
  const MemoryAccount hbm = use_with({Tier::hbm});
  EXPECT_EQ(hbm.gpus[0].weights, kWeights + kReplicated);
  EXPECT_EQ(hbm.gpus[0].optimizer_state, kWeights + kReplicated);
  EXPECT_EQ(hbm.hosts[0].weights, 0);
  const MemoryAccount uvm = use_with({Tier::uvm});
  EXPECT_EQ(uvm.gpus[0].weights, kReplicated);
  EXPECT_EQ(uvm.hosts[0].weights, kWeights);
  EXPECT_EQ(uvm.hosts[0].optimizer_state, kWeights);
  const MemoryAccount cached = use_with({Tier::uvm_cached, 0.25});
  EXPECT_EQ(cached.gpus[0].weights, kWeights / 4 + kReplicated);
  EXPECT_EQ(cached.hosts[0].weights, kWeights);
  EXPECT_EQ(cached.gpus[0].tier_overhead, 1000 * (4 + 16 / 4));
  const MemoryAccount ssd = use_with({Tier::ssd, 0.5});
  EXPECT_EQ(ssd.gpus[0].weights, kWeights / 2 + kReplicated);
  EXPECT_EQ(ssd.hosts[0].weights, 0);
  const MemoryAccount hash = use_with({Tier::hash});
  EXPECT_EQ(hash.gpus[0].weights, kWeights + kReplicated);
  EXPECT_EQ(hash.gpus[0].tier_overhead, 1000 * (8 + 8) * 2);
}

TEST(MemoryTiers, RowWiseStateIsCountedPerColumnShard) {
  Case one = valid_case(Executor::hugectr);
  one.workload.tables[0].optimizer = make_optimizer(OptimizerKind::rowwise_adagrad);
  one.workload.tables[1].optimizer = make_optimizer(OptimizerKind::sgd);
  one.workload.tables[2].optimizer = make_optimizer(OptimizerKind::sgd);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(account_of(one).gpus[rank].optimizer_state, 500 * 4);
  }
}

/// One table on one of two GPUs, no dense part: every term by hand.
Case by_hand(Executor executor) {
  Case one;
  one.executor = executor;
  one.topology = *topology_by_name("host-cpu:1x2");
  one.workload.global_batch = 10;
  one.workload.wire = DType::fp16;
  one.workload.tables = {{.name = "t", .rows = 100, .dim = 8}};
  one.workload.features = {{.name = "f", .hotness = Hotness::fixed(3)}};
  one.layout.ranks = 2;
  one.layout.table_names = {"t"};
  one.layout.tables = {table_wise(one.workload.tables[0], 1)};
  return one;
}

TEST(MemoryHugectr, TermsOfOneTable) {
  const MemoryAccount account = account_of(by_hand(Executor::hugectr));
  const MemoryUse& owner = account.gpus[1];
  EXPECT_EQ(owner.weights, 100 * 8 * 4);
  // output and gradient 5x8, partials received 5x8 twice, sums sent 10x8 twice; 2 bytes each
  EXPECT_EQ(owner.communication, (5 * 8 * 2 + 5 * 8 * 2 + 10 * 8 * 2) * 2);
  // keys to send 15 twice; received 30 twice and a bucket range a bag; a pointer an id
  EXPECT_EQ(owner.indices, 15 * 4 * 2 + 30 * 4 * 2 + 10 * 4 * 2 + 30 * 8);
  EXPECT_EQ(owner.sort, 30 * (4 + 4 + 4 + 4 + 8));
  EXPECT_EQ(owner.wgrad, 30 * 8 * 2 + 30 * (4 + 4 + 4));
  const MemoryUse& consumer = account.gpus[0];
  EXPECT_EQ(consumer.weights, 0);
  EXPECT_EQ(consumer.communication, (5 * 8 * 2 + 5 * 8 * 2) * 2);
  EXPECT_EQ(consumer.wgrad, 0);
}

TEST(MemoryHugectr, RowShardsMultiplyReceivedPartialsAndHierarchyAddsRailBuffers) {
  Case one = by_hand(Executor::hugectr);
  const std::int64_t flat = account_of(one).gpus[0].communication;
  one.placement(0) = row_wise(one.workload.tables[0], {0, 1});
  // as owner: sums of 10 bags to send; as consumer: partials of two row shards instead of one
  EXPECT_EQ(account_of(one).gpus[0].communication, flat + (5 * 8 * 2) * 2 + (10 * 8 * 2) * 2);
  const std::int64_t cut = account_of(one).gpus[0].communication;
  one.options(ClusterType::RB).exchange = Exchange::hierarchical;
  // 5 samples of its rail: two owners' vectors, and the lookup once
  EXPECT_EQ(account_of(one).gpus[0].communication, cut + 5 * (8 + 8 + 8) * 2 * 2);
}

TEST(MemoryHugectr, ReplicatedTablesKeepADenseGradient) {
  Case one = by_hand(Executor::hugectr);
  one.placement(0) = data_parallel(one.workload.tables[0]);
  const MemoryUse use = account_of(one).gpus[0];
  EXPECT_EQ(use.weights, 100 * 8 * 4);
  EXPECT_EQ(use.wgrad, 100 * 8 * 2 + 100 * (4 + 4 + 4));
}

TEST(MemoryTorchrec, TermsOfOneTable) {
  const MemoryAccount account = account_of(by_hand(Executor::torchrec));
  const MemoryUse& owner = account.gpus[1];
  const std::int64_t input = 30 * 8;
  EXPECT_EQ(owner.communication, 10 * 8 * 4);
  EXPECT_EQ(owner.indices, 2 * input + 20 * (15 * 8));
  EXPECT_EQ(owner.sort, 30 * 40);
  EXPECT_EQ(account.gpus[0].indices, 20 * (15 * 8));
}

TEST(MemoryTorchrec, RowShardsSeeTheirShareOfIdsAndReturnEveryBag) {
  Case one = by_hand(Executor::torchrec);
  one.placement(0) = row_wise(one.workload.tables[0], {0, 1});
  one.placement(0).mapping = RowMapping::block;
  one.placement(0).row_cuts = {0, 20, 100};
  const MemoryAccount account = account_of(one);
  EXPECT_EQ(account.gpus[0].communication, 10 * 8 * 4);
  EXPECT_EQ(account.gpus[0].indices - 20 * 15 * 8, 2 * 30 * 8 / 5);
}

TEST(MemoryHost, LoadingNeedsACopyOfTheLargestShardOfEachRank) {
  const Case one = valid_case(Executor::hugectr);
  // rb: 500 x 8 with adagrad state on each of the host's two ranks
  EXPECT_EQ(account_of(one).hosts[0].transients, 2 * (500 * 8 * 4 * 2));
}

}  // namespace
}  // namespace shardscope
