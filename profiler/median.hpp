// The middle of measured values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace shardscope {

/// The value that as many are below as above; of an even number the upper of the two in the middle.
/// `values` must not be empty.
template <class Value>
Value median(std::vector<Value> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace shardscope
