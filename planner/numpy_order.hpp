#pragma once
// Order and rounding of numpy's argsort and sum. HugeCTR's planners are written on numpy, and what
// they return depends on how it breaks ties and rounds.

#include <cstdint>
#include <vector>

namespace shardscope {

/// Indices that sort `keys` ascending, with ties where numpy's quicksort leaves them (median of
/// three above 16 keys, insertion below: stable there).
[[nodiscard]] std::vector<std::size_t> numpy_argsort(const std::vector<double>& keys);

/// The same from the front, one index a call: cheap where few are asked for and no keys tie before
/// them. Keeps a reference to the keys, which must not change meanwhile.
class NumpyArgsortFront {
 public:
  explicit NumpyArgsortFront(const std::vector<double>& keys) : keys_(keys) {}

  /// False when all have been given.
  bool next(std::size_t& index);

 private:
  const std::vector<double>& keys_;
  std::vector<std::size_t> all_;  ///< once keys tied
  std::size_t given_ = 0;
  double last_ = 0;
};

/// The same as numpy_argsort, descending: the ascending order reversed.
[[nodiscard]] std::vector<std::size_t> numpy_argsort_descending(const std::vector<double>& keys);

/// Sum in numpy's order: one by one below 8 terms, else eight running sums.
[[nodiscard]] double numpy_sum(const std::vector<double>& terms);

}  // namespace shardscope
