#include "engine/pipeline/graph_segments.hpp"

#include <algorithm>
#include <cstdint>

namespace shardscope::engine {
namespace {

/// By stream the last step outside of graphs that something waits for; -1: none.
using Awaited = std::vector<std::int64_t>;

/// Steps outside of graphs that step `i` waits for itself.
Awaited awaited_by(const Schedule& schedule, const std::vector<bool>& holds, std::size_t i) {
  Awaited awaited(schedule.streams, -1);
  const auto wait_for = [&](std::size_t step) {
    if (holds[step]) return;
    std::int64_t& last = awaited[schedule.steps[step].stream];
    last = std::max(last, static_cast<std::int64_t>(step));
  };
  for (const std::uint16_t step : schedule.steps[i].waits) wait_for(step);
  for (std::size_t before = i; before-- > 0;) {
    if (schedule.steps[before].stream != schedule.steps[i].stream) continue;
    wait_for(before);
    break;
  }
  return awaited;
}

bool covers(const Awaited& all, const Awaited& some) {
  return std::equal(all.begin(), all.end(), some.begin(),
                    [](std::int64_t a, std::int64_t b) { return a >= b; });
}

}  // namespace

std::vector<GraphSegment> graph_segments(const Schedule& schedule, const std::vector<bool>& holds) {
  std::vector<GraphSegment> segments;
  Awaited awaited;  // by the graph in hand
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    const Awaited own = awaited_by(schedule, holds, i);
    const bool goes_on = !segments.empty() && segments.back().graph == holds[i] &&
                         (!holds[i] || covers(awaited, own));
    if (!goes_on) {
      segments.push_back({i, 0, holds[i], {}});
      awaited = own;
    }
    GraphSegment& segment = segments.back();
    ++segment.count;
    const std::size_t stream = schedule.steps[i].stream;
    const auto known = std::find(segment.streams.begin(), segment.streams.end(), stream);
    if (segment.graph && known == segment.streams.end()) segment.streams.push_back(stream);
  }
  return segments;
}

}  // namespace shardscope::engine
