#pragma once
// Expected counts of a stream of ids drawn independently from one distribution: distinct rows,
// share of the hottest rows, load of a row shard. Exact for the most popular rows, an integral for
// the rest (midpoint rule in the row number; tests compare with direct sums).

#include <cstdint>
#include <vector>

#include "layout/workload.hpp"

namespace shardscope {

/// Exponent for recorded columns without statistics: between Merlin's synthetic models (1.05) and
/// EMBark's (1.1).
inline constexpr double kAssumedZipf = 1.05;

/// Ids over rows ordered by falling popularity. Heavy hitters first, then Zipf of exponent alpha
/// (0: uniform) over the remaining rows.
class IdLaw {
 public:
  IdLaw(std::int64_t rows, const IdDistribution& ids);

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  /// Probability of the row of popularity rank `rank` (0 is the most popular).
  [[nodiscard]] double probability(std::int64_t rank) const;
  /// Share of ids that read the `top` most popular rows.
  [[nodiscard]] double mass(double top) const;
  /// Expected distinct rows among `keys` ids.
  [[nodiscard]] double unique(double keys) const { return unique_in(keys, 0, rows_); }
  /// Of those, rows whose popularity rank lies in [begin, end).
  [[nodiscard]] double unique_in(double keys, std::int64_t begin, std::int64_t end) const;
  /// Share of ids whose popularity rank is congruent to `residue` modulo `shards`.
  [[nodiscard]] double modulo_share(std::int32_t residue, std::int32_t shards) const;

  friend bool operator==(const IdLaw&, const IdLaw&) = default;

 private:
  [[nodiscard]] double tail_probability(double tail_rank) const;
  [[nodiscard]] double tail_harmonic(double n) const;  ///< of whole n
  [[nodiscard]] double tail_mass(double tail_top) const;

  std::int64_t rows_ = 0;
  double alpha_ = 0;
  std::vector<double> heavy_;
  double tail_share_ = 1;           ///< mass of all rows behind the heavy hitters
  double tail_sum_ = 1;             ///< sum of i^-alpha over them
  double mean_reuse_ = 0;           ///< reuse histogram: ids per distinct row; 0: none
  std::vector<double> first_sums_;  ///< of i^-alpha for the first 0, 1, 2, ... tail rows
};

/// Sum of i^-alpha for i = 1..n.
[[nodiscard]] double generalized_harmonic(double n, double alpha);

}  // namespace shardscope
