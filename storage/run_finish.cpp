#include "storage/run_finish.hpp"

#include <optional>

#include "profiler/clock.hpp"
#include "storage/run_scan.hpp"
#include "storage/sqlite/query.hpp"
#include "storage/sqlite/transaction.hpp"

namespace shardscope::storage {
namespace {

/// Nodes a transaction: short enough not to delay another run's commits.
constexpr std::size_t kNodesEach = 20'000;

Status insert_nodes(SessionState& state, const Track& track, std::size_t level,
                    std::span<const LevelNode> nodes, std::size_t first) {
  const std::lock_guard guard(state.mutex);
  Result<Transaction> transaction = Transaction::begin(state.database);
  if (!transaction) return fail(transaction.error());
  Result<Statement> insert = state.database.prepare(
      "INSERT OR REPLACE INTO levels VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  if (!insert) return fail(insert.error());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const LevelNode& node = nodes[i];
    if (Status done = insert->run(
            track.id, static_cast<std::int64_t>(level), static_cast<std::int64_t>(first + i),
            node.first_start_ns, node.last_start_ns, node.end_ns, node.count, node.covered_ns,
            node.busy_ns, node.longest_start_ns, node.longest_end_ns,
            static_cast<std::int64_t>(node.longest_stage),
            static_cast<std::int64_t>(node.longest_work), node.longest_waiting, node.first_span);
        !done) {
      return done;
    }
  }
  return transaction->commit();
}

Status insert_levels(SessionState& state, const Track& track, const Levels& levels) {
  for (std::size_t level = 1; level < levels.size(); ++level) {
    const std::span<const LevelNode> nodes = levels[level];
    for (std::size_t first = 0; first < nodes.size(); first += kNodesEach) {
      const std::size_t count = std::min(kNodesEach, nodes.size() - first);
      if (Status done = insert_nodes(state, track, level, nodes.subspan(first, count), first);
          !done) {
        return done;
      }
    }
  }
  return {};
}

Status insert_stage_times(Database& database, std::int64_t run, const RunScan& scan) {
  Result<Statement> insert = database.prepare(
      "INSERT OR REPLACE INTO stage_times VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  if (!insert) return fail(insert.error());
  for (const StageTotals& sum : scan.totals) {
    if (Status done =
            insert->run(run, sum.rank, static_cast<std::int64_t>(sum.stage),
                        static_cast<std::int64_t>(sum.work), sum.spans, sum.total_ns, sum.busy_ns,
                        sum.waiting_ns, sum.intra_bytes, sum.inter_bytes, sum.rows);
        !done) {
      return done;
    }
  }
  return {};
}

/// `end_ns` since the session's start; empty: the run's last record.
Status write_summary(SessionState& state, std::int64_t run, const RunSummary& summary,
                     const RunScan& scan, std::optional<std::int64_t> end_ns) {
  const std::lock_guard guard(state.mutex);
  Result<Transaction> transaction = Transaction::begin(state.database);
  if (!transaction) return fail(transaction.error());
  if (Status done = insert_stage_times(state.database, run, scan); !done) return done;
  Result<Statement> update = state.database.prepare(
      "UPDATE runs SET end_ns = ifnull(?, start_ns + ?), complete = ?, message = ?, "
      "samples_per_s = ?, iteration_ms = ?, critical_path_ms = ?, tracing_overhead = ?, "
      "traced_iterations = ? WHERE id = ?");
  if (!update) return fail(update.error());
  if (Status done =
          update->run(end_ns, scan.end_ns, summary.complete, summary.message, summary.samples_per_s,
                      summary.iteration_ms, summary.critical_path_ms, summary.tracing_overhead,
                      scan.iterations, run);
      !done) {
    return done;
  }
  return transaction->commit();
}

/// A flood of spans has dropped it; the pass below needs it, and so do readers.
Status ensure_index(SessionState& state) {
  const std::lock_guard guard(state.mutex);
  return state.database.execute(
      "CREATE INDEX IF NOT EXISTS spans_track_start ON spans (track, start_ns)");
}

Status finish(SessionState& state, std::int64_t run, const RunSummary& summary,
              std::optional<std::int64_t> end_ns) {
  if (Status done = ensure_index(state); !done) return done;
  Result<Database> reader = Database::open(state.database.file(), Database::Open::read_only);
  if (!reader) return fail(reader.error());
  const Result<RunScan> scan =
      scan_run(*reader, run, [&](const Track& track, const Levels& levels) {
        return insert_levels(state, track, levels);
      });
  if (!scan) return fail(scan.error());
  return write_summary(state, run, summary, *scan, end_ns);
}

}  // namespace

Status finish_run(SessionState& state, std::int64_t run, const RunSummary& summary) {
  return finish(state, run, summary, utc_ns() - state.start_utc_ns);
}

Status finish_interrupted_runs(SessionState& state) {
  const auto open_runs = [&] {
    const std::lock_guard guard(state.mutex);
    return select(state.database, "SELECT id FROM runs WHERE end_ns IS NULL",
                  [](const Statement& row) { return row.integer(0); });
  }();
  if (!open_runs) return fail(open_runs.error());
  RunSummary summary;
  summary.complete = false;
  summary.message = "interrupted: the program ended before the run did";
  for (const std::int64_t run : *open_runs) {
    if (Status done = finish(state, run, summary, std::nullopt); !done) return done;
  }
  return {};
}

}  // namespace shardscope::storage
