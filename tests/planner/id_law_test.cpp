#include "planner/id_law.hpp"

#include <cmath>

namespace shardscope {
namespace {

IdDistribution zipf_ids(double alpha) {
  return {.kind = IdDistributionKind::zipf, .alpha = alpha};
}

double direct_harmonic(std::int64_t n, double alpha) {
  double sum = 0;
  for (std::int64_t i = n; i >= 1; --i) sum += std::pow(static_cast<double>(i), -alpha);
  return sum;
}

double direct_unique(std::int64_t rows, double alpha, double keys, std::int64_t begin,
                     std::int64_t end) {
  const double total = direct_harmonic(rows, alpha);
  double sum = 0;
  for (std::int64_t i = end; i > begin; --i)
    sum -= std::expm1(keys * std::log1p(-std::pow(static_cast<double>(i), -alpha) / total));
  return sum;
}

TEST(IdLaw, HarmonicEqualsTheDirectSum) {
  for (const double alpha : {0.0, 0.5, 1.0, 1.05, 1.1, 2.0, 4.0})
    for (const std::int64_t n : {1, 10, 63, 64, 65, 1000, 1000000})
      EXPECT_NEAR(generalized_harmonic(static_cast<double>(n), alpha) / direct_harmonic(n, alpha),
                  1, 1e-7)
          << alpha << " " << n;
}

TEST(IdLaw, UniqueEqualsTheDirectSum) {
  for (const double alpha : {0.0, 0.6, 1.0, 1.1, 1.2, 2.0, 5.0})
    for (const std::int64_t rows : {1, 3, 100, 39060, 300000})
      for (const double keys : {1.0, 55.0, 55296.0, 13.0e6})
        EXPECT_NEAR(
            IdLaw(rows, zipf_ids(alpha)).unique(keys) / direct_unique(rows, alpha, keys, 0, rows),
            1, 1e-4)
            << alpha << " " << rows << " " << keys;
}

TEST(IdLaw, UniqueInAPopularityRangeEqualsTheDirectSum) {
  const IdLaw law(1000000, zipf_ids(1.1));
  for (const auto& [begin, end] : {std::pair{0L, 10L}, {5L, 5000L}, {400000L, 1000000L}})
    EXPECT_NEAR(law.unique_in(1e6, begin, end) / direct_unique(1000000, 1.1, 1e6, begin, end), 1,
                1e-4);
  EXPECT_NEAR(law.unique_in(1e6, 0, 777) + law.unique_in(1e6, 777, 1000000), law.unique(1e6), 1);
}

TEST(IdLaw, MlperfTablesHaveTheKnownShareOfDistinctRows) {
  // research figures for alpha 1.1 at 55,296 ids: 0.34, 0.30, 0.17.
  for (const auto& [rows, share] : {std::pair{40000000L, 0.34}, {3067956L, 0.30}, {39060L, 0.17}})
    EXPECT_NEAR(IdLaw(rows, zipf_ids(1.1)).unique(55296) / 55296, share, 0.01);
}

TEST(IdLaw, MassAndProbabilitiesAreThoseOfTheLaw) {
  const IdLaw law(100000, zipf_ids(1.1));
  const double total = direct_harmonic(100000, 1.1);
  EXPECT_NEAR(law.probability(0), 1 / total, 1e-9);
  EXPECT_NEAR(law.mass(1000), direct_harmonic(1000, 1.1) / total, 1e-6);
  EXPECT_NEAR(law.mass(0.5), 0.5 / total, 1e-9);
  EXPECT_NEAR(law.mass(1e9), 1, 1e-9);
  EXPECT_EQ(law.probability(100000), 0);
}

TEST(IdLaw, HeavyHittersComeFirst) {
  IdDistribution ids = zipf_ids(1.0);
  ids.kind = IdDistributionKind::heavy_hitters;
  ids.heavy_hitters = {0.3, 0.2};
  const IdLaw law(1000, ids);
  EXPECT_DOUBLE_EQ(law.mass(2), 0.5);
  double sum = 0;
  for (std::int64_t i = 0; i < 1000; ++i) sum += law.probability(i);
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_NEAR(law.unique(1e9), 1000, 1e-3);
}

TEST(IdLaw, ModuloSharesSumToOneAndTheFirstIsHot) {
  const IdLaw law(4000000, zipf_ids(1.1));
  for (const std::int32_t shards : {2, 3, 8, 128}) {
    double sum = 0, previous = 1;
    for (std::int32_t j = 0; j < shards; ++j) {
      const double share = law.modulo_share(j, shards);
      EXPECT_LE(share, previous + 1e-12);
      previous = share;
      sum += share;
    }
    EXPECT_NEAR(sum, 1, 2e-3) << shards;
  }
  // 1.4 to 1.7 times its part at 8 shards.
  EXPECT_GT(law.modulo_share(0, 8) * 8, 1.4);
  EXPECT_LT(law.modulo_share(0, 8) * 8, 1.8);
}

TEST(IdLaw, ReuseHistogramGivesItsMeanReuse) {
  IdDistribution ids;
  ids.kind = IdDistributionKind::reuse_histogram;
  ids.reuse = {{1, 0.5}, {3, 0.5}};  // half of the rows once, half two or three times
  const IdLaw law(1000000, ids);
  EXPECT_NEAR(law.unique(17500), 10000, 1);
}

}  // namespace
}  // namespace shardscope
