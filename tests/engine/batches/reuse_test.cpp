#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>

#include <gtest/gtest.h>

#include "engine/batches/batch.hpp"
#include "engine/batches/reuse_plan.hpp"

namespace shardscope::engine {
namespace {

constexpr double kOpenEnd = std::numeric_limits<double>::infinity();

/// Shares of a production-like histogram, heavy tail included.
const std::vector<ReuseBin> kBins = {{1, 0.473},   {2, 0.152},        {4, 0.139},  {8, 0.112},
                                     {16, 0.072},  {32, 0.032},       {64, 0.011}, {128, 0.005},
                                     {256, 0.003}, {kOpenEnd, 0.001}};

Workload reuse_workload(std::vector<ReuseBin> bins, std::int64_t batch, Hotness hotness,
                        std::int64_t rows) {
  Workload workload;
  workload.name = "reuse";
  workload.global_batch = batch;
  workload.tables.resize(1);
  workload.tables[0].name = "table";
  workload.tables[0].rows = rows;
  workload.tables[0].dim = 4;
  Feature feature;
  feature.name = "feature";
  feature.hotness = std::move(hotness);
  feature.ids.kind = IdDistributionKind::reuse_histogram;
  feature.ids.reuse = std::move(bins);
  workload.features.push_back(feature);
  return workload;
}

std::unordered_map<std::int64_t, std::int64_t> reads_of(const Workload& workload,
                                                        std::int64_t iteration) {
  auto source = make_batch_source(workload, 5, RangePolicy::error);
  EXPECT_TRUE(source.has_value()) << (source ? "" : to_string(source.error()));
  auto batch = (*source)->make(iteration, 0, 1);
  EXPECT_TRUE(batch.has_value());
  std::unordered_map<std::int64_t, std::int64_t> reads;
  const Ids& ids = batch->features[0].ids;
  for (std::int64_t i = 0; i < ids.size(); ++i) ++reads[ids[i]];
  return reads;
}

TEST(ReuseHistogram, BatchesReproduceTheSharesOfDistinctRows) {
  for (const Hotness& hotness : {Hotness::fixed(16), Hotness::uniform(0, 31)}) {
    const auto workload = reuse_workload(kBins, 8192, hotness, 10'000'000);
    for (const std::int64_t iteration : {0, 1}) {
      const auto reads = reads_of(workload, iteration);
      const auto rows = static_cast<double>(reads.size());
      double low = 0;
      for (const ReuseBin& bin : kBins) {
        double count = 0;
        for (const auto& [row, times] : reads) {
          const auto read = static_cast<double>(times);
          count += read > low && read <= bin.reuse_at_most ? 1 : 0;
        }
        // Whole rows: each of at most 8 classes of the bin may be off by one and a carried one.
        EXPECT_NEAR(count / rows, bin.share_of_rows, 16 / rows)
            << "bin up to " << bin.reuse_at_most;
        low = bin.reuse_at_most;
      }
    }
  }
}

TEST(ReuseHistogram, OftenReadRowsLastAndRarelyReadRowsPass) {
  const auto workload = reuse_workload(kBins, 8192, Hotness::fixed(16), 10'000'000);
  const auto first = reads_of(workload, 0);
  const auto second = reads_of(workload, 1);
  int often = 0;
  int often_again = 0;
  int once = 0;
  int once_again = 0;
  for (const auto& [row, times] : first) {
    const bool again = second.contains(row);
    often += times >= 8 ? 1 : 0;
    often_again += times >= 8 && again ? 1 : 0;
    once += times == 1 ? 1 : 0;
    once_again += times == 1 && again ? 1 : 0;
  }
  EXPECT_EQ(often, often_again);
  EXPECT_LT(once_again, once / 50);
}

TEST(ReuseHistogram, ASmallTableIsReadAllOver) {
  const auto reads = reads_of(reuse_workload(kBins, 4096, Hotness::fixed(4), 100), 0);
  EXPECT_EQ(reads.size(), 100U);
}

TEST(ReuseHistogram, EmptyBagsGiveAnEmptyBatch) {
  EXPECT_TRUE(reads_of(reuse_workload(kBins, 64, Hotness::fixed(0), 100), 0).empty());
}

TEST(ReusePlan, EveryKeyIsPlacedExactlyOnce) {
  for (const auto& bins : std::vector<std::vector<ReuseBin>>{
           kBins, {{20, 1.0}}, {{1, 0.0}, {2, 1.0}}, {{7, 0.0}, {kOpenEnd, 1.0}}, {{1, 1.0}}}) {
    const auto classes = reuse_classes(bins, "here");
    ASSERT_TRUE(classes.has_value());
    for (const std::int64_t keys : {0, 1, 2, 5, 17, 1000, 54'321}) {
      const ReusePlan plan(*classes, keys);
      std::vector<std::int64_t> reads(static_cast<std::size_t>(plan.distinct_rows()));
      std::int64_t previous = 0;
      for (std::int64_t key = 0; key < keys; ++key) {
        const std::int64_t rank = plan.rank_of(key);
        ASSERT_GE(rank, previous);
        ASSERT_LT(rank, plan.distinct_rows());
        previous = rank;
        ++reads[static_cast<std::size_t>(rank)];
      }
      std::int64_t at_least_8 = 0;
      for (const std::int64_t times : reads) {
        EXPECT_GE(times, 1);
        at_least_8 += times >= 8 ? 1 : 0;
      }
      EXPECT_EQ(plan.rows_read_at_least(8), at_least_8);
    }
  }
}

TEST(ReusePlan, MeanReadsInsideABinMatchThePublishedOnes) {
  // Published with the histogram for 65,536 samples of 856 tables: index share over row share
  // times the average reuse of 6.9 gives the mean reads of a row in the bin.
  const auto mean_of = [](double low, double high) {
    const auto classes = reuse_classes({{low, 0.0}, {high, 1.0}}, "here");
    double mean = 0;
    for (const ReuseClass& one : *classes)
      mean += one.share_of_rows * static_cast<double>(one.reads);
    return mean;
  };
  EXPECT_NEAR(mean_of(2, 4), 6.9 * 0.068 / 0.139, 0.1);
  EXPECT_NEAR(mean_of(4, 8), 6.9 * 0.101 / 0.112, 0.6);
  EXPECT_NEAR(mean_of(8, 16), 6.9 * 0.121 / 0.072, 0.6);
  EXPECT_NEAR(mean_of(16, 32), 6.9 * 0.104 / 0.032, 1.2);
}

}  // namespace
}  // namespace shardscope::engine
