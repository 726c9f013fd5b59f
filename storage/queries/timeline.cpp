#include "storage/queries/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "storage/access.hpp"
#include "storage/level_reader.hpp"
#include "storage/run_scan.hpp"
#include "storage/sqlite/query.hpp"

namespace shardscope::storage {
namespace {

constexpr const char* kSpanColumns =
    "start_ns, end_ns, busy_ns, intra_bytes, inter_bytes, rows, iteration, stage, work, waiting";

/// Levels made on the spot of the spans that touch the range.
Result<Levels> levels_in(Database& database, std::int64_t track, std::int64_t begin_ns,
                         std::int64_t end_ns) {
  std::vector<Span> spans;
  const Status done = for_each_row(
      database,
      fmt::format("SELECT {} FROM spans WHERE track = ? AND start_ns < ? AND end_ns >= ?",
                  kSpanColumns),
      [&](const Statement& row) {
        Span span;
        if (read_span(row, 0, {}, span)) spans.push_back(span);
      },
      track, end_ns, begin_ns);
  if (!done) return fail(done.error());
  return make_levels(spans);
}

}  // namespace

Result<std::vector<Track>> run_tracks(const Session& session, std::int64_t run) {
  const ReadAccess access(session);
  return tracks_of(access.database(), run);
}

Result<std::vector<LevelNode>> visible_items(const Session& session, std::int64_t track,
                                             std::int64_t begin_ns, std::int64_t end_ns,
                                             std::int64_t max_items) {
  begin_ns = limited_time(begin_ns);
  end_ns = std::max(limited_time(end_ns), begin_ns);
  const std::int64_t resolution_ns = resolution_for(begin_ns, end_ns, max_items);
  const ReadAccess access(session);
  LevelReader reader(access.database(), track);
  std::vector<LevelNode> top;
  const Result<std::int32_t> level = reader.top(top);
  if (!level) return fail(level.error());
  if (*level > 0) return visible(reader, begin_ns, end_ns, resolution_ns);
  const Result<Levels> levels = levels_in(access.database(), track, begin_ns, end_ns);
  if (!levels) return fail(levels.error());
  return visible(*levels, begin_ns, end_ns, resolution_ns);
}

Result<std::vector<Span>> spans_in(const Session& session, const Track& track,
                                   std::int64_t begin_ns, std::int64_t end_ns, std::int64_t limit) {
  const ReadAccess access(session);
  std::vector<Span> spans;
  const Status done = for_each_row(
      access.database(),
      fmt::format("SELECT {} FROM spans WHERE track = ? AND start_ns >= ? AND start_ns < ? "
                  "ORDER BY start_ns, rowid LIMIT ?",
                  kSpanColumns),
      [&](const Statement& row) {
        Span span;
        if (read_span(row, 0, track, span)) spans.push_back(span);
      },
      track.id, begin_ns, end_ns, limit);
  if (!done) return fail(done.error());
  return spans;
}

}  // namespace shardscope::storage
