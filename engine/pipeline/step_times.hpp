#pragma once
// What is measured of one step on one rank: written by tasks of the step's stream.

#include <cstdint>

#include "layout/bytes.hpp"

namespace shardscope::engine {

struct StepTimes {
  std::int64_t start_ns = 0;  ///< steady_ns()
  std::int64_t end_ns = 0;
  std::int64_t busy_ns = 0;    ///< thread CPU time: kernels, copies and, where it has them, lists
  std::int64_t waited_ns = 0;  ///< for peers, inside the exchanges
  std::int64_t copied_ns = 0;  ///< moving bytes, inside the exchanges
  LinkBytes sent;
  std::int64_t rows = 0;
};

}  // namespace shardscope::engine
