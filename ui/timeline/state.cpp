#include "ui/timeline/state.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "layout/names.hpp"
#include "profiler/clock.hpp"
#include "ui/timeline/measured_path.hpp"

namespace shardscope::ui {
namespace {

/// Each query looks this much beyond both ends of the view, so that panning costs nothing.
constexpr double kMargin = 0.5;
constexpr double kPixelsPerItem = 3;
constexpr std::size_t kOpenRanks = 2;  ///< the others start folded

std::int64_t whole(double ns) {
  constexpr double kLimit = 4e18;
  return static_cast<std::int64_t>(std::clamp(ns, -kLimit, kLimit));
}

}  // namespace

void open_timeline(TimelineState& timeline, std::unique_ptr<TimelineSource> source,
                   std::string opened) {
  timeline.source = std::move(source);
  timeline.opened = std::move(opened);
  timeline.cache.clear();
  timeline.path.clear();
  timeline.paths.clear();
  timeline.ghost.reset();
  timeline.ghost_of.clear();
  timeline.error.clear();
  timeline.range.reset();
  timeline.statistics_of.reset();
  timeline.selected.reset();
  timeline.events.clear();
  timeline.found.clear();
  timeline.folded.clear();
  timeline.hidden.clear();
  timeline.pinned.clear();
  timeline.scroll = 0;
  if (timeline.source == nullptr) return;
  std::vector<std::int32_t> ranks;
  for (const TimelineTrack& track : timeline.source->tracks()) {
    if (ranks.empty() || ranks.back() != track.rank) ranks.push_back(track.rank);
  }
  for (std::size_t i = kOpenRanks; i < ranks.size(); ++i) timeline.folded.insert(ranks[i]);
  timeline.view.reset(timeline.source->all());
  // A few iterations tell more than a whole run: start at the first traced ones.
  const std::vector<Iteration>& iterations = timeline.source->iterations();
  const auto traced = std::find_if(iterations.begin(), iterations.end(),
                                   [](const Iteration& one) { return one.traced && !one.warm_up; });
  if (traced != iterations.end()) {
    const auto last = std::min(traced + 2, iterations.end() - 1);
    const double length = static_cast<double>(last->end_ns - traced->start_ns);
    timeline.view.go_to({static_cast<double>(traced->start_ns) - length * 0.03,
                         static_cast<double>(last->end_ns) + length * 0.03});
  }
}

bool track_items(TimelineState& timeline, std::size_t track, double pixels, int budget,
                 const std::vector<LevelNode>** items) {
  TrackCache& cache = timeline.cache[track];
  *items = &cache.items;
  const TimeRange& shown = timeline.view.shown();
  const double resolution = shown.length() * kPixelsPerItem / std::max(1.0, pixels);
  const bool covers = cache.range.begin <= shown.begin && cache.range.end >= shown.end;
  const bool fine = cache.resolution > 0 && resolution < cache.resolution * 1.3 &&
                    resolution > cache.resolution * 0.55;
  if (covers && fine) return true;
  if (timeline.queries >= budget || timeline.query_ms > TimelineState::kMostQueryMs ||
      timeline.query_cpu_ms > TimelineState::kMostQueryCpuMs) {
    return false;
  }
  ++timeline.queries;
  const std::int64_t begin_ns = steady_ns(), begin_cpu_ns = thread_cpu_ns();
  const TimeRange wide{shown.begin - shown.length() * kMargin,
                       shown.end + shown.length() * kMargin};
  const double count = wide.length() / resolution * 2;
  auto fresh = timeline.source->items(track, whole(wide.begin), whole(wide.end),
                                      std::max<std::int64_t>(2, whole(count)));
  timeline.query_ms += static_cast<double>(steady_ns() - begin_ns) / 1e6;
  timeline.query_cpu_ms += static_cast<double>(thread_cpu_ns() - begin_cpu_ns) / 1e6;
  if (!fresh) {
    timeline.error = to_string(fresh.error());
    cache.resolution = resolution;
    cache.range = wide;
    return true;
  }
  cache.items = std::move(*fresh);
  cache.range = wide;
  cache.resolution = resolution;
  return true;
}

namespace {

/// Spans that end inside the iteration, of every track.
std::vector<Span> spans_of(TimelineState& timeline, const Iteration& iteration) {
  constexpr std::int64_t kMostOfTrack = 2000;
  std::vector<Span> found;
  const std::int64_t length = iteration.end_ns - iteration.start_ns;
  for (std::size_t t = 0; t < timeline.source->tracks().size(); ++t) {
    const auto spans =
        timeline.source->spans(t, iteration.start_ns - length, iteration.end_ns + 1, kMostOfTrack);
    if (!spans) continue;
    std::copy_if(spans->begin(), spans->end(), std::back_inserter(found), [&](const Span& span) {
      return span.end_ns > iteration.start_ns && span.end_ns <= iteration.end_ns + length / 1000;
    });
  }
  return found;
}

}  // namespace

bool update_path(TimelineState& timeline) {
  timeline.path.clear();
  if (timeline.source == nullptr || !timeline.show_path) return true;
  if (timeline.source->tracks().size() > TimelineState::kMostPathTracks) return true;
  const auto shown = iterations_in(*timeline.source, timeline.view.shown());
  const auto traced =
      std::count_if(shown.begin(), shown.end(), [](const Iteration& one) { return one.traced; });
  if (traced > static_cast<std::ptrdiff_t>(TimelineState::kMostPaths)) return true;
  bool searched = false;
  for (const Iteration& iteration : shown) {
    if (!iteration.traced) continue;
    const auto [known, fresh] = timeline.paths.try_emplace(iteration.index);
    if (fresh && searched) {
      timeline.paths.erase(known);
      return false;
    }
    if (fresh) {
      searched = true;
      known->second = measured_path(spans_of(timeline, iteration), iteration.start_ns);
    }
    timeline.path.insert(timeline.path.end(), known->second.begin(), known->second.end());
  }
  return true;
}

void update_range(TimelineState& timeline) {
  if (timeline.source == nullptr) return;
  const TimeRange range = timeline.range.value_or(timeline.view.shown());
  if (timeline.statistics_of == range) return;
  timeline.statistics_of = range;
  timeline.events.clear();
  timeline.events_truncated = false;
  const std::vector<TimelineTrack>& tracks = timeline.source->tracks();
  const auto share = std::max<std::int64_t>(
      64, TimelineState::kMostEvents /
              static_cast<std::int64_t>(std::max<std::size_t>(1, tracks.size())));
  // A span that began a little before still reaches into the range.
  const double before = range.length();
  for (std::size_t t = 0; t < tracks.size(); ++t) {
    auto spans = timeline.source->spans(t, whole(range.begin - before), whole(range.end), share);
    if (!spans) {
      timeline.error = to_string(spans.error());
      return;
    }
    timeline.events_truncated |= static_cast<std::int64_t>(spans->size()) >= share;
    for (const Span& span : *spans) {
      if (static_cast<double>(span.end_ns) > range.begin) timeline.events.push_back(span);
    }
  }
  std::vector<Span> counted;
  for (const Span& span : timeline.events) {
    if (timeline.rank_filter < 0 || span.rank == timeline.rank_filter) counted.push_back(span);
  }
  timeline.statistics = range_statistics(counted, range);
  timeline.statistics.truncated = timeline.events_truncated;
  const auto order = [&](const Span& a, const Span& b) {
    const auto key = [&](const Span& span) -> std::int64_t {
      switch (timeline.sort) {
        case EventColumn::start:
          return span.start_ns;
        case EventColumn::duration:
          return span.end_ns - span.start_ns;
        case EventColumn::rank:
          return span.rank;
        case EventColumn::stage:
          return static_cast<std::int64_t>(span.stage);
      }
      return 0;
    };
    return timeline.descending ? key(a) > key(b) : key(a) < key(b);
  };
  std::stable_sort(timeline.events.begin(), timeline.events.end(), order);
  update_find(timeline);
}

void update_find(TimelineState& timeline) {
  timeline.found.clear();
  timeline.found_at = 0;
  if (timeline.find.empty()) return;
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    const Span& span = timeline.events[i];
    std::string words = std::string(shardscope::to_string(span.stage)) + " " +
                        shardscope::to_string(span.work) + (span.waiting ? " waiting" : "") +
                        " gpu " + std::to_string(span.rank);
    if (timeline.activities != nullptr) {
      if (const storage::DeviceWork* work = timeline.activities->of(span))
        words += " " + work->name;
    }
    if (words.find(timeline.find) != std::string::npos) timeline.found.push_back(i);
  }
}

