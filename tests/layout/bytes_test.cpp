#include "layout/bytes.hpp"

#include <numeric>

#include <gtest/gtest.h>

namespace shardscope {
namespace {

/// Two hosts of two ranks, eight samples.
Topology bytes_topology() {
  Topology topology;
  topology.hosts = 2;
  topology.gpus_per_host = 2;
  topology.fast_domain = 2;
  return topology;
}

Workload bytes_workload(std::int32_t hotness = 3) {
  Workload workload;
  workload.tables = {Table{.name = "t", .rows = 100, .dim = 8}};
  Feature feature;
  feature.name = "f";
  feature.hotness = Hotness::fixed(hotness);
  workload.features = {feature};
  workload.global_batch = 8;
  return workload;
}

Layout bytes_layout(TablePlacement placement) {
  Layout layout;
  layout.ranks = 4;
  layout.table_names = {"t"};
  layout.tables = {std::move(placement)};
  return layout;
}

LinkBytes sent(const std::vector<RankTraffic>& traffic, std::size_t rank, Stage stage, Work work) {
  return traffic[rank].at(stage, work);
}

TEST(Bytes, TableWiseRbSendsIdsOnceAndOnePartialVectorABag) {
  const Workload workload = bytes_workload();
  const Layout layout = bytes_layout(table_wise(workload.tables[0], 1));
  const auto traffic =
      traffic_of(workload, bytes_topology(), layout, expected_counts(workload, layout));
  // Two samples a rank: 2 lengths and 6 ids of 4 bytes to rank 1, a count slot to every rank.
  EXPECT_EQ(sent(traffic, 0, Stage::input_dist, Work::RB), (LinkBytes{8 + 2 * 4 + 6 * 4, 2 * 8}));
  EXPECT_EQ(sent(traffic, 2, Stage::input_dist, Work::RB), (LinkBytes{8, 8 + 2 * 4 + 6 * 4 + 8}));
  // Rank 1 returns 2 bags x 8 columns x 4 bytes to each other rank.
  EXPECT_EQ(sent(traffic, 1, Stage::network_forward, Work::RB), (LinkBytes{64, 128}));
  EXPECT_EQ(sent(traffic, 0, Stage::network_forward, Work::RB), (LinkBytes{}));
  EXPECT_EQ(sent(traffic, 0, Stage::network_backward, Work::RB), (LinkBytes{64, 0}));
  EXPECT_EQ(sent(traffic, 1, Stage::network_backward, Work::RB), (LinkBytes{}));
}

TEST(Bytes, RowShardsOfOneOwnerShareAPartialVector) {
  const Workload workload = bytes_workload();
  const Layout one = bytes_layout(row_wise(workload.tables[0], {1, 1}));
  const Layout two = bytes_layout(row_wise(workload.tables[0], {1, 3}));
  const auto traffic_one =
      traffic_of(workload, bytes_topology(), one, expected_counts(workload, one));
  const auto traffic_two =
      traffic_of(workload, bytes_topology(), two, expected_counts(workload, two));
  EXPECT_EQ(sent(traffic_one, 1, Stage::network_forward, Work::RB), (LinkBytes{64, 128}));
  EXPECT_EQ(sent(traffic_two, 1, Stage::network_forward, Work::RB), (LinkBytes{64, 128}));
  EXPECT_EQ(sent(traffic_two, 3, Stage::network_forward, Work::RB), (LinkBytes{64, 128}));
}

TEST(Bytes, ColumnShardsKeepVectorBytesAndRepeatIdsPerOwner) {
  const Workload workload = bytes_workload();
  TablePlacement placement = row_wise(workload.tables[0], {1});
  placement.column_cuts = {0, 2, 8};
  placement.owners = {1, 2};
  const Layout layout = bytes_layout(placement);
  const auto traffic =
      traffic_of(workload, bytes_topology(), layout, expected_counts(workload, layout));
  EXPECT_EQ(sent(traffic, 0, Stage::input_dist, Work::RB), (LinkBytes{8 + 32, 8 + 32 + 8}));
  EXPECT_EQ(sent(traffic, 1, Stage::network_forward, Work::RB), (LinkBytes{16, 32}));
  EXPECT_EQ(sent(traffic, 2, Stage::network_forward, Work::RB), (LinkBytes{48, 96}));
  placement.owners = {1, 1};
  const Layout same = bytes_layout(placement);
  const auto same_traffic =
      traffic_of(workload, bytes_topology(), same, expected_counts(workload, same));
  EXPECT_EQ(sent(same_traffic, 0, Stage::input_dist, Work::RB), (LinkBytes{8 + 32, 2 * 8}));
}

TEST(Bytes, HierarchyCrossesDomainsOncePerPartialHoweverManyRowShardsADomainHas) {
  const Workload workload = bytes_workload();
  Layout layout = bytes_layout(row_wise(workload.tables[0], {0, 1, 2, 3}));
  const BatchCounts counts = expected_counts(workload, layout);
  const auto flat = traffic_of(workload, bytes_topology(), layout, counts);
  layout.clusters[static_cast<std::size_t>(ClusterType::RB)].exchange = Exchange::hierarchical;
  const auto hierarchical = traffic_of(workload, bytes_topology(), layout, counts);
  // Flat: 64 bytes to each peer. Hierarchical: both bags of both ranks of the other rail inside,
  // then one sum for the rail's rank of the other domain.
  EXPECT_EQ(sent(flat, 0, Stage::network_forward, Work::RB), (LinkBytes{64, 128}));
  EXPECT_EQ(sent(hierarchical, 0, Stage::network_forward, Work::RB), (LinkBytes{128, 64}));
  EXPECT_EQ(sent(hierarchical, 0, Stage::network_backward, Work::RB), (LinkBytes{128, 64}));
}

TEST(Bytes, UbSendsDistinctRowsAndTheWireTypeHalvesThem) {
  Workload workload = bytes_workload();
  workload.wire = DType::fp16;
  workload.key = KeyType::i64;
  const Layout layout = bytes_layout(table_wise(workload.tables[0], 0, ClusterType::UB));
  BatchCounts counts = expected_counts(workload, layout);
  counts.requests[0] = {1, 2, 3, 4};
  const auto traffic = traffic_of(workload, bytes_topology(), layout, counts);
  EXPECT_EQ(sent(traffic, 1, Stage::input_dist, Work::UB), (LinkBytes{8 + 2 * 8, 2 * 8}));
  EXPECT_EQ(sent(traffic, 0, Stage::network_forward, Work::UB),
            (LinkBytes{2 * 8 * 2, (3 + 4) * 8 * 2}));
  EXPECT_EQ(sent(traffic, 3, Stage::network_backward, Work::UB), (LinkBytes{0, 4 * 8 * 2}));
}

TEST(Bytes, DataParallelGradientsAreReducedInChunksWithATouchMarkARow) {
  const Workload workload = bytes_workload();
  const Layout layout = bytes_layout(data_parallel(workload.tables[0]));
  const auto traffic =
      traffic_of(workload, bytes_topology(), layout, expected_counts(workload, layout));
  // 100 rows x (8 + 1) elements in chunks of 225: 225 out and 225 reduced ones to each peer.
  EXPECT_EQ(sent(traffic, 0, Stage::allreduce, Work::DP), (LinkBytes{1800, 3600}));
  EXPECT_EQ(sent(traffic, 0, Stage::input_dist, Work::RB), (LinkBytes{}));
}

TEST(Bytes, RowwiseStateOfCutColumnsSharesSquareSumsUnlessKeptPerShard) {
  Workload workload = bytes_workload();
  workload.tables[0].optimizer = make_optimizer(OptimizerKind::rowwise_adagrad);
  TablePlacement placement = row_wise(workload.tables[0], {1});
  placement.column_cuts = {0, 4, 8};
  placement.owners = {1, 2};
  const Layout layout = bytes_layout(placement);
  BatchCounts counts = expected_counts(workload, layout);
  counts.unique[0] = {11};
  const auto traffic = traffic_of(workload, bytes_topology(), layout, counts);
  EXPECT_EQ(sent(traffic, 1, Stage::update, Work::RB), (LinkBytes{0, 44}));
  EXPECT_EQ(sent(traffic, 2, Stage::update, Work::RB), (LinkBytes{0, 44}));
  workload.tables[0].optimizer.per_shard = true;
  const auto per_shard = traffic_of(workload, bytes_topology(), layout, counts);
  EXPECT_EQ(sent(per_shard, 1, Stage::update, Work::RB), (LinkBytes{}));
}

TEST(Bytes, RaisingKeepsTheLargestOfEachCount) {
  BatchCounts into;
  raise_to(into, {{{1, 5}}, {{}}, {{3}}});
  raise_to(into, {{{2, 4}}, {{7}}, {{1}}});
  EXPECT_EQ(into.ids, (std::vector<std::vector<std::int64_t>>{{2, 5}}));
  EXPECT_EQ(into.requests, (std::vector<std::vector<std::int64_t>>{{7}}));
  EXPECT_EQ(into.unique, (std::vector<std::vector<std::int64_t>>{{3}}));
}

TEST(Bytes, ExpectedDistinctRowsNeverExceedTheShard) {
  Workload workload = bytes_workload(1000);
  const Layout layout = bytes_layout(row_wise(workload.tables[0], {0, 1, 2}, ClusterType::UB));
  const BatchCounts counts = expected_counts(workload, layout);
  EXPECT_EQ(counts.unique[0], (std::vector<std::int64_t>{34, 33, 33}));
  EXPECT_EQ(counts.requests[0][0], 34);
  EXPECT_EQ(counts.ids[0][0], 680);  // 2 samples x 1000 ids x 34 of 100 rows
}

}  // namespace
}  // namespace shardscope
