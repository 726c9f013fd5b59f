#include "engine/codec/quantizer.hpp"

#include <algorithm>
#include <cmath>

namespace shardscope::engine {
namespace {

/// Outside of these steps 1 / step or the codes of ordinary values leave the normal floats.
constexpr float kSmallestStep = 0x1p-100F;
constexpr float kLargestStep = 0x1p100F;

/// Research: no 8-bit code leaves the bound for shrinks of 2^-12 to 2^-15, some do at 2^-16.
constexpr float kTwiceTheBound = 2 * (1 - 0x1p-14F);

}  // namespace

double absolute_bound(const CodecSpec& spec, const FiniteRange& range) {
  if (!spec.relative) return spec.bound;
  if (!range.any()) return 0;
  return spec.bound * (static_cast<double>(range.high) - static_cast<double>(range.low));
}

Quantizer quantizer_of(double absolute_bound) {
  Quantizer made;
  // A bound above the largest step serves nobody; a smaller one keeps it as well.
  const double wanted = std::min(absolute_bound, static_cast<double>(kLargestStep / 2));
  made.bound = static_cast<float>(wanted);
  if (static_cast<double>(made.bound) > wanted) made.bound = std::nextafter(made.bound, 0.0F);
  const float step = made.bound * kTwiceTheBound;
  if (!is_step(step)) return made;
  made.step = step;
  made.inverse = 1 / step;
  return made;
}

bool is_step(float step) {
  return step >= kSmallestStep && step <= kLargestStep;
}

bool fits_8_bits(const Quantizer& quantizer, const FiniteRange& range) {
  if (!range.any()) return true;
  const float largest = std::max(std::fabs(range.low), std::fabs(range.high));
  return largest * quantizer.inverse <= static_cast<float>(kLargestCode8);
}

}  // namespace shardscope::engine
