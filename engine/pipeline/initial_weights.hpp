#pragma once
// First values of the tables: a function of (seed, table, row, column), never of the rank, so that
// every layout starts from the same model.

#include <cmath>
#include <cstdint>

#include "engine/cpu/rounding.hpp"

namespace shardscope::engine {

enum class InitialWeights : std::uint8_t {
  uniform,  ///< evenly in +-1 / sqrt(rows of the table)
  dyadic,   ///< multiples of 1/8 in [-1, 1]: sums of few terms are exact in fp32
};

/// Value of one element.
class WeightSource {
 public:
  WeightSource(InitialWeights kind, std::uint64_t seed, std::int32_t table, std::int64_t rows)
      : kind_(kind),
        table_key_(mix_bits(mix_bits(seed ^ kSalt) ^ static_cast<std::uint32_t>(table))),
        bound_(rows > 0 ? 1.0F / std::sqrt(static_cast<float>(rows)) : 0.0F) {}

  [[nodiscard]] float operator()(std::int64_t row, std::int32_t column) const {
    const std::uint64_t key = mix_bits(table_key_ ^ static_cast<std::uint64_t>(row));
    const std::uint32_t bits = rounding_bits(key, static_cast<std::uint32_t>(column));
    if (kind_ == InitialWeights::dyadic) {
      return (static_cast<float>(bits % 17) - 8.0F) / 8.0F;
    }
    const float unit = static_cast<float>(bits >> 8) * 0x1p-23F - 1.0F;  // [-1, 1)
    return unit * bound_;
  }

 private:
  static constexpr std::uint64_t kSalt = 0x7ab1e5eedULL;

  InitialWeights kind_;
  std::uint64_t table_key_;
  float bound_;
};

}  // namespace shardscope::engine
