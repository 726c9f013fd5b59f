#pragma once
// What the Timeline workspace remembers from frame to frame.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ui/draw/rect.hpp"
#include "ui/model/evaluation.hpp"
#include "ui/timeline/activity_lookup.hpp"
#include "ui/timeline/range_statistics.hpp"
#include "ui/timeline/source.hpp"

namespace shardscope::ui {

/// Items of one track around the view, as they were asked for.
struct TrackCache {
  TimeRange range;
  double resolution = 0;  ///< ns an item
  std::vector<LevelNode> items;
};

enum class EventColumn : std::uint8_t { start, duration, rank, stage };

struct TimelineState {
  std::unique_ptr<TimelineSource> source;
  std::unique_ptr<TimelineSource> ghost;       ///< what was predicted of the run, from 0
  std::string ghost_of;                        ///< `opened` that it was made for
  std::unique_ptr<ActivityLookup> activities;  ///< of a recorded run
  std::string opened;                          ///< what source was made from
  std::string error;
  TimeView view;
  std::unordered_map<std::size_t, TrackCache> cache;
  int queries = 0;  ///< of this frame
  /// That they took, of this thread's time and by the clock; beyond kMostQueryCpuMs or kMostQueryMs
  /// the rest waits for the next frame.
  double query_cpu_ms = 0;
  double query_ms = 0;
  int boxes = 0;  ///< drawn in this frame
  std::int64_t shown_spans = 0;

  std::optional<TimeRange> range;  ///< selected
  std::optional<double> drag_start;
  int dragged_handle = -1;  ///< 0 left, 1 right edge of the range
  bool panning = false;
  bool measuring = false;  ///< Ctrl+drag

  RangeStatistics statistics;
  std::vector<Span> events;  ///< in the range, at most kMostEvents
  bool events_truncated = false;
  std::optional<TimeRange> statistics_of;
  int rank_filter = -1;  ///< of the range pane; -1: all

  std::string find;
  std::vector<std::size_t> found;  ///< indices into events
  std::size_t found_at = 0;
  std::optional<Span> hovered;
  std::optional<Span> selected;

  int colour = 0;               ///< 0 stage, 1 cluster
  std::vector<PathPiece> path;  ///< of the simulated iteration, or of the recorded ones in view
  std::map<std::int32_t, std::vector<PathPiece>> paths;  ///< of recorded iterations, by index
  bool show_path = true;
  bool show_ghost = true;
  bool hide_idle = false;
  std::set<std::int32_t> folded;  ///< ranks
  std::set<std::int32_t> hidden;
  std::vector<std::int32_t> pinned;
  float scroll = 0;
  float events_scroll = 0;
  EventColumn sort = EventColumn::start;
  bool descending = false;

  static constexpr std::int64_t kMostEvents = 20'000;
  static constexpr double kMostQueryCpuMs = 2;
  static constexpr double kMostQueryMs = 8;           ///< a disk or a busy machine
  static constexpr std::size_t kMostPaths = 6;        ///< iterations in view that get one
  static constexpr std::size_t kMostPathTracks = 64;  ///< of runs with more, none is searched
};

/// Sets the source: view, range and caches start anew.
void open_timeline(TimelineState& timeline, std::unique_ptr<TimelineSource> source,
                   std::string opened);

/// Items of a track for the view at one item per `pixels_per_item` pixels; from the cache where
/// that still serves. At most `budget` queries a frame: others show what they had, and `false`
/// comes back.
bool track_items(TimelineState& timeline, std::size_t track, double pixels, int budget,
                 const std::vector<LevelNode>** items);

/// The critical path of the recorded iterations in view, at most one new iteration a call. False:
/// there is another one to do.
bool update_path(TimelineState& timeline);

/// Brings statistics and events up to the range (or the view where there is none).
void update_range(TimelineState& timeline);
/// Events whose stage or cluster contains the text.
void update_find(TimelineState& timeline);
/// Selects the next (or previous) found event and brings it into view.
void step_find(TimelineState& timeline, int step);
/// The next or previous span of the selected span's track.
void step_event(TimelineState& timeline, int step);

/// Order of ranks: pinned first, hidden ones left out.
[[nodiscard]] std::vector<std::int32_t> rank_order(const TimelineState& timeline);

}  // namespace shardscope::ui
