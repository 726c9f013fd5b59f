#include "ui/model/edits.hpp"

#include <gtest/gtest.h>

#include <random>

namespace shardscope::ui {
namespace {

Table edited_table() {
  return {.name = "t", .rows = 1000, .dim = 128};
}

TablePlacement grid(std::int32_t rows, std::vector<std::int32_t> column_cuts) {
  TablePlacement placement;
  placement.row_shards = rows;
  placement.column_cuts = std::move(column_cuts);
  const std::int32_t cells = rows * placement.column_shards();
  for (std::int32_t c = 0; c < cells; ++c) placement.owners.push_back(c % 4);
  return placement;
}

/// Owner of one element, whatever the cuts.
std::int32_t owner_of_element(const TablePlacement& placement, std::int64_t row,
                              std::int32_t column) {
  std::int32_t k = 0;
  while (placement.column_begin(k) + placement.width(k) <= column) ++k;
  return placement.owner(placement.row_shard_of(row), k);
}

TEST(Edits, MovingAShardChangesItsOwnerAlone) {
  const TablePlacement before = grid(2, {0, 64, 128});
  const auto after = move_shard(before, {0, 1, 0}, 7);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->owners, (std::vector<std::int32_t>{0, 1, 7, 3}));
}

TEST(Edits, AReplicatedTableHasNoShardToMove) {
  EXPECT_FALSE(move_shard(data_parallel(edited_table()), {0, 0, 0}, 1));
}

TEST(Edits, SplittingModuloRowsKeepsEveryOtherElementWhereItWas) {
  const TablePlacement before = grid(2, {0, 64, 128});
  const auto after = split_rows(edited_table(), before, {0, 1, 1}, 2, 9);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->row_shards, 4);
  std::int64_t moved = 0;
  for (std::int64_t row = 0; row < 1000; ++row) {
    for (const std::int32_t column : {0, 63, 64, 127}) {
      const std::int32_t now = owner_of_element(*after, row, column);
      if (now == 9) {
        ++moved;
        EXPECT_EQ(row % 2, 1);
        EXPECT_GE(column, 64);
      } else {
        EXPECT_EQ(now, owner_of_element(before, row, column));
      }
    }
  }
  EXPECT_EQ(moved, 2 * 250);
}

TEST(Edits, ABlockCutGivesTheRowsBehindTheBound) {
  const auto cut = split_rows_at(edited_table(), table_wise(edited_table(), 3), {0, 0, 0}, 700, 5);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->mapping, RowMapping::block);
  EXPECT_EQ(owner_of_element(*cut, 699, 0), 3);
  EXPECT_EQ(owner_of_element(*cut, 700, 0), 5);
  EXPECT_FALSE(split_rows_at(edited_table(), *cut, {0, 0, 0}, 700, 5));
}

TEST(Edits, SplitColumnsThenMergeGivesTheTableBack) {
  std::mt19937 random(20261130);
  RecordProperty("seed", 20261130);
  for (int i = 0; i < 200; ++i) {
    const TablePlacement before = grid(1 + static_cast<std::int32_t>(random() % 3), {0, 32, 128});
    const ShardId shard{0, static_cast<std::int32_t>(random() % before.row_shards),
                        static_cast<std::int32_t>(random() % 2)};
    const std::int32_t begin = before.column_begin(shard.column);
    const std::int32_t bound =
        begin + 1 + static_cast<std::int32_t>(random() % (before.width(shard.column) - 1));
    const auto cut = split_columns_at(edited_table(), before, shard, bound, 6);
    ASSERT_TRUE(cut);
    EXPECT_EQ(cut->column_shards(), 3);
    const auto merged = merge_shards(*cut, shard, {0, shard.row, shard.column + 1});
    ASSERT_TRUE(merged);
    EXPECT_EQ(*merged, before);
  }
}

TEST(Edits, SplitModuloRowsThenMergeGivesTheTableBack) {
  const TablePlacement before = grid(3, {0, 128});
  const auto cut = split_rows(edited_table(), before, {0, 1, 0}, 2, 6);
  ASSERT_TRUE(cut);
  const auto merged = merge_shards(*cut, {0, 1, 0}, {0, 4, 0});
  ASSERT_TRUE(merged);
  EXPECT_EQ(*merged, before);
  EXPECT_FALSE(merge_shards(*cut, {0, 1, 0}, {0, 2, 0}));
}

TEST(Edits, TheLineOfAShardReadsBackAndMovesIt) {
  const TablePlacement whole = table_wise(edited_table(), 2);
  const std::string line = shard_text(edited_table(), whole, {10, 0, 0});
  EXPECT_EQ(line, "(10,0,0) rows 0:1000 cols 0:128 @2");
  const auto same = apply_shard_text(edited_table(), whole, {10, 0, 0}, line, 8);
  ASSERT_TRUE(same);
  EXPECT_EQ(*same, whole);
  const auto cut =
      apply_shard_text(edited_table(), whole, {10, 0, 0}, "(10,0,0) rows 0:600 cols 0:64 @5", 8);
  ASSERT_TRUE(cut);
  EXPECT_EQ(owner_of_element(*cut, 0, 0), 5);
  EXPECT_EQ(owner_of_element(*cut, 0, 64), 2);
  EXPECT_EQ(owner_of_element(*cut, 600, 0), 2);
}

TEST(Edits, WrongLinesAreRefusedWithTheirReason) {
  const TablePlacement whole = table_wise(edited_table(), 2);
  for (const char* line :
       {"", "(10,0,0)", "(9,0,0) rows 0:1000 cols 0:128 @2", "(10,0,0) rows 0:1000 cols 0:128 @8",
        "(10,0,0) rows 5:1000 cols 0:128 @2", "(10,0,0) rows 0:1000 cols 0:999 @2",
        "(10,0,0) rows 0:99999999999999999999 cols 0:128 @2"}) {
    const auto result = apply_shard_text(edited_table(), whole, {10, 0, 0}, line, 8);
    ASSERT_FALSE(result) << line;
    EXPECT_FALSE(result.error().what.empty());
  }
}

TEST(Edits, ClustersKeepCutsBetweenRbAndUb) {
  const TablePlacement cut = grid(2, {0, 64, 128});
  const TablePlacement unique = set_cluster(edited_table(), cut, ClusterType::UB, 0);
  EXPECT_EQ(unique.owners, cut.owners);
  EXPECT_EQ(unique.cluster, ClusterType::UB);
  const TablePlacement everywhere = set_cluster(edited_table(), cut, ClusterType::DP, 0);
  EXPECT_EQ(everywhere, data_parallel(edited_table()));
  EXPECT_EQ(set_cluster(edited_table(), everywhere, ClusterType::RB, 3).owners,
            std::vector<std::int32_t>{3});
}

}  // namespace
}  // namespace shardscope::ui
