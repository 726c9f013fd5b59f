#include "engine/pipeline/critical_path.hpp"

#include <algorithm>
#include <cstddef>

namespace shardscope::engine {

double longest_chain(const Schedule& schedule, const std::vector<double>& durations) {
  std::vector<double> end(schedule.steps.size());
  std::vector<double> stream_end(schedule.streams);
  double longest = 0;
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    const ScheduleStep& step = schedule.steps[i];
    double start = stream_end[step.stream];
    for (const std::uint16_t wait : step.waits) start = std::max(start, end[wait]);
    end[i] = start + durations[i];
    stream_end[step.stream] = end[i];
    longest = std::max(longest, end[i]);
  }
  return longest;
}

}  // namespace shardscope::engine
