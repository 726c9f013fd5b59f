#include "storage/level_reader.hpp"

#include <algorithm>

#include "layout/memory.hpp"
#include "storage/run_scan.hpp"
#include "storage/sqlite/query.hpp"

namespace shardscope::storage {
namespace {

/// Of a damaged file: no level above this is read (8^20 spans do not fit a file).
constexpr std::int32_t kHighestLevel = 20;

LevelNode read_node(const Statement& row) {
  LevelNode node;
  node.first_start_ns = limited_time(row.integer(0));
  node.last_start_ns = std::max(limited_time(row.integer(1)), node.first_start_ns);
  node.end_ns = std::max(limited_time(row.integer(2)), node.first_start_ns);
  node.count = std::max<std::int64_t>(row.integer(3), 0);
  node.covered_ns = std::max<std::int64_t>(row.integer(4), 0);
  node.busy_ns = std::max<std::int64_t>(row.integer(5), 0);
  node.longest_start_ns = limited_time(row.integer(6));
  node.longest_end_ns = std::max(limited_time(row.integer(7)), node.longest_start_ns);
  node.longest_stage = static_cast<Stage>(std::clamp<std::int64_t>(row.integer(8), 0, kStages - 1));
  node.longest_work = static_cast<Work>(std::clamp<std::int64_t>(row.integer(9), 0, kWorks - 1));
  node.longest_waiting = row.integer(10) != 0;
  node.first_span = row.integer(11);
  return node;
}

}  // namespace

Status LevelReader::read_nodes(std::int64_t level, std::int64_t first, std::int64_t count,
                               std::vector<LevelNode>& nodes) {
  return for_each_row(
      database_,
      "SELECT first_start_ns, last_start_ns, end_ns, count, covered_ns, busy_ns, longest_start_ns, "
      "longest_end_ns, longest_stage, longest_work, longest_waiting, first_span FROM levels "
      "WHERE track = ? AND level = ? AND node >= ? AND node < ? ORDER BY node",
      [&](const Statement& row) { nodes.push_back(read_node(row)); }, track_, level, first,
      first + count);
}

Result<std::int32_t> LevelReader::top(std::vector<LevelNode>& nodes) {
  std::int32_t level = 0;
  const auto read_level = [&](const Statement& row) { level = row.integer32(0); };
  if (Status done = for_each_row(database_, "SELECT max(level) FROM levels WHERE track = ?",
                                 read_level, track_);
      !done) {
    return fail(done.error());
  }
  level = std::clamp(level, 0, kHighestLevel);
  if (level == 0) return 0;
  if (Status done = read_nodes(level, 0, kLevelFanOut, nodes); !done) return fail(done.error());
  return level;
}

Status LevelReader::children(std::int32_t level, std::int64_t first,
                             std::span<const LevelNode> parents, std::vector<LevelNode>& nodes) {
  if (level == 1) return read_spans(parents, nodes);
  return read_nodes(level - 1, first * kLevelFanOut,
                    static_cast<std::int64_t>(parents.size()) * kLevelFanOut, nodes);
}

Status LevelReader::read_spans(std::span<const LevelNode> parents, std::vector<LevelNode>& nodes) {
  // Spans have no number of their own: the parents' first span says where to begin, their counts
  // how many follow.
  std::int64_t count = 0;
  for (const LevelNode& parent : parents) count += std::min(parent.count, kLevelFanOut);
  const LevelNode& head = parents.front();
  const Track track{.id = track_};
  return for_each_row(
      database_,
      "SELECT rowid, start_ns, end_ns, busy_ns, intra_bytes, inter_bytes, rows, iteration, stage, "
      "work, waiting FROM spans WHERE track = ? AND (start_ns, rowid) >= (?, ?) "
      "ORDER BY start_ns, rowid LIMIT ?",
      [&](const Statement& row) {
        Span span;
        if (read_span(row, 1, track, span)) nodes.push_back(node_of(span, row.integer(0)));
      },
      track_, head.first_start_ns, head.first_span, count);
}

}  // namespace shardscope::storage
