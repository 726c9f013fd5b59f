#pragma once
// Draws rows of a table independently of each other: Zipf, uniform, heavy hitters.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/batches/permutation.hpp"
#include "engine/batches/random.hpp"
#include "engine/batches/zipf.hpp"
#include "layout/result.hpp"
#include "layout/workload.hpp"

namespace shardscope::engine {

/// Which row has popularity rank i: by number, or by a bijection keyed by (seed, table), the same
/// for every feature of the table and every iteration.
class RowOrder {
 public:
  RowOrder() = default;
  RowOrder(std::int64_t rows, IdOrder order, std::uint64_t seed, std::int32_t table)
      : permuted_(order == IdOrder::permuted),
        permutation_(rows, mix64(seed, static_cast<std::uint64_t>(table))) {}

  [[nodiscard]] std::int64_t operator()(std::int64_t rank) const {
    return permuted_ ? permutation_(rank) : rank;
  }

 private:
  bool permuted_ = false;
  Permutation permutation_;
};

/// Rows of one feature.
class RowSampler {
 public:
  /// For kinds zipf, uniform and heavy_hitters. Errors name `place`: alpha negative or not finite,
  /// heavy hitters that are negative, more than the rows, or sum to more than 1 (or to less when
  /// no row is left for the rest).
  [[nodiscard]] static Result<RowSampler> make(const IdDistribution& ids, std::int64_t rows,
                                               std::uint64_t seed, std::int32_t table,
                                               const std::string& place);

  [[nodiscard]] std::int64_t operator()(Draws& draws) const { return order_(rank(draws)); }

 private:
  [[nodiscard]] std::int64_t rank(Draws& draws) const {
    switch (kind_) {
      case IdDistributionKind::uniform:
        return static_cast<std::int64_t>(draws.below(static_cast<std::uint64_t>(rows_)));
      case IdDistributionKind::heavy_hitters:
        return heavy_rank(draws);
      default:
        return zipf_(draws);
    }
  }
  [[nodiscard]] std::int64_t heavy_rank(Draws& draws) const;

  IdDistributionKind kind_ = IdDistributionKind::uniform;
  std::int64_t rows_ = 1;
  Zipf zipf_;                ///< over all rows, or those that are not listed
  std::vector<double> sum_;  ///< heavy hitters: running sum of their probabilities
  RowOrder order_;
};

}  // namespace shardscope::engine
