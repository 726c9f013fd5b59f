#include "planner/id_law.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace shardscope {

namespace {

/// Terms summed one by one before an integral takes over. The midpoint rule's error is about
/// f'/24 at the seam: under 1e-3 rows here.
constexpr std::int64_t kExactTerms = 64;

/// Reuse of the open last bin of a histogram, as a multiple of the bound before it.
constexpr double kOpenBinFactor = 2;

/// Antiderivative of x^-alpha.
double power_integral(double x, double alpha) {
  return std::abs(alpha - 1) < 1e-12 ? std::log(x) : std::pow(x, 1 - alpha) / (1 - alpha);
}

/// Sum of i^-alpha for i = kExactTerms + 1 .. n: midpoint integral and the first Euler-Maclaurin
/// term.
double sum_behind_exact(double n, double alpha) {
  constexpr double kLow = kExactTerms + 0.5;
  const double high = n + 0.5;
  const double correction = alpha / 24 * (std::pow(high, -alpha - 1) - std::pow(kLow, -alpha - 1));
  return power_integral(high, alpha) - power_integral(kLow, alpha) + correction;
}

/// Integral of `f` over [low, high] in the logarithm of its argument: 8-point Gauss-Legendre on
/// pieces of at most `step`.
template <class Function>
double log_integral(double low, double high, double step, Function f) {
  constexpr std::array<double, 4> kNodes = {0.1834346424956498, 0.5255324099163290,
                                            0.7966664774136267, 0.9602898564975363};
  constexpr std::array<double, 4> kWeights = {0.3626837833783620, 0.3137066458778873,
                                              0.2223810344533745, 0.1012285362903763};
  if (high <= low) return 0;
  const double from = std::log(low), to = std::log(high);
  const auto pieces = static_cast<int>(std::ceil((to - from) / step));
  const double half = (to - from) / pieces / 2;
  double sum = 0;
  for (int piece = 0; piece < pieces; ++piece) {
    const double middle = from + (2 * piece + 1) * half;
    for (std::size_t n = 0; n < kNodes.size(); ++n) {
      for (const double sign : {-1.0, 1.0}) {
        const double x = std::exp(middle + sign * half * kNodes[n]);
        sum += kWeights[n] * half * x * f(x);
      }
    }
  }
  return sum;
}

/// 1 - (1 - p)^n.
double seen(double probability, double keys) {
  if (probability >= 1) return keys > 0 ? 1 : 0;
  return -std::expm1(keys * std::log1p(-probability));
}

}  // namespace

double generalized_harmonic(double n, double alpha) {
  double sum = 0;
  const double exact = std::min(n, static_cast<double>(kExactTerms));
  for (double i = 1; i <= exact; ++i) sum += std::pow(i, -alpha);
  return n > exact ? sum + sum_behind_exact(n, alpha) : sum;
}

IdLaw::IdLaw(std::int64_t rows, const IdDistribution& ids)
    : rows_(std::max<std::int64_t>(rows, 1)) {
  switch (ids.kind) {
    case IdDistributionKind::uniform:
      break;
    case IdDistributionKind::recorded:
      alpha_ = kAssumedZipf;
      break;
    case IdDistributionKind::heavy_hitters:
      heavy_ = ids.heavy_hitters;
      [[fallthrough]];
    case IdDistributionKind::zipf:
      alpha_ = ids.alpha;
      break;
    case IdDistributionKind::reuse_histogram: {
      double shares = 0, reads = 0, below = 0;
      for (const ReuseBin& bin : ids.reuse) {
        const double bound =
            std::isinf(bin.reuse_at_most) ? below * kOpenBinFactor : bin.reuse_at_most;
        shares += bin.share_of_rows;
        reads += bin.share_of_rows * (std::floor(below) + 1 + bound) / 2;
        below = bound;
      }
      mean_reuse_ = shares > 0 ? std::max(1.0, reads / shares) : 1;
      break;
    }
  }
  if (heavy_.size() > static_cast<std::size_t>(rows_))
    heavy_.resize(static_cast<std::size_t>(rows_));
  for (const double p : heavy_) tail_share_ -= p;
  tail_share_ = std::max(tail_share_, 0.0);
  first_sums_.assign(1, 0.0);
  for (std::int64_t i = 1; i <= kExactTerms; ++i)
    first_sums_.push_back(first_sums_.back() + std::pow(static_cast<double>(i), -alpha_));
  tail_sum_ = tail_harmonic(static_cast<double>(rows_) - static_cast<double>(heavy_.size()));
}

