#include <map>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/batches/batch.hpp"
#include "engine/batches/row_set.hpp"

namespace shardscope::engine {
namespace {

/// Four tables under DP, RB modulo, UB block and UB modulo; the UB ones read by two features.
Workload counted_workload(KeyType key) {
  Workload workload;
  workload.name = "counted";
  workload.global_batch = 150;
  workload.key = key;
  const std::int64_t rows[] = {50, 1000, 5'000'000, 40};
  for (int i = 0; i < 4; ++i) {
    Table table;
    table.name = fmt::format("table{}", i);
    table.rows = rows[i];
    table.dim = 8;
    workload.tables.push_back(table);
  }
  for (const int table : {0, 1, 2, 2, 3, 3}) {
    Feature feature;
    feature.name = fmt::format("feature{}", workload.features.size());
    feature.table = table;
    feature.hotness = Hotness::uniform(0, 6);
    feature.num_poolings = table == 1 ? 2 : 1;
    workload.features.push_back(feature);
  }
  return workload;
}

Layout counted_layout(const Workload& workload, std::int32_t ranks, bool dedup) {
  Layout layout;
  layout.ranks = ranks;
  layout.clusters[static_cast<std::size_t>(ClusterType::UB)].dedup = dedup;
  layout.tables.push_back(data_parallel(workload.tables[0]));
  layout.tables.push_back(row_wise(workload.tables[1], {0, 0, ranks - 1}, ClusterType::RB));
  TablePlacement block = row_wise(workload.tables[2], {0, ranks - 1}, ClusterType::UB);
  block.mapping = RowMapping::block;
  block.row_cuts = {0, 1'234'567, 5'000'000};
  layout.tables.push_back(block);
  layout.tables.push_back(row_wise(workload.tables[3], {0, 0, 0, 0, 0}, ClusterType::UB));
  return layout;
}

TEST(CountBatch, EqualsCountingWithSets) {
  for (const bool dedup : {true, false}) {
    for (const std::int32_t ranks : {1, 3, 4}) {
      const Workload workload = counted_workload(ranks == 3 ? KeyType::i64 : KeyType::i32);
      const Layout layout = counted_layout(workload, ranks, dedup);
      const auto source = make_batch_source(workload, 4, RangePolicy::error);
      ASSERT_TRUE(source.has_value());
      std::vector<RankBatch> parts;
      for (std::int32_t rank = 0; rank < ranks; ++rank) {
        parts.push_back(*(*source)->make(1, rank, ranks));
      }
      const BatchCounts counts = count_batch(workload, layout, parts);
      for (std::size_t t = 0; t < workload.tables.size(); ++t) {
        const TablePlacement& placement = layout.tables[t];
        const auto shards = static_cast<std::size_t>(placement.row_shards);
        std::vector<std::set<std::int64_t>> batch_rows(shards);
        std::vector<std::int64_t> requests;
        for (std::int32_t rank = 0; rank < ranks; ++rank) {
          std::vector<std::set<std::int64_t>> rank_rows(shards);
          std::vector<std::int64_t> all(shards);
          for (std::size_t f = 0; f < workload.features.size(); ++f) {
            if (workload.features[f].table != static_cast<std::int32_t>(t)) continue;
            std::vector<std::int64_t> ids(shards);
            const Ids& keys = parts[static_cast<std::size_t>(rank)].features[f].ids;
            for (std::int64_t i = 0; i < keys.size(); ++i) {
              const auto shard = static_cast<std::size_t>(placement.row_shard_of(keys[i]));
              ++ids[shard];
              ++all[shard];
              rank_rows[shard].insert(keys[i]);
              batch_rows[shard].insert(keys[i]);
            }
            for (std::size_t j = 0; j < shards; ++j) {
              EXPECT_EQ(counts.ids[f][static_cast<std::size_t>(rank) * shards + j], ids[j]);
            }
          }
          for (std::size_t j = 0; j < shards; ++j) {
            requests.push_back(dedup ? static_cast<std::int64_t>(rank_rows[j].size()) : all[j]);
          }
        }
        if (placement.cluster != ClusterType::UB) requests.clear();
        EXPECT_EQ(counts.requests[t], requests) << "table " << t << " dedup " << dedup;
        ASSERT_EQ(counts.unique[t].size(), shards);
        for (std::size_t j = 0; j < shards; ++j) {
          EXPECT_EQ(counts.unique[t][j], static_cast<std::int64_t>(batch_rows[j].size()));
        }
      }
    }
  }
}

TEST(RowSet, AgreesWithAStandardSetBeforeAndAfterClearing) {
  std::mt19937_64 random(12);
  for (const std::int64_t rows : {10, 100'000, 50'000'000}) {
    RowSet set(rows, 100);
    for (int round = 0; round < 3; ++round) {
      std::set<std::int64_t> reference;
      for (int i = 0; i < 20'000; ++i) {
        const std::int64_t row = static_cast<std::int64_t>(random() % 30'000) * 1664 % rows;
        EXPECT_EQ(set.insert(row), reference.insert(row).second);
      }
      EXPECT_EQ(set.size(), static_cast<std::int64_t>(reference.size()));
      set.clear();
      EXPECT_EQ(set.size(), 0);
    }
  }
}

TEST(RowCounts, AgreeWithAStandardMap) {
  std::mt19937_64 random(13);
  for (const std::int64_t rows : {10, 50'000'000}) {
    RowCounts counts(rows);
    std::map<std::int64_t, std::int64_t> reference;
    for (int i = 0; i < 30'000; ++i) {
      const std::int64_t row = static_cast<std::int64_t>(random() % 9'000) * 5003 % rows;
      counts.add(row);
      ++reference[row];
    }
    EXPECT_EQ(counts.size(), static_cast<std::int64_t>(reference.size()));
    std::map<std::int64_t, std::int64_t> seen;
    counts.for_each([&](std::int64_t row, std::int64_t count) { seen[row] = count; });
    EXPECT_EQ(seen, reference);
  }
}

}  // namespace
}  // namespace shardscope::engine
