#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/batches/batch.hpp"

namespace shardscope::engine {
namespace {

Workload stats_workload() {
  Workload workload;
  workload.name = "stats";
  workload.global_batch = 200;
  for (const std::int64_t rows : {300, 20'000'000, 16}) {
    Table table;
    table.name = fmt::format("table{}", workload.tables.size());
    table.rows = rows;
    table.dim = 8;
    workload.tables.push_back(table);
  }
  for (const int table : {0, 1, 1}) {
    Feature feature;
    feature.name = fmt::format("feature{}", workload.features.size());
    feature.table = table;
    feature.hotness = Hotness::uniform(0, 4);
    workload.features.push_back(feature);
  }
  return workload;
}

TEST(CollectStats, EqualsCountingWithMaps) {
  const Workload workload = stats_workload();
  const auto source = make_batch_source(workload, 6, RangePolicy::error);
  ASSERT_TRUE(source.has_value());
  const int iterations = 3;
  const std::int32_t ranks = 6;
  const auto stats = collect_stats(workload, **source, iterations, ranks);
  ASSERT_TRUE(stats.has_value());
  ASSERT_EQ(stats->size(), 3U);
  for (std::size_t t = 0; t < 2; ++t) {
    std::map<std::int64_t, std::int64_t> reads;
    std::vector<double> lengths;
    double rank_keys = 0;
    double rank_unique = 0;
    std::map<int, UniquePoint> prefix;
    for (int iteration = 0; iteration < iterations; ++iteration) {
      std::set<std::int64_t> batch_rows;
      double keys = 0;
      for (std::int32_t rank = 0; rank < ranks; ++rank) {
        const auto part = (*source)->make(iteration, rank, ranks);
        std::set<std::int64_t> rank_rows;
        for (std::size_t f = 0; f < workload.features.size(); ++f) {
          if (workload.features[f].table != static_cast<std::int32_t>(t)) continue;
          const FeatureBatch& feature = part->features[f];
          lengths.insert(lengths.end(), feature.lengths.begin(), feature.lengths.end());
          for (std::int64_t i = 0; i < feature.ids.size(); ++i) {
            ++reads[feature.ids[i]];
            rank_rows.insert(feature.ids[i]);
            batch_rows.insert(feature.ids[i]);
          }
          keys += static_cast<double>(feature.ids.size());
          rank_keys += static_cast<double>(feature.ids.size()) / (ranks * iterations);
        }
        rank_unique += static_cast<double>(rank_rows.size()) / (ranks * iterations);
        prefix[rank + 1].keys += keys / iterations;
        prefix[rank + 1].unique += static_cast<double>(batch_rows.size()) / iterations;
      }
    }
    const TableStats& table = (*stats)[t];
    std::sort(lengths.begin(), lengths.end());
    const auto bags = static_cast<double>(lengths.size());
    double keys = 0;
    for (const double length : lengths) keys += length;
    EXPECT_EQ(table.table, workload.tables[t].name);
    EXPECT_EQ(table.samples, iterations * 200);
    EXPECT_EQ(static_cast<double>(table.keys), keys);
    EXPECT_DOUBLE_EQ(table.mean_bag_length, keys / bags);
    EXPECT_EQ(table.p50_bag_length, lengths[static_cast<std::size_t>(std::ceil(0.5 * bags)) - 1]);
    EXPECT_EQ(table.p99_bag_length, lengths[static_cast<std::size_t>(std::ceil(0.99 * bags)) - 1]);
    EXPECT_EQ(table.max_bag_length, lengths.back());
    EXPECT_DOUBLE_EQ(table.empty_bag_share,
                     static_cast<double>(std::count(lengths.begin(), lengths.end(), 0.0)) / bags);

    ASSERT_EQ(table.unique.size(), 4U);  // 1, 2, 4 and all 6 ranks
    EXPECT_NEAR(table.unique[0].keys, rank_keys, 1e-9);
    EXPECT_NEAR(table.unique[0].unique, rank_unique, 1e-9);
    const int prefix_ranks[] = {2, 4, 6};
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(table.unique[i + 1].keys, prefix[prefix_ranks[i]].keys, 1e-9);
      EXPECT_NEAR(table.unique[i + 1].unique, prefix[prefix_ranks[i]].unique, 1e-9);
    }

    std::vector<double> counts;
    for (const auto& [row, count] : reads) counts.push_back(static_cast<double>(count));
    std::sort(counts.rbegin(), counts.rend());
    for (const MassPoint& point : table.top_mass) {
      double sum = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(point.rows); ++i) sum += counts[i];
      EXPECT_NEAR(point.share, sum / keys, 1e-12);
    }
    EXPECT_EQ(table.top_mass[0].rows, 1);
    EXPECT_EQ(table.top_mass[1].rows, 10);
    EXPECT_EQ(table.top_mass.back().share, 1.0);

