#pragma once
// |x - y| <= bound for floats, decided in whole numbers: an oracle that rounds nothing.

#include <array>
#include <cmath>
#include <cstdint>

namespace shardscope::engine::testing {

/// A non-negative multiple of 2^-149, the smallest float: 384 bits hold every float and their sums.
class Multiple {
 public:
  /// |value|, rounded down to a multiple where it is none (doubles below the floats).
  explicit Multiple(double value) {
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(value), &exponent);
    auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
    int shift = exponent - 53 + 149;
    for (; shift < 0 && mantissa != 0; ++shift) mantissa >>= 1;
    if (mantissa == 0) return;
    const auto word = static_cast<std::size_t>(shift / 64);
    words_[word] = mantissa << (shift % 64);
    if (shift % 64 != 0) words_[word + 1] = mantissa >> (64 - shift % 64);
  }

  friend bool operator<=(const Multiple& a, const Multiple& b) {
    for (std::size_t i = a.words_.size(); i-- > 0;) {
      if (a.words_[i] != b.words_[i]) return a.words_[i] < b.words_[i];
    }
    return true;
  }
  /// *this + other
  [[nodiscard]] Multiple plus(const Multiple& other) const {
    Multiple sum(0);
    unsigned __int128 carry = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      carry += static_cast<unsigned __int128>(words_[i]) + other.words_[i];
      sum.words_[i] = static_cast<std::uint64_t>(carry);
      carry >>= 64;
    }
    return sum;
  }

 private:
  std::array<std::uint64_t, 8> words_{};
};

/// bound below 2^120.
inline bool within(float x, float y, double bound) {
  const Multiple limit(bound);
  if (std::signbit(x) != std::signbit(y)) return Multiple(x).plus(Multiple(y)) <= limit;
  const bool x_smaller = std::fabs(x) < std::fabs(y);
  return Multiple(x_smaller ? y : x) <= Multiple(x_smaller ? x : y).plus(limit);
}

}  // namespace shardscope::engine::testing
