#include "storage/queries/stages.hpp"

#include <algorithm>
#include <utility>

#include "storage/access.hpp"
#include "storage/run_scan.hpp"
#include "storage/sqlite/query.hpp"

namespace shardscope::storage {
namespace {

std::int64_t not_negative(const Statement& row, int column) {
  return std::max<std::int64_t>(row.integer(column), 0);
}

Status read_stored(Database& database, std::int64_t run, RunStages& stages) {
  const auto read_iterations = [&](const Statement& row) {
    stages.iterations = not_negative(row, 0);
  };
  if (Status done = for_each_row(database, "SELECT traced_iterations FROM runs WHERE id = ?",
                                 read_iterations, run);
      !done) {
    return done;
  }
  const auto read_totals = [&](const Statement& row) {
    const std::int64_t stage = row.integer(1);
    const std::int64_t work = row.integer(2);
    if (stage < 0 || stage >= kStages || work < 0 || work >= kWorks) return;
    stages.totals.push_back({row.integer32(0), static_cast<Stage>(stage), static_cast<Work>(work),
                             not_negative(row, 3), not_negative(row, 4), not_negative(row, 5),
                             not_negative(row, 6), not_negative(row, 7), not_negative(row, 8),
                             not_negative(row, 9)});
  };
  return for_each_row(database,
                      "SELECT rank, stage, work, spans, total_ns, busy_ns, waiting_ns, "
                      "intra_bytes, inter_bytes, rows FROM stage_times WHERE run = ?",
                      read_totals, run);
}

}  // namespace

Result<RunStages> run_stages(const Session& session, std::int64_t run) {
  const ReadAccess access(session);
  RunStages stages;
  if (Status done = read_stored(access.database(), run, stages); !done) return fail(done.error());
  if (!stages.totals.empty()) return stages;
  Result<RunScan> scan = scan_run(access.database(), run);
  if (!scan) return fail(scan.error());
  stages.totals = std::move(scan->totals);
  stages.iterations = stages.totals.empty() ? 0 : scan->iterations;
  return stages;
}

}  // namespace shardscope::storage
