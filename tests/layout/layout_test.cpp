#include "layout/layout.hpp"

#include <gtest/gtest.h>

namespace shardscope {
namespace {

/// Every row lies in exactly one shard, at a local index below the shard's rows, and is found back.
void expect_exact_cover(const TablePlacement& placement, std::int64_t rows) {
  std::vector<std::vector<bool>> seen(static_cast<std::size_t>(placement.row_shards));
  std::int64_t total = 0;
  for (std::int32_t j = 0; j < placement.row_shards; ++j) {
    seen[static_cast<std::size_t>(j)].resize(static_cast<std::size_t>(placement.rows_in(j, rows)),
                                             false);
    total += placement.rows_in(j, rows);
  }
  EXPECT_EQ(total, rows);
  for (std::int64_t id = 0; id < rows; ++id) {
    const std::int32_t j = placement.row_shard_of(id);
    const std::int64_t local = placement.local_row(id);
    ASSERT_GE(local, 0);
    ASSERT_LT(local, placement.rows_in(j, rows)) << "row " << id;
    EXPECT_FALSE(seen[static_cast<std::size_t>(j)][static_cast<std::size_t>(local)]);
    seen[static_cast<std::size_t>(j)][static_cast<std::size_t>(local)] = true;
    EXPECT_EQ(placement.global_row(j, local), id);
  }
}

TEST(Placement, ModuloShardsCoverEveryRowOnce) {
  const Table table{.name = "t", .rows = 23, .dim = 4};
  for (const std::size_t shards : {1, 2, 5, 23, 30}) {
    expect_exact_cover(row_wise(table, std::vector<std::int32_t>(shards, 0)), table.rows);
  }
}

TEST(Placement, BlockShardsCoverEveryRowOnceWithUnequalAndEmptyShards) {
  TablePlacement placement;
  placement.mapping = RowMapping::block;
  placement.row_shards = 5;
  placement.row_cuts = {0, 2, 2, 9, 23, 23};
  expect_exact_cover(placement, 23);
}

TEST(Placement, WidthsAndOwnersAreIndexedByRowThenColumn) {
  TablePlacement placement;
  placement.row_shards = 2;
  placement.column_cuts = {0, 4, 16};
  placement.owners = {3, 1, 0, 2};
  EXPECT_EQ(placement.column_shards(), 2);
  EXPECT_EQ(placement.width(0), 4);
  EXPECT_EQ(placement.width(1), 12);
  EXPECT_EQ(placement.column_begin(1), 4);
  EXPECT_EQ(placement.owner(0, 1), 1);
  EXPECT_EQ(placement.owner(1, 0), 0);
}

TEST(Layout, ShardsAreListedByTableRowColumnWithoutDataParallelTables) {
  const Table table{.name = "t", .rows = 8, .dim = 4};
  Layout layout;
  layout.tables = {data_parallel(table), row_wise(table, {2, 0}), table_wise(table, 1)};
  EXPECT_EQ(shards_of(layout), (std::vector<Shard>{{1, 0, 0, 2}, {1, 1, 0, 0}, {2, 0, 0, 1}}));
  EXPECT_TRUE(layout.tables[0].owners.empty());
  EXPECT_EQ(layout.tables[0].column_shards(), 1);
}

TEST(Layout, TablesOverrideTheirClustersExchangeAndCodecs) {
  const Table table{.name = "t", .rows = 8, .dim = 4};
  Layout layout;
  layout.tables = {table_wise(table, 0), table_wise(table, 0)};
  layout.clusters[static_cast<std::size_t>(ClusterType::RB)].exchange = Exchange::hierarchical;
  layout.tables[1].exchange = Exchange::flat;
  layout.tables[1].codecs = CodecSlots{};
  layout.tables[1].codecs->forward_inter.name = "fp16";
  EXPECT_EQ(layout.exchange_of(0), Exchange::hierarchical);
  EXPECT_EQ(layout.exchange_of(1), Exchange::flat);
  EXPECT_EQ(layout.codecs_of(0).forward_inter.name, "raw");
  EXPECT_EQ(layout.codecs_of(1).forward_inter.name, "fp16");
}

}  // namespace
}  // namespace shardscope
