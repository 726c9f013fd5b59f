#pragma once
// Exact bounded Zipf in O(1) memory, by rejection-inversion.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine/batches/random.hpp"

namespace shardscope::engine {

/// Popularity ranks 0..count-1 with probability proportional to (rank + 1)^-alpha, for any
/// alpha >= 0 and any count.
///
/// Method: Hormann and Derflinger, "Rejection-inversion to generate variates from monotone discrete
/// distributions", ACM TOMACS 6(3), 1996. x is drawn with density x^-alpha on
/// [left edge, count + 1/2] by inverting the integral, rounded to k, and accepted when it lies in
/// the part of k's interval whose area is exactly k^-alpha; the left edge makes rank 0 exact.
///
/// The integral is measured from the end where x^(1-alpha) is small in magnitude (from 1 for
/// alpha < 1, from count + 1/2 otherwise), so that neither alpha near 1 nor a long tail loses
/// digits. Ranks so unlikely that 64 random bits cannot reach them are not drawn.
class Zipf {
 public:
  Zipf() = default;
  Zipf(std::int64_t count, double alpha);

  /// A popularity rank.
  [[nodiscard]] std::int64_t operator()(Draws& draws) const {
    for (;;) {
      const double area = base_ + span_ * draws.unit();
      const double x = inverse(area);
      const double k = std::clamp(nearest(x), 1.0, last_);
      if (k - x <= quick_ || k == 1 || accept(k, area)) return static_cast<std::int64_t>(k) - 1;
    }
  }

 private:
  /// Integral of t^-alpha between x and the end it is measured from, in units of scale_.
  [[nodiscard]] double integral(double x) const;
  /// Its inverse.
  [[nodiscard]] double inverse(double area) const {
    const double exponent = steep_ ? std::log(1 + slope_ * area) * inverse_slope_ : flat(area);
    return from_left_ ? std::exp(exponent) : end_ * std::exp(-exponent);
  }
  /// The exponent where slope_ is so small that 1 + slope_ * area loses digits.
  [[nodiscard]] double flat(double area) const {
    return slope_ == 0 ? area : std::log1p(slope_ * area) * inverse_slope_;
  }
  [[nodiscard]] bool accept(double k, double area) const;
  /// x >= 0 rounded to the nearest whole number, without a library call.
  [[nodiscard]] static double nearest(double x) {
    return static_cast<double>(static_cast<std::int64_t>(x + 0.5));
  }

  double alpha_ = 1;
  double slope_ = 0;          ///< |1 - alpha|
  double inverse_slope_ = 0;  ///< 1 / slope_, or 0
  bool from_left_ = false;
  bool steep_ = false;  ///< slope_ is large enough for log(1 + .), twice as fast as log1p
  double last_ = 1;     ///< largest k
  double end_ = 1.5;    ///< last_ + 1/2
  double base_ = 0;     ///< areas are base_ + span_ * (0, 1]
  double span_ = 0;
  double quick_ = 1;  ///< k - x at most this is always accepted
};

}  // namespace shardscope::engine
