#include "planner/numpy_order.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace shardscope {

namespace {

constexpr std::ptrdiff_t kInsertionLimit = 16;
constexpr std::size_t kRunningSums = 8;
constexpr std::size_t kSumBlock = 128;

using Range = std::pair<std::ptrdiff_t, std::ptrdiff_t>;  // inclusive

class QuickSorter {
 public:
  QuickSorter(const std::vector<double>& keys, std::vector<std::size_t>& order)
      : keys_(keys), order_(order) {}

  void sort() {
    std::vector<Range> waiting = {{0, static_cast<std::ptrdiff_t>(order_.size()) - 1}};
    while (!waiting.empty()) {
      auto [low, high] = waiting.back();
      waiting.pop_back();
      while (high - low > kInsertionLimit) {
        const std::ptrdiff_t middle = partition(low, high);
        // The larger side waits.
        if (middle - low < high - middle) {
          waiting.emplace_back(middle + 1, high);
          high = middle - 1;
        } else {
          waiting.emplace_back(low, middle - 1);
          low = middle + 1;
        }
      }
      insert(low, high);
    }
  }

 private:
  [[nodiscard]] double key(std::ptrdiff_t at) const {
    return keys_[order_[static_cast<std::size_t>(at)]];
  }
  void swap(std::ptrdiff_t a, std::ptrdiff_t b) {
    std::swap(order_[static_cast<std::size_t>(a)], order_[static_cast<std::size_t>(b)]);
  }

  std::ptrdiff_t partition(std::ptrdiff_t low, std::ptrdiff_t high) {
    const std::ptrdiff_t middle = low + (high - low) / 2;
    if (key(middle) < key(low)) swap(middle, low);
    if (key(high) < key(middle)) swap(high, middle);
    if (key(middle) < key(low)) swap(middle, low);
    const double pivot = key(middle);
    std::ptrdiff_t left = low, right = high - 1;
    swap(middle, right);
    while (true) {
      do ++left;
      while (key(left) < pivot);
      do --right;
      while (pivot < key(right));
      if (left >= right) break;
      swap(left, right);
    }
    swap(left, high - 1);
    return left;
  }

  void insert(std::ptrdiff_t low, std::ptrdiff_t high) {
    for (std::ptrdiff_t next = low + 1; next <= high; ++next)
      for (std::ptrdiff_t at = next; at > low && key(at) < key(at - 1); --at) swap(at, at - 1);
  }

  const std::vector<double>& keys_;
  std::vector<std::size_t>& order_;
};

double block_sum(const double* terms, std::size_t count) {
  if (count < kRunningSums) return std::accumulate(terms, terms + count, 0.0);
  if (count > kSumBlock) {
    std::size_t half = count / 2;
    half -= half % kRunningSums;
    return block_sum(terms, half) + block_sum(terms + half, count - half);
  }
  std::array<double, kRunningSums> sums{};
  std::copy_n(terms, kRunningSums, sums.begin());
  std::size_t at = kRunningSums;
  for (; at + kRunningSums <= count; at += kRunningSums)
    for (std::size_t n = 0; n < kRunningSums; ++n) sums[n] += terms[at + n];
  double total =
      ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  for (; at < count; ++at) total += terms[at];
  return total;
}

}  // namespace

std::vector<std::size_t> numpy_argsort(const std::vector<double>& keys) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  QuickSorter(keys, order).sort();
  return order;
}

bool NumpyArgsortFront::next(std::size_t& index) {
  if (given_ == keys_.size()) return false;
  if (all_.empty()) {
    std::size_t least = keys_.size(), ties = 0;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (given_ > 0 && keys_[i] <= last_) continue;
      if (least == keys_.size() || keys_[i] < keys_[least]) {
        least = i;
        ties = 0;
      } else if (keys_[i] == keys_[least]) {
        ++ties;
      }
    }
    if (least < keys_.size() && ties == 0) {
      ++given_;
      last_ = keys_[least];
      index = least;
      return true;
    }
    all_ = numpy_argsort(keys_);
  }
  index = all_[given_++];
  return true;
}

std::vector<std::size_t> numpy_argsort_descending(const std::vector<double>& keys) {
  std::vector<std::size_t> order = numpy_argsort(keys);
  std::reverse(order.begin(), order.end());
  return order;
}

double numpy_sum(const std::vector<double>& terms) {
  return block_sum(terms.data(), terms.size());
}

}  // namespace shardscope
