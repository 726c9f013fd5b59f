#pragma once
// Order and rounding of numpy's argsort and sum. HugeCTR's planners are written on numpy, and what
// they return depends on how it breaks ties and rounds.

#include <cstdint>
#include <vector>

namespace shardscope {

/// Indices that sort `keys` ascending, with ties where numpy's quicksort leaves them (median of
/// three above 16 keys, insertion below: stable there).
[[nodiscard]] std::vector<std::size_t> numpy_argsort(const std::vector<double>& keys);

/// The same, descending: the ascending order reversed.
[[nodiscard]] std::vector<std::size_t> numpy_argsort_descending(const std::vector<double>& keys);

/// Sum in numpy's order: one by one below 8 terms, else eight running sums.
[[nodiscard]] double numpy_sum(const std::vector<double>& terms);

}  // namespace shardscope
