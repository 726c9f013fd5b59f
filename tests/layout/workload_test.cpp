#include "layout/workload.hpp"

#include <gtest/gtest.h>

namespace shardscope {
namespace {

TEST(Optimizer, HasItsUsualStateWords) {
  EXPECT_EQ(make_optimizer(OptimizerKind::sgd).words_per_element, 0);
  EXPECT_EQ(make_optimizer(OptimizerKind::adagrad).words_per_element, 1);
  EXPECT_EQ(make_optimizer(OptimizerKind::adam).words_per_element, 2);
  EXPECT_EQ(make_optimizer(OptimizerKind::rowwise_adagrad).words_per_element, 0);
  EXPECT_EQ(make_optimizer(OptimizerKind::rowwise_adagrad).words_per_row, 1);
  EXPECT_EQ(make_optimizer(OptimizerKind::sgd, 0.5).learning_rate, 0.5);
}

TEST(Hotness, MeanFollowsTheKind) {
  EXPECT_EQ(Hotness::fixed(7).mean(), 7);
  EXPECT_EQ(Hotness::uniform(0, 5).mean(), 2.5);
  Hotness histogram{HotnessKind::histogram, 2, 4, {1, 0, 3}};
  EXPECT_EQ(histogram.mean(), (2 + 3 * 4) / 4.0);
  histogram.weights = {0, 0, 0};
  EXPECT_EQ(histogram.mean(), 2);
}

TEST(Samples, OfAllRanksFollowEachOtherAndMakeTheBatch) {
  for (const std::int64_t batch : {0, 1, 5, 7, 16, 65537}) {
    for (const std::int32_t ranks : {1, 2, 3, 6, 16}) {
      std::int64_t next = 0;
      for (std::int32_t rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(first_sample_of_rank(batch, rank, ranks), next);
        next += samples_of_rank(batch, rank, ranks);
      }
      EXPECT_EQ(next, batch);
      EXPECT_LE(samples_of_rank(batch, 0, ranks) - samples_of_rank(batch, ranks - 1, ranks), 1);
    }
  }
}

Workload two_tables() {
  Workload workload;
  workload.tables = {{.name = "a", .rows = 100, .dim = 8}, {.name = "b", .rows = 10, .dim = 16}};
  workload.features.resize(3);
  workload.features[0].table = 1;
  workload.features[1].table = 0;
  workload.features[2].table = 1;
  return workload;
}

TEST(Workload, RowsCapShrinksLargerTablesAndIsRecorded) {
  const Workload capped = with_rows_cap(two_tables(), 50);
  EXPECT_EQ(capped.tables[0].rows, 50);
  EXPECT_EQ(capped.tables[1].rows, 10);
  EXPECT_EQ(capped.rows_cap, 50);
}

TEST(Workload, RowsCapThatShrinksNothingIsNotRecorded) {
  EXPECT_EQ(with_rows_cap(two_tables(), 100), two_tables());
  EXPECT_EQ(with_rows_cap(two_tables(), 0), two_tables());
  EXPECT_EQ(with_rows_cap(two_tables(), -5), two_tables());
}

TEST(Workload, FeaturesByTableKeepFeatureOrderAndSkipBrokenReferences) {
  Workload workload = two_tables();
  workload.features.push_back({.name = "lost", .table = 9});
  workload.features.push_back({.name = "negative", .table = -1});
  const auto readers = features_by_table(workload);
  ASSERT_EQ(readers.size(), 2U);
  EXPECT_EQ(readers[0], (std::vector<std::int32_t>{1}));
  EXPECT_EQ(readers[1], (std::vector<std::int32_t>{0, 2}));
}

TEST(Workload, InteractionWidthCountsPoolingsConcatAndSequences) {
  Workload workload = two_tables();
  workload.features[0].num_poolings = 3;           // 3 * 16
  workload.features[1].pooling = Pooling::concat;  // 5 * 8
  workload.features[1].hotness = Hotness::fixed(5);
  workload.features[2].pooling = Pooling::sequence;  // 16, its mean
  workload.features[2].hotness = Hotness::uniform(0, 50);
  EXPECT_EQ(interaction_width(workload), 48 + 40 + 16);
}

TEST(Workload, InteractionWidthSaturatesInsteadOfOverflowing) {
  Workload workload = two_tables();
  workload.tables[0].dim = 2147483647;
  workload.features[1].pooling = Pooling::concat;
  workload.features[1].hotness = Hotness::fixed(2147483647);
  workload.features[1].num_poolings = 2147483647;
  EXPECT_EQ(interaction_width(workload), INT64_MAX);
}

}  // namespace
}  // namespace shardscope