    EXPECT_EQ(table.working_set_rows, static_cast<std::int64_t>(reads.size()));
    EXPECT_EQ(table.untouched_rows,
              workload.tables[t].rows - static_cast<std::int64_t>(reads.size()));
    ASSERT_EQ(table.modulo_max_share.size(), 10U);
    for (std::size_t i = 0; i < 10; ++i) {
      std::map<std::int64_t, double> shard;
      for (const auto& [row, count] : reads) {
        shard[row % (std::int64_t{2} << i)] += static_cast<double>(count);
      }
      double largest = 0;
      for (const auto& [residue, sum] : shard) largest = std::max(largest, sum);
      EXPECT_NEAR(table.modulo_max_share[i], largest / keys, 1e-12);
    }
  }
}

TEST(CollectStats, ATableThatNoFeatureReadsIsUntouched) {
  const Workload workload = stats_workload();
  const auto source = make_batch_source(workload, 6, RangePolicy::error);
  const auto stats = collect_stats(workload, **source, 1, 2);
  const TableStats& idle = stats->at(2);
  EXPECT_EQ(idle.keys, 0);
  EXPECT_EQ(idle.mean_bag_length, 0);
  EXPECT_EQ(idle.untouched_rows, 16);
  EXPECT_TRUE(idle.unique.empty());
  EXPECT_TRUE(idle.top_mass.empty());
}

TEST(CollectStats, UniqueCurveMatchesTheExpectationForUniformIds) {
  Workload workload = stats_workload();
  workload.global_batch = 8000;
  workload.features.resize(1);
  workload.features[0].hotness = Hotness::fixed(1);
  workload.features[0].ids.kind = IdDistributionKind::uniform;
  workload.tables[0].rows = 5000;
  const auto source = make_batch_source(workload, 7, RangePolicy::error);
  const auto stats = collect_stats(workload, **source, 4, 8);
  for (const UniquePoint& point : stats->front().unique) {
    // n uniform draws of R rows: R (1 - (1 - 1/R)^n) distinct rows; the deviation of one batch is
    // below sqrt(R) / 2, and four batches are averaged.
    const double expected = 5000 * (1 - std::pow(1 - 1.0 / 5000, point.keys));
    EXPECT_NEAR(point.unique, expected, 5 * std::sqrt(5000.0) / 2 / 2);
  }
}

TEST(CollectStats, PopularityOrderLoadsTheFirstModuloShard) {
  Workload workload = stats_workload();
  workload.global_batch = 20'000;
  workload.features.resize(1);
  workload.features[0].table = 1;
  workload.features[0].hotness = Hotness::fixed(1);
  workload.features[0].ids.order = IdOrder::popularity;
  const auto by_popularity =
      collect_stats(workload, **make_batch_source(workload, 7, RangePolicy::error), 1, 2);
  workload.features[0].ids.order = IdOrder::permuted;
  const auto permuted =
      collect_stats(workload, **make_batch_source(workload, 7, RangePolicy::error), 1, 2);
  // Of a Zipf 1.1 over 20 M rows, rows 0, 8, 16, ... hold 0.20889 of the mass, rows 1, 9, 17, ...
  // 0.14582 (summed term by term).
  EXPECT_NEAR(by_popularity->at(1).modulo_max_share[2], 0.20889,
              4.75 * std::sqrt(0.20889 * 0.79111 / 20'000));
  EXPECT_EQ(by_popularity->at(1).top_mass[0], permuted->at(1).top_mass[0]);
}

}  // namespace
}  // namespace shardscope::engine