void step_find(TimelineState& timeline, int step) {
  if (timeline.found.empty()) return;
  const auto count = static_cast<std::ptrdiff_t>(timeline.found.size());
  const auto next = (static_cast<std::ptrdiff_t>(timeline.found_at) + step + count) % count;
  timeline.found_at = static_cast<std::size_t>(next);
  const Span span = timeline.events[timeline.found[timeline.found_at]];
  timeline.selected = span;
  timeline.folded.erase(span.rank);
  const TimeRange& shown = timeline.view.shown();
  const double middle = static_cast<double>(span.start_ns + span.end_ns) / 2;
  if (!shown.contains(middle)) {
    // The range decides what is found: it stays where it is.
    if (!timeline.range) timeline.range = timeline.statistics_of;
    timeline.view.go_to({middle - shown.length() / 2, middle + shown.length() / 2});
  }
}

void step_event(TimelineState& timeline, int step) {
  if (timeline.source == nullptr || !timeline.selected) return;
  const Span now = *timeline.selected;
  const std::vector<TimelineTrack>& tracks = timeline.source->tracks();
  for (std::size_t t = 0; t < tracks.size(); ++t) {
    if (tracks[t].rank != now.rank || tracks[t].stream != now.stream) continue;
    // Neighbours are looked for in widening windows, so that a long run costs nothing.
    for (double reach = 1e5; reach < 1e15; reach *= 16) {
      const auto begin =
          step > 0 ? now.start_ns + 1 : whole(static_cast<double>(now.start_ns) - reach);
      const auto end = step > 0 ? whole(static_cast<double>(now.start_ns) + reach) : now.start_ns;
      const auto spans = timeline.source->spans(t, begin, end, TimelineState::kMostEvents);
      if (!spans) return;
      if (spans->empty()) continue;
      timeline.selected = step > 0 ? spans->front() : spans->back();
      return;
    }
  }
}

std::vector<std::int32_t> rank_order(const TimelineState& timeline) {
  std::vector<std::int32_t> order = timeline.pinned;
  for (const TimelineTrack& track : timeline.source->tracks()) {
    const bool known = std::find(order.begin(), order.end(), track.rank) != order.end();
    if (!known) order.push_back(track.rank);
  }
  std::erase_if(order, [&](std::int32_t rank) { return timeline.hidden.contains(rank); });
  return order;
}

}  // namespace shardscope::ui
