#pragma once
// Hears what a rank's host thread works on, so that the device's activity can be tied to it.

#include <cstdint>

#include "layout/schedule.hpp"

namespace shardscope {

/// The part of a run that a call of the host belongs to.
struct Attribution {
  std::int32_t rank = 0;
  std::int32_t iteration = 0;
  Stage stage = Stage::input_dist;
  Work work = Work::RB;

  friend bool operator==(const Attribution&, const Attribution&) = default;
};

/// Calls come from the ranks' host threads.
class WorkTracer {
 public:
  virtual ~WorkTracer() = default;

  /// The calling thread's calls belong to `at` until the next begin_work() or end_work().
  virtual void begin_work(const Attribution& at) = 0;
  virtual void end_work() = 0;
};

}  // namespace shardscope
