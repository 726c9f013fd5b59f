#include "engine/batches/zipf.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/engine/batches/chi_square.hpp"

namespace shardscope::engine {
namespace {

using batches_test::chi_square;

/// Sum of k^-alpha over k in [first, last]: a thousand terms one by one, then the Euler-Maclaurin
/// formula, whose next term, alpha (alpha + 1) (alpha + 2) / 720 k^-3, is below 1e-9 of the first
/// term left out for every alpha that leaves anything after a thousand terms.
double zipf_weight(double first, double last, double alpha) {
  const double exact_end = std::min(last, first + 1e3);
  double sum = 0;
  for (double k = exact_end; k >= first; --k) sum += std::pow(k, -alpha);
  if (exact_end >= last) return sum;
  const double a = exact_end + 1;
  const double b = last;
  const double integral = alpha == 1
                              ? std::log(b / a)
                              : (std::pow(b, 1 - alpha) - std::pow(a, 1 - alpha)) / (1 - alpha);
  const double ends = (std::pow(a, -alpha) + std::pow(b, -alpha)) / 2;
  const double slopes = alpha * (std::pow(a, -alpha - 1) - std::pow(b, -alpha - 1)) / 12;
  return sum + integral + ends + slopes;
}

struct ZipfCase {
  std::int64_t rows;
  double alpha;
};

class ZipfFit : public testing::TestWithParam<ZipfCase> {};

/// Ranks 0..99 each in a bin of their own, then bins that grow by a quarter.
std::vector<std::int64_t> bin_edges(std::int64_t rows) {
  std::vector<std::int64_t> edges;
  for (std::int64_t at = 0; at < rows; at += std::max<std::int64_t>(1, at < 100 ? 1 : at / 4)) {
    edges.push_back(at);
  }
  edges.push_back(rows);
  return edges;
}

TEST_P(ZipfFit, MatchesTheExactProbabilities) {
  const auto [rows, alpha] = GetParam();
  const std::uint64_t seed = 20'240 + static_cast<std::uint64_t>(alpha * 100);
  const int draws_made = 400'000;
  const auto edges = bin_edges(rows);
  const Zipf zipf(rows, alpha);
  std::vector<double> observed(edges.size() - 1);
  Draws draws({seed, 0, 0, 0, Purpose::ids});
  for (int i = 0; i < draws_made; ++i) {
    const std::int64_t rank = zipf(draws);
    ASSERT_GE(rank, 0);
    ASSERT_LT(rank, rows);
    const auto bin = std::upper_bound(edges.begin(), edges.end(), rank) - edges.begin() - 1;
    observed[static_cast<std::size_t>(bin)] += 1;
  }
  std::vector<double> expected;
  double total = 0;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    expected.push_back(
        zipf_weight(static_cast<double>(edges[i] + 1), static_cast<double>(edges[i + 1]), alpha));
    total += expected.back();
  }
  for (double& value : expected) value *= draws_made / total;
  const auto fit = chi_square(observed, expected);
  if (fit.degrees == 0) return;  // all mass in one bin: every draw was checked to be in range
  EXPECT_LT(fit.value, fit.limit()) << "rows " << rows << " alpha " << alpha << " seed " << seed
                                    << " degrees of freedom " << fit.degrees;
}

INSTANTIATE_TEST_SUITE_P(
    AlphasAndSizes, ZipfFit,
    testing::Values(ZipfCase{1, 1.1}, ZipfCase{2, 0.5}, ZipfCase{3, 1.0}, ZipfCase{10, 0.0},
                    ZipfCase{10, 2.5}, ZipfCase{1000, 0.0}, ZipfCase{1000, 0.3},
                    ZipfCase{1000, 0.999}, ZipfCase{1000, 1.0}, ZipfCase{1000, 1.0000001},
                    ZipfCase{1000, 1.1}, ZipfCase{1000, 4.0}, ZipfCase{1000, 200.0},
                    ZipfCase{1'000'000, 0.8}, ZipfCase{1'000'000, 1.0}, ZipfCase{1'000'000, 1.05},
                    ZipfCase{1'000'000'000, 0.0}, ZipfCase{1'000'000'000, 0.7},
                    ZipfCase{1'000'000'000, 1.0}, ZipfCase{1'000'000'000, 1.1},
                    ZipfCase{1'000'000'000, 2.0}, ZipfCase{1'000'000'000'000, 1.2}));

TEST(ZipfFit, TheTestRejectsASlightlyWrongExponent) {
  // The same procedure must notice alpha off by 0.02, or the tests above say nothing.
  const std::int64_t rows = 1'000'000;
  const auto edges = bin_edges(rows);
  std::vector<double> observed(edges.size() - 1);
  Draws draws({1, 0, 0, 0, Purpose::ids});
  const Zipf zipf(rows, 1.12);
  for (int i = 0; i < 400'000; ++i) {
    const auto bin = std::upper_bound(edges.begin(), edges.end(), zipf(draws)) - edges.begin() - 1;
    observed[static_cast<std::size_t>(bin)] += 1;
  }
  std::vector<double> expected;
  const double total = zipf_weight(1, static_cast<double>(rows), 1.1);
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    expected.push_back(
        400'000 / total *
        zipf_weight(static_cast<double>(edges[i] + 1), static_cast<double>(edges[i + 1]), 1.1));
  }
  const auto fit = chi_square(observed, expected);
  EXPECT_GT(fit.value, fit.limit());
}

TEST(Zipf, AcceptsAlmostEveryDraw) {
  // Rejection-inversion redraws rarely; a wrong envelope would show as many redraws.
  for (const double alpha : {0.0, 0.5, 1.0, 1.1, 3.0}) {
    const Zipf zipf(1'000'000, alpha);
    int equal = 0;
    for (int i = 0; i < 2'000; ++i) {
      Draws draws({3, 0, i, 0, Purpose::ids});
      Draws twin({3, 0, i, 0, Purpose::ids});
      static_cast<void>(zipf(draws));
      static_cast<void>(twin.next());
      equal += draws.next() == twin.next() ? 1 : 0;
    }
    EXPECT_GT(equal, 1'600) << "alpha " << alpha;
  }
}

}  // namespace
}  // namespace shardscope::engine
