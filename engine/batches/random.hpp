#pragma once
// Counter-based random numbers: every draw is a pure function of (seed, iteration, feature,
// sample, purpose, number of the draw), so no draw depends on rank, thread or order of work.
//
// The generator is Philox4x32 with 10 rounds (Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011): a keyed bijection of 128-bit counters. Distinct counters of one key never
// overlap, which hashed start states could not promise.

#include <array>
#include <bit>
#include <cstdint>

namespace shardscope::engine {

/// Mixes all 64 bits (the finalizer of splitmix64, a bijection).
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

/// Hash of two words; not symmetric.
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t first, std::uint64_t second) {
  return mix64(mix64(first + 0x9e3779b97f4a7c15ULL) + second);
}

using PhiloxBlock = std::array<std::uint32_t, 4>;

/// The Philox4x32-10 bijection of `counter` under `key` (low word first).
[[nodiscard]] constexpr PhiloxBlock philox4x32(PhiloxBlock counter, std::uint64_t key) {
  auto key0 = static_cast<std::uint32_t>(key);
  auto key1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t even = std::uint64_t{0xD2511F53U} * counter[0];
    const std::uint64_t odd = std::uint64_t{0xCD9E8D57U} * counter[2];
    counter = {static_cast<std::uint32_t>(odd >> 32) ^ counter[1] ^ key0,
               static_cast<std::uint32_t>(odd),
               static_cast<std::uint32_t>(even >> 32) ^ counter[3] ^ key1,
               static_cast<std::uint32_t>(even)};
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  return counter;
}

/// What a stream of draws is for: streams of different purposes are independent.
enum class Purpose : std::uint32_t { lengths, ids, weights, dense, label, hidden_effects };

/// Names one stream of draws.
struct DrawKey {
  std::uint64_t seed = 0;
  std::int64_t iteration = 0;
  std::int64_t sample = 0;    ///< in the global batch; below 2^32
  std::uint32_t feature = 0;  ///< below 2^28
  Purpose purpose = Purpose::ids;
};

/// The draws of one stream, in order. Cheap to make: nothing is computed before the first draw.
class Draws {
 public:
  explicit Draws(const DrawKey& key)
      : key_(key.seed ^ (static_cast<std::uint64_t>(key.iteration) >> 32) * 0x9e3779b97f4a7c15ULL),
        counter_{0, static_cast<std::uint32_t>(key.sample),
                 (key.feature << 4) | static_cast<std::uint32_t>(key.purpose),
                 static_cast<std::uint32_t>(key.iteration)} {}

  /// 64 uniform bits.
  std::uint64_t next() {
    if (spare_) {
      spare_ = false;
      return second_;
    }
    const PhiloxBlock block = philox4x32(counter_, key_);
    ++counter_[0];
    second_ = block[2] | (std::uint64_t{block[3]} << 32);
    spare_ = true;
    return block[0] | (std::uint64_t{block[1]} << 32);
  }

  /// Uniform in (0, 1], spaced 2^-63 near 0 so that rare events keep their probability.
  double unit() { return unit_of(next()); }

  /// Uniform in [0, bound), exact: the few values that would be over-represented are redrawn.
  std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    Wide product = static_cast<Wide>(next()) * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
      const std::uint64_t surplus = -bound % bound;
      while (static_cast<std::uint64_t>(product) < surplus) {
        product = static_cast<Wide>(next()) * bound;
      }
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  /// From 63 of the bits: converting a signed number needs no branch on its top bit.
  [[nodiscard]] static double unit_of(std::uint64_t bits) {
    return (static_cast<double>(static_cast<std::int64_t>(bits >> 1)) + 0.5) * 0x1p-63;
  }

 private:
  std::uint64_t key_;
  PhiloxBlock counter_;
  std::uint64_t second_ = 0;
  bool spare_ = false;
};

}  // namespace shardscope::engine
