#pragma once
// Which steps of a schedule run together as one graph of the device. Pure.

#include <cstddef>
#include <vector>

#include "layout/schedule.hpp"

namespace shardscope::engine {

/// Consecutive steps: one graph, or steps that no graph holds.
struct GraphSegment {
  std::size_t first = 0;
  std::size_t count = 0;
  bool graph = false;
  std::vector<std::size_t> streams;  ///< of a graph's steps; the first one's launches it
};

/// Cuts the schedule into as few segments as there are, where holds[i] says whether a graph can
/// hold step i. A graph starts when all has run that its steps wait for, so a step that waits for
/// one outside of any graph, which the steps before it do not wait for, begins a graph of its own:
/// what overlaps an exchange still does.
[[nodiscard]] std::vector<GraphSegment> graph_segments(const Schedule& schedule,
                                                       const std::vector<bool>& holds);

}  // namespace shardscope::engine
