#pragma once
// Draws bag lengths from a feature's Hotness.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/batches/random.hpp"
#include "layout/result.hpp"
#include "layout/workload.hpp"

namespace shardscope::engine {

/// Lengths of one feature's bags. fixed needs no draw, uniform and histogram one a bag.
class Lengths {
 public:
  /// Errors name `place` (the feature): negative lengths, maximum below minimum, a histogram with
  /// no positive weight or a negative one.
  [[nodiscard]] static Result<Lengths> make(const Hotness& hotness, const std::string& place);

  [[nodiscard]] bool fixed() const { return minimum_ == maximum_; }
  [[nodiscard]] std::int32_t maximum() const { return maximum_; }

  [[nodiscard]] std::int32_t operator()(Draws& draws) const {
    if (fixed()) return minimum_;
    return cumulative_.empty() ? uniform(draws) : by_histogram(draws);
  }

 private:
  [[nodiscard]] std::int32_t uniform(Draws& draws) const {
    const auto choices =
        static_cast<std::uint64_t>(maximum_) - static_cast<std::uint64_t>(minimum_) + 1;
    return minimum_ + static_cast<std::int32_t>(draws.below(choices));
  }
  [[nodiscard]] std::int32_t by_histogram(Draws& draws) const;

  std::int32_t minimum_ = 1;
  std::int32_t maximum_ = 1;
  std::vector<double> cumulative_;  ///< of the histogram's weights, the last is their sum
};

}  // namespace shardscope::engine
