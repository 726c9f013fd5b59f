#pragma once
// One pass over a run's spans, track by track in order of start.

#include <cstdint>
#include <functional>
#include <vector>

#include "layout/result.hpp"
#include "profiler/levels.hpp"
#include "profiler/span.hpp"
#include "profiler/stage_times.hpp"
#include "storage/sqlite/database.hpp"
#include "storage/track.hpp"

namespace shardscope::storage {

/// A time as stored, limited so that sums and differences of two do not overflow.
[[nodiscard]] std::int64_t limited_time(std::int64_t ns);

/// Tracks of a run by rank and stream.
[[nodiscard]] Result<std::vector<Track>> tracks_of(Database& database, std::int64_t run);

/// Calls `visit(span, rowid)` for every span of the track in order of start; spans with a stage or
/// work this code does not know are left out. Times are limited so that differences do not
/// overflow.
[[nodiscard]] Status for_each_span(Database& database, const Track& track,
                                   const std::function<void(const Span&, std::int64_t)>& visit);

/// Reads a span from columns (start_ns, end_ns, busy_ns, intra_bytes, inter_bytes, rows, iteration,
/// stage, work, waiting) beginning at `column`. False: unknown stage or work.
[[nodiscard]] bool read_span(const Statement& row, int column, const Track& track, Span& span);

struct RunScan {
  std::vector<StageTotals> totals;
  std::int64_t iterations = 0;  ///< that the totals cover: traced, warm-up excluded
  std::int64_t end_ns = 0;      ///< latest end of a span or iteration, since the run's start
};

/// Sums of the run. `on_track`, where given, gets each track's levels (spans excluded) as
/// (level, node index, node) before the next track is read.
using TrackLevels = std::function<Status(const Track& track, const Levels& levels)>;
[[nodiscard]] Result<RunScan> scan_run(Database& database, std::int64_t run,
                                       const TrackLevels& on_track = nullptr);

}  // namespace shardscope::storage
