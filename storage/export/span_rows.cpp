#include "storage/export/span_rows.hpp"

#include <fmt/format.h>

#include "storage/access.hpp"
#include "storage/queries/runs.hpp"
#include "storage/sqlite/query.hpp"

namespace shardscope::storage {
namespace {

bool known(std::int64_t stage, std::int64_t work) {
  return stage >= 0 && stage < kStages && work >= 0 && work < kWorks;
}

Result<bool> table_exists(Database& database, const char* table) {
  const auto rows = select(
      database, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?",
      [](const Statement& row) { return row.integer(0); }, table);
  if (!rows) return fail(rows.error());
  return !rows->empty();
}

struct ActivityQuery {
  ActivityRow::Kind kind;
  const char* table;
  const char*
      sql;  ///< start, end, rank, device, context, stream, correlation, bytes, detail, name...
};

constexpr ActivityQuery kQueries[] = {
    {ActivityRow::Kind::kernel, "CUPTI_ACTIVITY_KIND_KERNEL",
     "SELECT k.start, k.end, p.rank, k.deviceId, k.contextId, k.streamId, k.correlationId, 0, 0, "
     "s.value, k.gridX, k.gridY, k.gridZ, k.blockX, k.blockY, k.blockZ, k.registersPerThread, "
     "k.dynamicSharedMemory FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN run_processes p ON "
     "p.global_pid = k.globalPid LEFT JOIN StringIds s ON s.id = k.demangledName WHERE p.run = ? "
     "ORDER BY p.rank, k.start"},
    {ActivityRow::Kind::memcpy, "CUPTI_ACTIVITY_KIND_MEMCPY",
     "SELECT k.start, k.end, p.rank, k.deviceId, k.contextId, k.streamId, k.correlationId, "
     "k.bytes, "
     "k.copyKind, '' FROM CUPTI_ACTIVITY_KIND_MEMCPY k JOIN run_processes p ON p.global_pid = "
     "k.globalPid WHERE p.run = ? ORDER BY p.rank, k.start"},
    {ActivityRow::Kind::memset, "CUPTI_ACTIVITY_KIND_MEMSET",
     "SELECT k.start, k.end, p.rank, k.deviceId, k.contextId, k.streamId, k.correlationId, "
     "k.bytes, "
     "k.value, '' FROM CUPTI_ACTIVITY_KIND_MEMSET k JOIN run_processes p ON p.global_pid = "
     "k.globalPid WHERE p.run = ? ORDER BY p.rank, k.start"},
    {ActivityRow::Kind::runtime, "CUPTI_ACTIVITY_KIND_RUNTIME",
     "SELECT k.start, k.end, p.rank, 0, 0, k.globalTid & 0xffffff, k.correlationId, 0, 0, s.value "
     "FROM CUPTI_ACTIVITY_KIND_RUNTIME k JOIN run_processes p ON p.global_pid = "
     "(k.globalTid & ~0xffffff) LEFT JOIN StringIds s ON s.id = k.nameId WHERE p.run = ? "
     "ORDER BY p.rank, k.start"}};

ActivityRow row_of(ActivityRow::Kind kind, const Statement& row, std::int64_t origin) {
  ActivityRow out;
  out.kind = kind;
  out.start_ns = row.integer(0) - origin;
  out.end_ns = row.integer(1) - origin;
  out.rank = row.integer32(2);
  out.device = row.integer32(3);
  out.context = row.integer32(4);
  out.stream = row.integer(5);
  out.correlation = row.integer(6);
  out.bytes = row.integer(7);
  out.detail = row.integer32(8);
  out.name = row.text(9);
  if (kind != ActivityRow::Kind::kernel) return out;
  for (int i = 0; i < 3; ++i) {
    out.grid[i] = row.integer32(10 + i);
    out.block[i] = row.integer32(13 + i);
  }
  out.registers = row.integer32(16);
  out.shared_bytes = row.integer32(17);
  return out;
}

}  // namespace

Status for_each_span(const Session& session, std::int64_t run,
                     const std::function<void(const Span&)>& visit) {
  const ReadAccess access(session);
  return for_each_row(
      access.database(),
      "SELECT t.rank, t.stream, s.start_ns, s.end_ns, s.busy_ns, s.intra_bytes, s.inter_bytes, "
      "s.rows, s.iteration, s.stage, s.work, s.waiting FROM spans s JOIN tracks t ON t.id = "
      "s.track "
      "WHERE t.run = ? ORDER BY t.rank, s.start_ns",
      [&](const Statement& row) {
        if (!known(row.integer(9), row.integer(10))) return;
        Span span;
        span.rank = row.integer32(0);
        span.stream = static_cast<std::uint8_t>(row.integer(1));
        span.start_ns = row.integer(2);
        span.end_ns = row.integer(3);
        span.busy_ns = row.integer(4);
        span.intra_bytes = row.integer(5);
        span.inter_bytes = row.integer(6);
        span.rows = row.integer(7);
        span.iteration = row.integer32(8);
        span.stage = static_cast<Stage>(row.integer(9));
        span.work = static_cast<Work>(row.integer(10));
        span.waiting = row.integer(11) != 0;
        visit(span);
      },
      run);
}

Result<std::int64_t> for_each_activity(const Session& session, std::int64_t run,
                                       const std::function<void(const ActivityRow&)>& visit) {
  const auto record = find_run(session, run);
  if (!record) return fail(record.error());
  const std::int64_t origin = record->start_utc_ns - session.start_utc_ns();
  const ReadAccess access(session);
  std::int64_t count = 0;
  for (const ActivityQuery& query : kQueries) {
    const auto there = table_exists(access.database(), query.table);
    if (!there) return fail(there.error());
    if (!*there) continue;
    const Status done = for_each_row(
        access.database(), query.sql,
        [&](const Statement& row) {
          ++count;
          visit(row_of(query.kind, row, origin));
        },
        run);
    if (!done) return fail(done.error());
  }
  return count;
}

}  // namespace shardscope::storage