double IdLaw::tail_probability(double tail_rank) const {
  return tail_share_ * std::pow(tail_rank + 1, -alpha_) / tail_sum_;
}

double IdLaw::probability(std::int64_t rank) const {
  if (rank < 0 || rank >= rows_) return 0;
  const auto heavy = static_cast<std::int64_t>(heavy_.size());
  if (rank < heavy) return heavy_[static_cast<std::size_t>(rank)];
  return tail_probability(static_cast<double>(rank - heavy));
}

double IdLaw::tail_harmonic(double n) const {
  if (n <= kExactTerms) return n > 0 ? first_sums_[static_cast<std::size_t>(n)] : 0;
  return first_sums_.back() + sum_behind_exact(n, alpha_);
}

double IdLaw::tail_mass(double tail_top) const {
  return tail_sum_ > 0 ? tail_share_ * tail_harmonic(tail_top) / tail_sum_ : 0;
}

double IdLaw::mass(double top) const {
  const double limit = std::clamp(top, 0.0, static_cast<double>(rows_));
  const double heavy = std::min(limit, static_cast<double>(heavy_.size()));
  double sum = 0;
  for (double i = 0; i < heavy; ++i)
    sum += heavy_[static_cast<std::size_t>(i)] * std::min(1.0, heavy - i);
  if (limit <= heavy) return sum;
  const double rest = limit - heavy;
  const double whole = std::floor(rest);
  sum += tail_mass(whole);
  if (rest > whole) sum += (rest - whole) * tail_probability(whole);
  return std::min(sum, 1.0);
}

double IdLaw::unique_in(double keys, std::int64_t begin, std::int64_t end) const {
  begin = std::max<std::int64_t>(begin, 0);
  end = std::min(end, rows_);
  if (keys <= 0 || end <= begin) return 0;
  if (mean_reuse_ > 0) {
    const double all = std::min(static_cast<double>(rows_), std::max(1.0, keys / mean_reuse_));
    return all * static_cast<double>(end - begin) / static_cast<double>(rows_);
  }
  const auto heavy = static_cast<std::int64_t>(heavy_.size());
  double sum = 0;
  std::int64_t rank = begin;
  for (; rank < end && rank < std::max(begin, heavy) + kExactTerms; ++rank)
    sum += seen(probability(rank), keys);
  if (rank >= end) return sum;
  const auto low = static_cast<double>(rank - heavy), high = static_cast<double>(end - heavy);
  if (alpha_ == 0) return sum + (high - low) * seen(tail_probability(low), keys);
  // The integrand bends where a row is read about once: over a factor e^(1/alpha) in its rank.
  const double step = std::min(1.0, 2 / alpha_);
  return sum + log_integral(low + 0.5, high + 0.5, step, [&](double x) {
           return seen(tail_share_ * std::pow(x, -alpha_) / tail_sum_, keys);
         });
}

double IdLaw::modulo_share(std::int32_t residue, std::int32_t shards) const {
  if (mean_reuse_ > 0 || shards <= 1) return shards <= 1 ? 1 : 1.0 / shards;
  // A few rows of the class one by one; the rest of the class carries its part of the mass behind.
  constexpr std::int64_t kRowsOneByOne = 16;
  double sum = 0;
  std::int64_t rank = residue;
  const auto heavy = static_cast<std::int64_t>(heavy_.size());
  for (std::int64_t n = 0; rank < rows_ && (n < kRowsOneByOne || rank < heavy); ++n, rank += shards)
    sum += probability(rank);
  if (rank >= rows_) return sum;
  // Rows rank, rank + shards, ...: each stands for the `shards` rows around it.
  const double begin = static_cast<double>(rank) - (shards - 1) / 2.0;
  return sum + std::max(0.0, 1 - mass(begin)) / shards;
}

}  // namespace shardscope
