#pragma once
// The chain of cause behind an iteration's end.

#include <vector>

#include "planner/timeline.hpp"

namespace shardscope {

/// Walks back from the rank that ends last to the iteration's begin. Needs a timeline that has run
/// with these steps. Pieces of no length are left out.
[[nodiscard]] std::vector<CriticalPiece> critical_path(const Schedule& schedule,
                                                       const std::vector<TimedStep>& steps,
                                                       const Timeline& timeline);

}  // namespace shardscope
