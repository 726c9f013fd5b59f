#include "ui/timeline/range_statistics.hpp"

#include <algorithm>
#include <map>

namespace shardscope::ui {
namespace {

/// Sorted, without overlaps.
using Intervals = std::vector<TimeRange>;

Intervals merged(Intervals list) {
  std::sort(list.begin(), list.end(),
            [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
  Intervals result;
  for (const TimeRange& one : list) {
    if (one.end <= one.begin) continue;
    if (!result.empty() && one.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, one.end);
    } else {
      result.push_back(one);
    }
  }
  return result;
}

double length_of(const Intervals& list) {
  double sum = 0;
  for (const TimeRange& one : list) sum += one.length();
  return sum;
}

double common_length(const Intervals& a, const Intervals& b) {
  double sum = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    sum += std::max(0.0, std::min(a[i].end, b[j].end) - std::max(a[i].begin, b[j].begin));
    if (a[i].end < b[j].end) {
      ++i;
    } else {
      ++j;
    }
  }
  return sum;
}

bool on_wires(Stage stage) {
  return stage == Stage::input_dist || stage == Stage::network_forward ||
         stage == Stage::network_backward || stage == Stage::allreduce;
}

struct RankWork {
  Intervals kernels, wires;
  std::array<double, kStages> stage_ns{};
  double waiting_ns = 0;
};

}  // namespace

RangeStatistics range_statistics(std::span<const Span> spans, TimeRange range) {
  RangeStatistics result;
  result.length_ns = range.length();
  std::map<std::int32_t, RankWork> ranks;
  for (const Span& span : spans) {
    const TimeRange cut{std::max(range.begin, static_cast<double>(span.start_ns)),
                        std::min(range.end, static_cast<double>(span.end_ns))};
    RankWork& rank = ranks[span.rank];
    if (cut.end <= cut.begin) continue;
    ++result.spans;
    if (span.waiting) {
      rank.waiting_ns += cut.length();
      continue;
    }
    rank.stage_ns[static_cast<std::size_t>(span.stage)] += cut.length();
    (on_wires(span.stage) ? rank.wires : rank.kernels).push_back(cut);
    if (range.contains(static_cast<double>(span.start_ns))) {
      result.intra_bytes += static_cast<double>(span.intra_bytes);
      result.inter_bytes += static_cast<double>(span.inter_bytes);
    }
  }
  std::array<StageShare, kStages> stages{};
  double wires_ns = 0, overlap_ns = 0;
  for (auto& [rank, work] : ranks) {
    const Intervals kernels = merged(work.kernels);
    const Intervals wires = merged(work.wires);
    Intervals both = kernels;
    both.insert(both.end(), wires.begin(), wires.end());
    both = merged(std::move(both));
    wires_ns += length_of(wires);
    overlap_ns += common_length(kernels, wires);
    double at = range.begin;
    both.push_back({range.end, range.end});
    double busy = 0;
    for (const TimeRange& one : both) {
      if (one.begin - at > result.longest_gap_ns) {
        result.longest_gap_ns = one.begin - at;
        result.gap_rank = rank;
      }
      busy += one.length();
      at = one.end;
    }
    result.ranks.push_back({rank, busy, work.waiting_ns});
    result.busy_share += range.length() > 0 ? busy / range.length() : 0;
    for (std::size_t s = 0; s < stages.size(); ++s) {
      stages[s].mean_ns += work.stage_ns[s];
      stages[s].most_ns = std::max(stages[s].most_ns, work.stage_ns[s]);
    }
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, ranks.size()));
  result.busy_share /= count;
  result.overlap_share = wires_ns > 0 ? overlap_ns / wires_ns : 0;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (stages[s].mean_ns <= 0) continue;
    stages[s].stage = static_cast<Stage>(s);
    stages[s].mean_ns /= count;
    result.stages.push_back(stages[s]);
  }
  std::stable_sort(result.stages.begin(), result.stages.end(),
                   [](const StageShare& a, const StageShare& b) { return a.mean_ns > b.mean_ns; });
  return result;
}

}  // namespace shardscope::ui
