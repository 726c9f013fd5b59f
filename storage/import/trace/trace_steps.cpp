#include "storage/import/trace/trace_steps.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>
#include <string_view>

namespace shardscope::storage {
namespace {

constexpr std::string_view kProfilerStep = "ProfilerStep#";

/// The last number in a name; -1 without.
std::int32_t last_number(std::string_view name) {
  const auto is_digit = [](char letter) {
    return std::isdigit(static_cast<unsigned char>(letter)) != 0;
  };
  std::size_t end = name.size();
  while (end > 0 && !is_digit(name[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  std::int32_t number = -1;
  const auto [at, error] = std::from_chars(name.data() + begin, name.data() + end, number);
  return error == std::errc() ? number : -1;
}

/// Which names are of steps: the profiler's, or where it marked none those of the map.
std::vector<bool> step_names(const RankTrace& trace, const KernelMap& map) {
  std::vector<bool> steps(trace.names.size(), false);
  bool by_profiler = false;
  for (const CpuRange& range : trace.ranges) {
    if (trace.names.text(range.name).starts_with(kProfilerStep)) by_profiler = true;
  }
  for (std::size_t n = 0; n < steps.size(); ++n) {
    const std::string& name = trace.names.text(static_cast<std::uint32_t>(n));
    if (by_profiler) {
      steps[n] = name.starts_with(kProfilerStep);
    } else if (const RangeRule* rule = map.range(name)) {
      steps[n] = rule->role == RangeRole::step;
    }
  }
  return steps;
}

}  // namespace

std::vector<TraceStep> trace_steps(const RankTrace& trace, const KernelMap& map) {
  if (trace.ranges.empty()) return {};
  const std::vector<bool> is_step = step_names(trace, map);
  std::vector<TraceStep> found;
  for (const CpuRange& range : trace.ranges) {
    if (!is_step[range.name]) continue;
    found.push_back({range.start_ns, range.end_ns, last_number(trace.names.text(range.name))});
  }
  std::sort(found.begin(), found.end(), [](const TraceStep& a, const TraceStep& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  });
  std::vector<TraceStep> steps;
  for (const TraceStep& step : found) {
    if (steps.empty() || step.start_ns >= steps.back().end_ns) steps.push_back(step);
  }
  const bool numbered =
      std::adjacent_find(steps.begin(), steps.end(),
                         [](auto& a, auto& b) { return a.number >= b.number; }) == steps.end() &&
      (steps.empty() || steps.front().number >= 0);
  for (std::size_t i = 0; !numbered && i < steps.size(); ++i) {
    steps[i].number = static_cast<std::int32_t>(i);
  }
  return steps;
}

}  // namespace shardscope::storage
