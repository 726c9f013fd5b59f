#pragma once
// Random values of the vocabulary that the formats can express, for property tests.

#include <cstdint>
#include <random>
#include <string>

#include "layout/layout.hpp"
#include "layout/table_stats.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope::testing_values {

class RandomValues {
 public:
  explicit RandomValues(std::uint64_t seed) : random_(seed) {}

  [[nodiscard]] Workload workload();
  [[nodiscard]] Topology topology();
  [[nodiscard]] Layout layout();
  [[nodiscard]] TableStats table_stats();

  [[nodiscard]] std::int64_t whole(std::int64_t low, std::int64_t high);

 private:
  [[nodiscard]] bool coin() { return whole(0, 1) == 1; }
  template <class E>
  [[nodiscard]] E choice(int count) {
    return static_cast<E>(whole(0, count - 1));
  }
  [[nodiscard]] double real();
  [[nodiscard]] double share();
  [[nodiscard]] std::string text();
  [[nodiscard]] Optimizer optimizer();
  [[nodiscard]] Hotness hotness();
  [[nodiscard]] IdDistribution ids();
  [[nodiscard]] Quantity quantity();
  [[nodiscard]] LinkModel link();
  [[nodiscard]] CodecSlots slots();
  [[nodiscard]] TablePlacement placement();

  std::mt19937_64 random_;
};

}  // namespace shardscope::testing_values
