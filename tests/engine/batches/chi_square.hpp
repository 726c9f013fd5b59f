#pragma once
// Goodness of fit with a stated significance.

#include <cmath>
#include <cstdint>
#include <vector>

namespace shardscope::engine::batches_test {

/// Chance that a correct sampler fails one test. A run of a few hundred tests then fails by chance
/// about once in ten thousand runs; seeds are fixed, so in practice the outcome is a constant.
inline constexpr double kSignificance = 1e-6;
/// Standard normal quantile of 1 - kSignificance.
inline constexpr double kNormalQuantile = 4.753424;

/// Chi-square value above which a sampler is rejected at kSignificance, by the Wilson-Hilferty
/// approximation (relative error below 1 % from 3 degrees of freedom on).
inline double chi_square_limit(double degrees) {
  const double third = 2.0 / (9.0 * degrees);
  const double root = 1 - third + kNormalQuantile * std::sqrt(third);
  return degrees * root * root * root;
}

struct ChiSquare {
  double value = 0;
  double degrees = 0;
  [[nodiscard]] double limit() const { return chi_square_limit(degrees); }
};

/// Compares counts with expected counts; neighbours are merged until each bin expects at least 10.
inline ChiSquare chi_square(const std::vector<double>& observed,
                            const std::vector<double>& expected) {
  ChiSquare result;
  double seen = 0;
  double due = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    seen += observed[i];
    due += expected[i];
    double left = 0;
    if (due < 10) continue;
    for (std::size_t j = i + 1; j < expected.size() && left < 10; ++j) left += expected[j];
    if (left < 10 && i + 1 < expected.size()) continue;  // the rest would be too thin alone
    result.value += (seen - due) * (seen - due) / due;
    result.degrees += 1;
    seen = due = 0;
  }
  result.degrees -= 1;
  return result;
}

}  // namespace shardscope::engine::batches_test
