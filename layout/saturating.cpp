#include <limits>

#include "layout/memory.hpp"

namespace shardscope {

namespace {
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
}  // namespace

std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kLargest : sum;
}

std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kLargest : product;
}

std::int64_t MemoryUse::total() const {
  std::int64_t sum = 0;
  for (const std::int64_t part : {weights, optimizer_state, transients, communication, indices,
                                  sort, wgrad, tier_overhead, dense, reserve}) {
    sum = saturating_add(sum, part);
  }
  return sum;
}

}  // namespace shardscope
