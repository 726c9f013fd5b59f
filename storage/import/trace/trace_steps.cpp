#include "storage/import/trace/trace_steps.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

namespace shardscope::storage {

std::vector<TraceStep> trace_steps(const RankTrace& trace) {
  constexpr std::string_view kPrefix = "ProfilerStep#";
  std::vector<TraceStep> steps;
  for (const CpuRange& range : trace.ranges) {
    const std::string& name = trace.names.text(range.name);
    if (!name.starts_with(kPrefix)) continue;
    std::int32_t number = -1;
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), number);
    if (number >= 0) steps.push_back({range.start_ns, range.end_ns, number});
  }
  std::sort(steps.begin(), steps.end(),
            [](const TraceStep& a, const TraceStep& b) { return a.start_ns < b.start_ns; });
  return steps;
}

}  // namespace shardscope::storage
