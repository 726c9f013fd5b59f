#include "storage/import/trace/trace_times.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "profiler/stage_times.hpp"

namespace shardscope::storage {
namespace {

constexpr double kLargestSent = 1e15;  // bytes

}  // namespace

std::vector<CollectiveTime> exchange_times(const ImportedTrace& trace) {
  const double world = std::max(trace.world_size, 2);
  std::map<int, std::vector<CollectiveTime>> by_power;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    for (std::size_t w = 0; w < trace.ranks[r].work.size(); ++w) {
      const WorkPlace& place = trace.places[r][w];
      if (!place.collective || place.stage == Stage::allreduce) continue;
      const GpuWork& work = trace.ranks[r].work[w];
      const double ns = static_cast<double>(work.end_ns) - static_cast<double>(work.start_ns) -
                        static_cast<double>(place.waiting_ns);
      const auto most = static_cast<double>(std::max(place.sent_bytes, place.received_bytes));
      // A split list counts what the rank keeps to itself; a part of 1 / world is all that is
      // known.
      const double message = most / world;
      if (ns <= 0 || message < 1 || most > kLargestSent) continue;
      by_power[static_cast<int>(std::lround(std::log2(message)))].push_back(
          {"alltoall", message, message * (world - 1), ns * 1e-9});
    }
  }
  std::vector<CollectiveTime> times;
  for (auto& [power, all] : by_power) {
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    // The middle one by rate: sizes inside a power differ by up to two.
    std::nth_element(all.begin(), middle, all.end(), [](const auto& a, const auto& b) {
      return a.received_bytes / a.seconds < b.received_bytes / b.seconds;
    });
    times.push_back(*middle);
  }
  return times;
}

std::vector<std::array<double, kStages>> stage_seconds(const ImportedTrace& trace) {
  StageSum sum;
  for (const Span& span : trace.spans) sum.add(span);
  std::vector<std::array<double, kStages>> seconds(trace.ranks.size());
  const double iterations = std::max<double>(1, static_cast<double>(trace.iterations.size()));
  for (const StageTotals& totals : sum.totals()) {
    const auto rank = static_cast<std::size_t>(totals.rank);
    if (rank >= seconds.size() || totals.work == Work::dense) continue;
    seconds[rank][static_cast<std::size_t>(totals.stage)] +=
        static_cast<double>(totals.total_ns) * 1e-9 / iterations;
  }
  return seconds;
}

}  // namespace shardscope::storage
