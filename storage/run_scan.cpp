#include "storage/run_scan.hpp"

#include <algorithm>

#include "storage/sqlite/query.hpp"

namespace shardscope::storage {
namespace {

std::int64_t time_of(const Statement& row, int column) {
  return limited_time(row.integer(column));
}

std::int64_t amount_of(const Statement& row, int column) {
  return std::max<std::int64_t>(row.integer(column), 0);
}

Result<std::vector<std::int32_t>> warm_up_iterations(Database& database, std::int64_t run) {
  return select(
      database, "SELECT iteration FROM iterations WHERE run = ? AND warm_up <> 0",
      [](const Statement& row) { return row.integer32(0); }, run);
}

struct IterationFacts {
  std::int64_t traced = 0;
  std::int64_t end_ns = 0;
};

Result<IterationFacts> iteration_facts(Database& database, std::int64_t run) {
  IterationFacts facts;
  const Status done = for_each_row(
      database,
      "SELECT count(*) FILTER (WHERE traced <> 0 AND warm_up = 0), ifnull(max(end_ns), 0) "
      "FROM iterations WHERE run = ?",
      [&](const Statement& row) {
        facts = {amount_of(row, 0), time_of(row, 1)};
      },
      run);
  if (!done) return fail(done.error());
  return facts;
}

}  // namespace

std::int64_t limited_time(std::int64_t ns) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 61;  // a quarter of the range
  return std::clamp(ns, -kLimit, kLimit);
}

Result<std::vector<Track>> tracks_of(Database& database, std::int64_t run) {
  return select(
      database, "SELECT id, rank, stream, spans FROM tracks WHERE run = ? ORDER BY rank, stream",
      [](const Statement& row) {
        return Track{row.integer(0), row.integer32(1), row.integer32(2), amount_of(row, 3)};
      },
      run);
}

bool read_span(const Statement& row, int column, const Track& track, Span& span) {
  const std::int64_t stage = row.integer(column + 7);
  const std::int64_t work = row.integer(column + 8);
  if (stage < 0 || stage >= kStages || work < 0 || work >= kWorks) return false;
  span.start_ns = time_of(row, column);
  span.end_ns = std::max(time_of(row, column + 1), span.start_ns);
  span.busy_ns = amount_of(row, column + 2);
  span.intra_bytes = amount_of(row, column + 3);
  span.inter_bytes = amount_of(row, column + 4);
  span.rows = amount_of(row, column + 5);
  span.iteration = row.integer32(column + 6);
  span.rank = track.rank;
  span.stream = static_cast<std::uint8_t>(track.stream);
  span.stage = static_cast<Stage>(stage);
  span.work = static_cast<Work>(work);
  span.waiting = row.integer(column + 9) != 0;
  return true;
}

Status for_each_span(Database& database, const Track& track,
                     const std::function<void(const Span&, std::int64_t)>& visit) {
  return for_each_row(
      database,
      "SELECT rowid, start_ns, end_ns, busy_ns, intra_bytes, inter_bytes, rows, iteration, stage, "
      "work, waiting FROM spans WHERE track = ? ORDER BY start_ns, rowid",
      [&](const Statement& row) {
        Span span;
        if (read_span(row, 1, track, span)) visit(span, row.integer(0));
      },
      track.id);
}

Result<RunScan> scan_run(Database& database, std::int64_t run, const TrackLevels& on_track) {
  const auto warm_up = warm_up_iterations(database, run);
  if (!warm_up) return fail(warm_up.error());
  const auto facts = iteration_facts(database, run);
  if (!facts) return fail(facts.error());
  const auto tracks = tracks_of(database, run);
  if (!tracks) return fail(tracks.error());
  StageSum sum(*warm_up);
  RunScan scan;
  scan.end_ns = facts->end_ns;
  for (const Track& track : *tracks) {
    Levels levels;
    LevelBuilder builder([&](std::int32_t level, std::int64_t, const LevelNode& node) {
      const auto index = static_cast<std::size_t>(level);
      if (levels.size() <= index) levels.resize(index + 1);
      levels[index].push_back(node);
    });
    const Status read = for_each_span(database, track, [&](const Span& span, std::int64_t id) {
      sum.add(span);
      scan.end_ns = std::max(scan.end_ns, span.end_ns);
      if (on_track) builder.add(node_of(span, id));
    });
    if (!read) return fail(read.error());
    if (!on_track) continue;
    builder.finish();
    if (Status done = on_track(track, levels); !done) return fail(done.error());
  }
  scan.totals = sum.totals();
  // A run without iteration records (imported, or killed early) counts what its spans name.
  scan.iterations = facts->traced > 0 ? facts->traced : sum.iterations();
  return scan;
}

}  // namespace shardscope::storage
