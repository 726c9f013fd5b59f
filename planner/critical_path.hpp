#pragma once
// The chain of cause behind an iteration's end.

#include <cstdint>
#include <vector>

#include "planner/simulate.hpp"
#include "planner/timeline.hpp"

namespace shardscope {

/// Walks back from the rank that ends last to the iteration's begin. Needs a timeline that has run
/// with these steps. Pieces of no length are left out.
[[nodiscard]] std::vector<CriticalPiece> critical_path(const Schedule& schedule,
                                                       const std::vector<TimedStep>& steps,
                                                       const Timeline& timeline);

/// The rank that waits least: the one the others wait for. Of equals, the busiest.
[[nodiscard]] std::int32_t critical_rank_of(const Simulation& simulation);

}  // namespace shardscope
