#pragma once
// A keyed bijection of [0, size) without a table: which row has popularity rank i.

#include <bit>
#include <cstdint>

#include "engine/batches/random.hpp"

namespace shardscope::engine {

/// Bijection of [0, size) chosen by `key`. Rounds of (add, xor-shift, odd multiply) permute the
/// integers of the smallest power of two >= size; values outside [0, size) go through again until
/// they fall inside (cycle walking), which keeps it a bijection and takes fewer than two turns on
/// average. The last xor-shift brings the well mixed high bits down to the bits that `modulo` row
/// shards look at. Not a cipher: it only has to make popularity unrelated to the row number.
class Permutation {
 public:
  Permutation() = default;
  /// size in 1..2^62.
  Permutation(std::int64_t size, std::uint64_t key) : size_(static_cast<std::uint64_t>(size)) {
    const int bits = size > 1 ? std::bit_width(size_ - 1) : 0;
    mask_ = (std::uint64_t{1} << bits) - 1;
    shift_ = bits > 2 ? bits / 2 : 1;
    for (int round = 0; round < kRounds; ++round) {
      add_[round] = mix64(key, 2 * static_cast<std::uint64_t>(round));
      multiply_[round] = mix64(key, 2 * static_cast<std::uint64_t>(round) + 1) | 1;
    }
  }

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(size_); }

  /// Image of `value`, which must lie in [0, size).
  [[nodiscard]] std::int64_t operator()(std::int64_t value) const {
    auto at = static_cast<std::uint64_t>(value);
    do {
      at = once(at);
    } while (at >= size_);
    return static_cast<std::int64_t>(at);
  }

 private:
  static constexpr int kRounds = 4;

  [[nodiscard]] std::uint64_t once(std::uint64_t value) const {
    for (int round = 0; round < kRounds; ++round) {
      value = (value + add_[round]) & mask_;
      value ^= value >> shift_;
      value = (value * multiply_[round]) & mask_;
    }
    return value ^ (value >> shift_);
  }

  std::uint64_t size_ = 1;
  std::uint64_t mask_ = 0;
  int shift_ = 1;
  std::uint64_t add_[kRounds] = {};
  std::uint64_t multiply_[kRounds] = {1, 1, 1, 1};
};

}  // namespace shardscope::engine
