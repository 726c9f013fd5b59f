#include "engine/batches/permutation.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/engine/batches/chi_square.hpp"

namespace shardscope::engine {
namespace {

using batches_test::chi_square;
using batches_test::kNormalQuantile;

TEST(Permutation, IsABijectionOnEverySmallSize) {
  for (std::int64_t size = 1; size <= 300; ++size) {
    for (std::uint64_t key = 0; key < 5; ++key) {
      const Permutation permutation(size, key);
      std::vector<char> hit(static_cast<std::size_t>(size));
      for (std::int64_t i = 0; i < size; ++i) {
        const std::int64_t image = permutation(i);
        ASSERT_GE(image, 0);
        ASSERT_LT(image, size);
        ASSERT_FALSE(hit[static_cast<std::size_t>(image)]) << "size " << size << " key " << key;
        hit[static_cast<std::size_t>(image)] = 1;
      }
    }
  }
}

TEST(Permutation, IsABijectionAroundPowersOfTwo) {
  for (const std::int64_t size : {65'535, 65'536, 65'537, 1'000'003}) {
    const Permutation permutation(size, 42);
    std::vector<char> hit(static_cast<std::size_t>(size));
    for (std::int64_t i = 0; i < size; ++i) {
      auto& mark = hit[static_cast<std::size_t>(permutation(i))];
      ASSERT_FALSE(mark);
      mark = 1;
    }
  }
}

TEST(Permutation, DoesNotCollideOnLargeSizes) {
  for (const std::int64_t size :
       {std::int64_t{1'000'000'000}, std::int64_t{1} << 40, (std::int64_t{1} << 62) - 57}) {
    const Permutation permutation(size, 9);
    std::vector<std::int64_t> images;
    for (std::int64_t i = 0; i < 200'000; ++i) images.push_back(permutation(i));
    for (std::int64_t i = 1; i <= 200'000; ++i) images.push_back(permutation(size - i));
    EXPECT_LT(*std::max_element(images.begin(), images.end()), size);
    std::sort(images.begin(), images.end());
    EXPECT_EQ(std::adjacent_find(images.begin(), images.end()), images.end());
  }
}

TEST(Permutation, SpreadsTheMostPopularRanksEvenlyOverModuloAndBlockShards) {
  const std::int64_t size = 40'000'000;
  const int ranks = 20'000;
  for (const std::uint64_t key : {1, 2, 3}) {
    const Permutation permutation(size, key);
    for (const std::int64_t shards : {2, 8, 16, 100}) {
      std::vector<double> modulo(static_cast<std::size_t>(shards));
      std::vector<double> block(static_cast<std::size_t>(shards));
      for (int i = 0; i < ranks; ++i) {
        const std::int64_t row = permutation(i);
        modulo[static_cast<std::size_t>(row % shards)] += 1;
        block[static_cast<std::size_t>(row * shards / size)] += 1;
      }
      const std::vector<double> even(static_cast<std::size_t>(shards),
                                     ranks / static_cast<double>(shards));
      EXPECT_LT(chi_square(modulo, even).value, chi_square(modulo, even).limit())
          << "modulo, key " << key << " shards " << shards;
      EXPECT_LT(chi_square(block, even).value, chi_square(block, even).limit())
          << "block, key " << key << " shards " << shards;
    }
  }
}

TEST(Permutation, TheKeyDecidesWhereAnyRankGoes) {
  for (const std::int64_t size : {3, 10, 24, 97, 1460}) {
    for (const std::int64_t rank : {std::int64_t{0}, size - 1}) {
      const int keys = static_cast<int>(size) * 200;
      std::vector<double> place(static_cast<std::size_t>(size));
      for (int key = 0; key < keys; ++key) {
        const Permutation permutation(size, mix64(77, static_cast<std::uint64_t>(key)));
        place[static_cast<std::size_t>(permutation(rank))] += 1;
      }
      const std::vector<double> even(static_cast<std::size_t>(size), 200.0);
      const auto fit = chi_square(place, even);
      EXPECT_LT(fit.value, fit.limit()) << "size " << size << " rank " << rank;
    }
  }
}

TEST(Permutation, NeighbouringRanksLandFarApart) {
  const std::int64_t size = 1'000'000;
  const Permutation permutation(size, 5);
  const int pairs = 20'000;
  int near = 0;
  for (std::int64_t i = 0; i < pairs; ++i) {
    near += std::abs(permutation(i) - permutation(i + 1)) < size / 100 ? 1 : 0;
  }
  // Two independent places are within 1 % of the size of each other with probability 0.0199.
  const double p = 0.0199;
  EXPECT_NEAR(near, pairs * p, kNormalQuantile * std::sqrt(pairs * p * (1 - p)));
}

}  // namespace
}  // namespace shardscope::engine
