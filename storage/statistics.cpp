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

Result<std::vector<StatisticsRecord>> list_table_stats(const Session& session) {
  struct Row {
    std::int64_t workload;
    std::string name, source, json;
  };
  const ReadAccess access(session);
  const auto rows =
      select(access.database(),
             "SELECT workload, name, source, table_stats.json FROM table_stats "
             "JOIN workloads ON workloads.id = workload ORDER BY workload, source, table_name",
             [](const Statement& row) {
               return Row{row.integer(0), row.text(1), row.text(2), row.text(3)};
             });
  if (!rows) return fail(rows.error());
  std::vector<StatisticsRecord> records;
  std::int64_t last = 0;
  for (const Row& row : *rows) {
    Result<TableStats> table = table_stats_from_json(
        row.json, fmt::format("{} (statistics of workload {})", session.path(), row.workload));
    if (!table) return fail(table.error());
    if (records.empty() || last != row.workload || records.back().source != row.source) {
      records.push_back({row.name, row.source, {}});
    }
    last = row.workload;
    records.back().tables.push_back(std::move(*table));
  }
  return records;
}

}  // namespace shardscope::storage
