#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/batches/batch.hpp"
#include "engine/batches/check_source.hpp"
#include "tests/engine/batches/chi_square.hpp"

namespace shardscope::engine {
namespace {

using batches_test::kNormalQuantile;

constexpr std::uint64_t kSeed = 991;

/// Every distribution, pooling and hotness kind in one workload; tables shared by features.
Workload mixed_workload(std::int64_t batch) {
  Workload workload;
  workload.name = "mixed";
  workload.global_batch = batch;
  workload.tables.resize(3);
  const std::int64_t rows[] = {1000, 7, 5'000'000};
  for (std::size_t i = 0; i < 3; ++i) {
    workload.tables[i].name = fmt::format("t{}", i);
    workload.tables[i].rows = rows[i];
    workload.tables[i].dim = 8;
  }
  const auto add = [&](std::int32_t table, IdDistributionKind kind, Hotness hotness) -> Feature& {
    Feature feature;
    feature.name = fmt::format("f{}", workload.features.size());
    feature.table = table;
    feature.hotness = std::move(hotness);
    feature.ids.kind = kind;
    workload.features.push_back(feature);
    return workload.features.back();
  };
  add(0, IdDistributionKind::zipf, Hotness::fixed(1));
  add(1, IdDistributionKind::uniform, Hotness::uniform(0, 3)).weighted = true;
  add(2, IdDistributionKind::zipf, {HotnessKind::histogram, 0, 2, {1, 0, 3}}).num_poolings = 2;
  add(0, IdDistributionKind::heavy_hitters, Hotness::fixed(2)).ids.heavy_hitters = {0.5, 0.25};
  add(2, IdDistributionKind::reuse_histogram, Hotness::uniform(1, 4)).ids.reuse = {
      {1, 0.5}, {4, 0.3}, {std::numeric_limits<double>::infinity(), 0.2}};
  workload.dense.interaction = Interaction::dot;
  workload.dense.dense_features = 3;
  return workload;
}

std::unique_ptr<BatchSource> source_of(const Workload& workload, std::uint64_t seed = kSeed,
                                       Split split = Split::whole) {
  auto source = make_batch_source(workload, seed, RangePolicy::error, split);
  EXPECT_TRUE(source.has_value()) << (source ? "" : to_string(source.error()));
  return std::move(*source);
}

RankBatch make_part(const BatchSource& source, std::int64_t iteration, std::int32_t rank,
                    std::int32_t ranks) {
  auto batch = source.make(iteration, rank, ranks);
  EXPECT_TRUE(batch.has_value()) << (batch ? "" : to_string(batch.error()));
  return std::move(*batch);
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// All ranks' parts one after another.
RankBatch joined(const BatchSource& source, std::int64_t iteration, std::int32_t ranks) {
  RankBatch all = make_part(source, iteration, 0, ranks);
  for (std::int32_t rank = 1; rank < ranks; ++rank) {
    const RankBatch part = make_part(source, iteration, rank, ranks);
    all.samples += part.samples;
    for (std::size_t i = 0; i < part.features.size(); ++i) {
      append(all.features[i].lengths, part.features[i].lengths);
      append(all.features[i].ids.i32, part.features[i].ids.i32);
      append(all.features[i].ids.i64, part.features[i].ids.i64);
      append(all.features[i].weights, part.features[i].weights);
    }
    append(all.dense, part.dense);
    append(all.labels, part.labels);
  }
  return all;
}

void expect_same(const RankBatch& a, const RankBatch& b) {
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.dense, b.dense);
  EXPECT_EQ(a.labels, b.labels);
  ASSERT_EQ(a.features.size(), b.features.size());
  for (std::size_t i = 0; i < a.features.size(); ++i) {
    EXPECT_EQ(a.features[i].lengths, b.features[i].lengths) << "feature " << i;
    EXPECT_EQ(a.features[i].ids.i32, b.features[i].ids.i32) << "feature " << i;
    EXPECT_EQ(a.features[i].ids.i64, b.features[i].ids.i64) << "feature " << i;
    EXPECT_EQ(a.features[i].weights, b.features[i].weights) << "feature " << i;
  }
}

TEST(BatchSource, SamplesOfAllRanksTogetherAreTheSameForAnyNumberOfRanks) {
  for (const std::int64_t batch : {1, 2, 64, 101}) {
    for (const KeyType key : {KeyType::i32, KeyType::i64}) {
      Workload workload = mixed_workload(batch);
      workload.key = key;
      const auto source = source_of(workload);
      for (const std::int64_t iteration : {0, 5}) {
        const RankBatch one = joined(*source, iteration, 1);
        for (const std::int32_t ranks : {2, 3, 8}) {
          SCOPED_TRACE(testing::Message() << "batch " << batch << " ranks " << ranks);
          expect_same(one, joined(*source, iteration, ranks));
        }
      }
    }
  }
}

TEST(BatchSource, SeedIterationAndSplitChangeTheBatch) {
  const Workload workload = mixed_workload(64);
  const auto source = source_of(workload);
  const auto ids = [](const RankBatch& batch) { return batch.features[0].ids.i32; };
  const auto base = ids(make_part(*source, 0, 0, 1));
  EXPECT_EQ(base, ids(make_part(*source_of(workload), 0, 0, 1)));
  EXPECT_NE(base, ids(make_part(*source, 1, 0, 1)));
  EXPECT_NE(base, ids(make_part(*source_of(workload, kSeed + 1), 0, 0, 1)));
  EXPECT_NE(base, ids(make_part(*source_of(workload, kSeed, Split::evaluation), 0, 0, 1)));
}

TEST(BatchSource, ShapesFollowTheWorkloadAndIdsAreInRange) {
  const Workload workload = mixed_workload(300);
  const RankBatch batch = make_part(*source_of(workload), 2, 0, 1);
  EXPECT_EQ(batch.samples, 300);
  EXPECT_EQ(batch.dense.size(), 900U);
  EXPECT_EQ(batch.labels.size(), 300U);
  for (std::size_t i = 0; i < workload.features.size(); ++i) {
    const Feature& feature = workload.features[i];
    const FeatureBatch& part = batch.features[i];
    EXPECT_EQ(part.lengths.size(), static_cast<std::size_t>(300 * feature.num_poolings));
    std::int64_t sum = 0;
    for (const std::int32_t length : part.lengths) {
      EXPECT_GE(length, 0);
      sum += length;
    }
    ASSERT_EQ(part.ids.size(), sum);
    for (std::int64_t n = 0; n < sum; ++n) {
      ASSERT_GE(part.ids[n], 0);
      ASSERT_LT(part.ids[n], workload.tables[static_cast<std::size_t>(feature.table)].rows);
    }
    EXPECT_EQ(part.weights.size(), feature.weighted ? static_cast<std::size_t>(sum) : 0U);
    for (const float weight : part.weights) {
      EXPECT_GT(weight, 0.0F);
      EXPECT_LE(weight, 2.0F);
      EXPECT_EQ(weight * 8, std::floor(weight * 8));
    }
  }
}

TEST(BatchSource, BagLengthsFollowTheHotness) {
  const int batch = 20'000;
  const RankBatch made = make_part(*source_of(mixed_workload(batch)), 0, 0, 1);
  const auto share = [](const std::vector<std::int32_t>& lengths, std::int32_t length) {
    return static_cast<double>(std::count(lengths.begin(), lengths.end(), length)) /
           static_cast<double>(lengths.size());
  };
  for (std::int32_t length = 0; length <= 3; ++length) {
    EXPECT_NEAR(share(made.features[1].lengths, length), 0.25,
                kNormalQuantile * std::sqrt(0.25 * 0.75 / batch));
  }
  EXPECT_NEAR(share(made.features[2].lengths, 0), 0.25,
              kNormalQuantile * std::sqrt(0.25 * 0.75 / (2.0 * batch)));
  EXPECT_EQ(share(made.features[2].lengths, 1), 0.0);
}

TEST(BatchSource, HeavyHittersHaveTheListedProbabilities) {
  Workload workload = mixed_workload(20'000);
  workload.features[3].ids.order = IdOrder::popularity;
  const RankBatch made = make_part(*source_of(workload), 0, 0, 1);
  std::vector<std::int64_t> count(1000);
  for (const std::int32_t id : made.features[3].ids.i32) ++count[static_cast<std::size_t>(id)];
  const double keys = 40'000;
  EXPECT_NEAR(static_cast<double>(count[0]), 0.5 * keys, kNormalQuantile * std::sqrt(keys * 0.25));
  EXPECT_NEAR(static_cast<double>(count[1]), 0.25 * keys,
              kNormalQuantile * std::sqrt(keys * 0.1875));
  // Rank 2 is the first of the 998 Zipf rows that share the remaining quarter.
  double weights = 0;
  for (int k = 1; k <= 998; ++k) weights += std::pow(k, -1.1);
  const double p = 0.25 / weights;
  EXPECT_NEAR(static_cast<double>(count[2]), p * keys,
              kNormalQuantile * std::sqrt(keys * p * (1 - p)));
}

TEST(BatchSource, FeaturesOfOneTableShareItsPopularRows) {
  Workload workload = mixed_workload(4096);
  workload.features[3].ids.kind = IdDistributionKind::zipf;
  const RankBatch made = make_part(*source_of(workload), 0, 0, 1);
  const auto favourite = [](const std::vector<std::int32_t>& ids) {
    std::vector<int> count(1000);
    for (const std::int32_t id : ids) ++count[static_cast<std::size_t>(id)];
    return std::max_element(count.begin(), count.end()) - count.begin();
  };
  EXPECT_EQ(favourite(made.features[0].ids.i32), favourite(made.features[3].ids.i32));
}

TEST(BatchSource, WithoutADensePartLabelsAreZeroAndDenseIsEmpty) {
  Workload workload = mixed_workload(10);
  workload.dense = {};
  const RankBatch made = make_part(*source_of(workload), 0, 0, 1);
  EXPECT_TRUE(made.dense.empty());
  EXPECT_EQ(made.labels, std::vector<float>(10, 0.0F));
}

struct BadWorkload {
  const char* name;
  void (*spoil)(Workload&);
  const char* said;
};

class BatchSourceRefuses : public testing::TestWithParam<BadWorkload> {};

TEST_P(BatchSourceRefuses, WithPlaceAndCure) {
  Workload workload = mixed_workload(16);
  GetParam().spoil(workload);
  const auto source = make_batch_source(workload, 1, RangePolicy::error);
  ASSERT_FALSE(source.has_value());
  EXPECT_EQ(source.error().kind, ErrorKind::usage);
  EXPECT_FALSE(source.error().place.empty());
  EXPECT_FALSE(source.error().cure.empty());
  EXPECT_NE(to_string(source.error()).find(GetParam().said), std::string::npos)
      << to_string(source.error());
}

INSTANTIATE_TEST_SUITE_P(
    BadInput, BatchSourceRefuses,
    testing::Values(
        BadWorkload{"no_tables", [](Workload& w) { w.tables.clear(); }, "0 tables"},
        BadWorkload{"no_features", [](Workload& w) { w.features.clear(); }, "0 features"},
        BadWorkload{"zero_rows", [](Workload& w) { w.tables[1].rows = 0; }, "table t1"},
        BadWorkload{"empty_batch", [](Workload& w) { w.global_batch = 0; }, "global batch is 0"},
        BadWorkload{"wide_rows", [](Workload& w) { w.tables[0].rows = 3'000'000'000; }, "i64"},
        BadWorkload{"no_such_table", [](Workload& w) { w.features[0].table = 3; }, "feature f0"},
        BadWorkload{"no_bags", [](Workload& w) { w.features[0].num_poolings = 0; }, "num_poolings"},
        BadWorkload{"negative_hotness",
                    [](Workload& w) { w.features[0].hotness = Hotness::fixed(-1); }, "negative"},
        BadWorkload{"upside_down_hotness",
                    [](Workload& w) { w.features[0].hotness = Hotness::uniform(3, 2); },
                    "below the smallest"},
        BadWorkload{"empty_histogram", [](Workload& w) { w.features[2].hotness.weights.clear(); },
                    "empty"},
        BadWorkload{"negative_alpha", [](Workload& w) { w.features[0].ids.alpha = -0.5; }, "alpha"},
        BadWorkload{"nan_alpha", [](Workload& w) { w.features[0].ids.alpha = std::nan(""); },
                    "alpha"},
        BadWorkload{"heavy_above_one",
                    [](Workload& w) {
                      w.features[3].ids.heavy_hitters = {0.9, 0.2};
                    },
                    "sum to"},
        BadWorkload{"more_heavy_than_rows",
                    [](Workload& w) {
                      w.features[3].table = 1;
                      w.features[3].ids.heavy_hitters.assign(8, 0.1);
                    },
                    "8 heavy hitters"},
        BadWorkload{"reuse_descends",
                    [](Workload& w) {
                      w.features[4].ids.reuse = {{4, 0.5}, {2, 0.5}};
                    },
                    "does not ascend"},
        BadWorkload{"hotness_above_memory",
                    [](Workload& w) {
                      w.global_batch = 1'000'000'000;
                      w.features[0].hotness = Hotness::fixed(2'000'000'000);
                    },
                    "GiB"}),
    [](const testing::TestParamInfo<BadWorkload>& tested) { return tested.param.name; });

}  // namespace
}  // namespace shardscope::engine
