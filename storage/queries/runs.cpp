#include "storage/queries/runs.hpp"

#include <fmt/format.h>

#include "layout/memory.hpp"
#include "storage/access.hpp"
#include "storage/sqlite/query.hpp"

namespace shardscope::storage {
namespace {

constexpr const char* kRunColumns = R"sql(
SELECT r.id, r.label, r.mode, r.executor, r.backend, r.comm, r.wire, r.schedule, r.seed,
  r.global_batch, r.rows_cap, r.ranks, r.workload, w.name, r.topology, t.name, r.layout, l.name,
  r.environment_json, r.start_ns, r.end_ns - r.start_ns, r.complete, r.message, r.samples_per_s, r.iteration_ms,
  r.critical_path_ms, r.tracing_overhead,
  (SELECT count(*) FROM iterations i WHERE i.run = r.id AND i.warm_up = 0),
  (SELECT count(*) FROM iterations i WHERE i.run = r.id AND i.warm_up = 0 AND i.traced <> 0),
  (SELECT sum(spans) FROM tracks k WHERE k.run = r.id),
  (SELECT sum(count) FROM dropped d WHERE d.run = r.id)
FROM runs r LEFT JOIN workloads w ON w.id = r.workload LEFT JOIN topologies t ON t.id = r.topology
  LEFT JOIN layouts l ON l.id = r.layout
)sql";

RunRecord read_run(const Statement& row, std::int64_t session_start_ns) {
  RunRecord run;
  int column = 0;
  const auto text = [&] { return row.text(column++); };
  const auto integer = [&] { return row.integer(column++); };
  const auto real = [&] { return row.real(column++); };
  run.id = integer();
  for (std::string* field : {&run.label, &run.mode, &run.executor, &run.backend, &run.comm,
                             &run.wire, &run.schedule, &run.seed}) {
    *field = text();
  }
  for (std::int64_t* field : {&run.global_batch, &run.rows_cap, &run.ranks}) *field = integer();
  run.workload = integer();
  run.workload_name = text();
  run.topology = integer();
  run.topology_name = text();
  run.layout = integer();
  run.layout_name = text();
  run.environment_json = text();
  run.start_utc_ns = saturating_add(session_start_ns, integer());
  run.ended = !row.is_null(column);
  run.duration_ns = integer();
  run.complete = integer() != 0;
  run.message = text();
  for (double* field :
       {&run.samples_per_s, &run.iteration_ms, &run.critical_path_ms, &run.tracing_overhead}) {
    *field = real();
  }
  for (std::int64_t* field : {&run.iterations, &run.traced_iterations, &run.spans, &run.dropped}) {
    *field = integer();
  }
  return run;
}

}  // namespace

Result<std::vector<RunRecord>> list_runs(const Session& session) {
  const ReadAccess access(session);
  return select(access.database(), fmt::format("{} ORDER BY r.id", kRunColumns),
                [&](const Statement& row) { return read_run(row, session.start_utc_ns()); });
}

Result<RunRecord> find_run(const Session& session, std::int64_t run) {
  const ReadAccess access(session);
  const auto runs = select(
      access.database(), fmt::format("{} WHERE r.id = ?", kRunColumns),
      [&](const Statement& row) { return read_run(row, session.start_utc_ns()); }, run);
  if (!runs) return fail(runs.error());
  if (runs->empty()) {
    return fail({ErrorKind::usage, fmt::format("the session has no run {}", run), session.path(),
                 "", fmt::format("List its runs with: shardscope inspect {}", session.path())});
  }
  return runs->front();
}

Result<std::vector<Iteration>> iterations_of(const Session& session, std::int64_t run) {
  const ReadAccess access(session);
  return select(
      access.database(),
      "SELECT iteration, block, start_ns, end_ns, warm_up, traced, loss FROM iterations "
      "WHERE run = ? ORDER BY iteration",
      [](const Statement& row) {
        return Iteration{.index = row.integer32(0),
                         .block = row.integer32(1),
                         .start_ns = row.integer(2),
                         .end_ns = row.integer(3),
                         .warm_up = row.integer(4) != 0,
                         .traced = row.integer(5) != 0,
                         .loss = row.real(6)};
      },
      run);
}

}  // namespace shardscope::storage
