#include "storage/statistics.hpp"

#include <fmt/format.h>

#include <utility>

#include "layout/json.hpp"
#include "profiler/clock.hpp"
#include "storage/access.hpp"
#include "storage/sqlite/query.hpp"

namespace shardscope::storage {

Status save_table_stats(const Session& session, std::int64_t workload, const std::string& source,
                        std::span<const TableStats> stats) {
  Result<WriteAccess> access = WriteAccess::begin(session);
  if (!access) return fail(access.error());
  for (const TableStats& table : stats) {
    if (Status done =
            run_once(access->database(), "INSERT OR REPLACE INTO table_stats VALUES (?, ?, ?, ?)",
                     workload, table.table, source, to_json(table));
        !done) {
      return done;
    }
  }
  return access->commit();
}

Result<std::vector<TableStats>> load_table_stats(const Session& session, std::int64_t workload,
                                                 const std::string& source) {
  const auto texts = [&] {
    const ReadAccess access(session);
    return select(
        access.database(),
        "SELECT json FROM table_stats WHERE workload = ? AND source = ? ORDER BY table_name",
        [](const Statement& row) { return row.text(0); }, workload, source);
  }();
  if (!texts) return fail(texts.error());
  std::vector<TableStats> stats;
  for (const std::string& text : *texts) {
    Result<TableStats> table = table_stats_from_json(
        text, fmt::format("{} (statistics of workload {})", session.path(), workload));
    if (!table) return fail(table.error());
    stats.push_back(std::move(*table));
  }
  return stats;
}

Result<std::vector<std::string>> table_stats_sources(const Session& session,
                                                     std::int64_t workload) {
  const ReadAccess access(session);
  return select(
      access.database(),
      "SELECT DISTINCT source FROM table_stats WHERE workload = ? ORDER BY source",
      [](const Statement& row) { return row.text(0); }, workload);
}

Result<std::int64_t> save_calibration(const Session& session,
                                      const CalibrationRecord& calibration) {
  Result<WriteAccess> access = WriteAccess::begin(session);
  if (!access) return fail(access.error());
  if (Status done = run_once(access->database(),
                             "INSERT INTO calibrations (name, backend, environment_json, "
                             "created_utc_ns, json) VALUES (?, ?, ?, ?, ?)",
                             calibration.name, calibration.backend, calibration.environment_json,
                             utc_ns(), calibration.json);
      !done) {
    return fail(done.error());
  }
  const std::int64_t id = access->database().last_insert_id();
  if (Status done = access->commit(); !done) return fail(done.error());
  return id;
}

Result<std::vector<CalibrationRecord>> list_calibrations(const Session& session) {
  const ReadAccess access(session);
  return select(access.database(),
                "SELECT id, name, backend, environment_json, json, created_utc_ns "
                "FROM calibrations ORDER BY id",
                [](const Statement& row) {
                  return CalibrationRecord{row.integer(0), row.text(1), row.text(2),
                                           row.text(3),    row.text(4), row.integer(5)};
                });
}

}  // namespace shardscope::storage
