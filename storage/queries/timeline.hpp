#pragma once
// What a timeline shows of a run, at the cost of what it shows.

#include <cstdint>
#include <vector>

#include "layout/result.hpp"
#include "profiler/levels.hpp"
#include "storage/session.hpp"
#include "storage/track.hpp"

namespace shardscope::storage {

/// Tracks of a run by rank and stream.
[[nodiscard]] Result<std::vector<Track>> run_tracks(const Session& session, std::int64_t run);

/// What is visible of [begin_ns, end_ns) of a track, in at most about `max_items` items (at least
/// 1; see profiler/levels.hpp). Through the levels of detail where the run has them; of a run
/// without (still going on), from the spans in the range.
[[nodiscard]] Result<std::vector<LevelNode>> visible_items(const Session& session,
                                                           std::int64_t track,
                                                           std::int64_t begin_ns,
                                                           std::int64_t end_ns,
                                                           std::int64_t max_items);

/// Spans of a track that start in [begin_ns, end_ns), by start; at most `limit`.
[[nodiscard]] Result<std::vector<Span>> spans_in(const Session& session, const Track& track,
                                                 std::int64_t begin_ns, std::int64_t end_ns,
                                                 std::int64_t limit);

}  // namespace shardscope::storage
