#include "engine/batches/zipf.hpp"

#include <algorithm>

namespace shardscope::engine {
namespace {

/// slope * ln(end) up to which (end^slope) is computed without overflow; the ranks it leaves out
/// together weigh less than e^-600.
constexpr double kLargestExponent = 600;
/// From this slope on, rounding 1 + slope * area moves x by less than 1e-13 of itself.
constexpr double kSteepSlope = 0x1p-8;

}  // namespace

Zipf::Zipf(std::int64_t count, double alpha)
    : alpha_(alpha),
      slope_(std::abs(1 - alpha)),
      from_left_(alpha < 1),
      steep_(slope_ >= kSteepSlope) {
  last_ = static_cast<double>(count);
  if (alpha > 1) last_ = std::min(last_, std::ceil(std::exp(kLargestExponent / slope_)));
  end_ = last_ + 0.5;
  inverse_slope_ = slope_ > 0 ? 1 / slope_ : 0;

  // From the left, area grows with x: [H(1.5) - 1, H(end)]. From the right it falls: x = end has
  // area 0 and the left edge H(1.5) + 1 (in units that make k^-alpha the weight of k).
  const double unit = from_left_ ? 1.0 : std::pow(end_, alpha - 1);
  if (from_left_) {
    base_ = integral(1.5) - 1;
    span_ = integral(end_) - base_;
  } else {
    base_ = 0;
    span_ = integral(1.5) + unit;
  }
  // k - x at the edge of acceptance grows with k, so k = 2 gives what holds for every k.
  const double weight = std::pow(2.0, -alpha) * unit;
  quick_ = 2 - inverse(from_left_ ? integral(2.5) - weight : integral(2.5) + weight);
}

double Zipf::integral(double x) const {
  const double exponent = from_left_ ? std::log(x) : std::log(end_ / x);
  return slope_ == 0 ? exponent : std::expm1(slope_ * exponent) * inverse_slope_;
}

bool Zipf::accept(double k, double area) const {
  const double weight = from_left_ ? std::pow(k, -alpha_) : std::pow(k / end_, -alpha_) / end_;
  const double right = integral(k + 0.5);
  return from_left_ ? area >= right - weight : area <= right + weight;
}

}  // namespace shardscope::engine
