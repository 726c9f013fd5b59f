#pragma once
// The longest chain of a schedule.

#include <vector>

#include "layout/schedule.hpp"

namespace shardscope::engine {

/// Duration of the longest chain of steps when step i takes durations[i]: a step follows the one
/// before it on its stream and the steps it waits for. Steps on the next batch are part of it, as
/// the iteration does not end before them.
[[nodiscard]] double longest_chain(const Schedule& schedule, const std::vector<double>& durations);

}  // namespace shardscope::engine
