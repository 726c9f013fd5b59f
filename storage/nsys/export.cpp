#include "storage/nsys/export.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <unordered_map>
#include <utility>

#include "storage/access.hpp"
#include "storage/nsys/activity_inserter.hpp"
#include "storage/nsys/schema.hpp"
#include "storage/nsys/values.hpp"
#include "storage/queries/runs.hpp"
#include "storage/run_scan.hpp"
#include "storage/sqlite/query.hpp"

namespace shardscope::storage::nsys {
namespace {

constexpr std::int64_t kStepThread = 0xffffff;  ///< above those that systems number

Result<bool> has_table(Database& database, const char* name) {
  const auto found = select(
      database, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?",
      [](const Statement& row) { return row.integer(0); }, name);
  if (!found) return fail(found.error());
  return !found->empty();
}

/// Copies the rows of `query` (bound to `run`) into the table of that name, columns as they come.
Status copy_rows(Database& from, const std::string& query, std::int64_t run, Database& to,
                 const char* table) {
  Result<Statement> read = from.prepare(query);
  if (!read) return fail(read.error());
  read->bind_all(run);
  std::string marks = "?";
  for (int i = 1; i < read->columns(); ++i) marks += ", ?";
  Result<Statement> write = to.prepare(fmt::format("INSERT INTO {} VALUES ({})", table, marks));
  if (!write) return fail(write.error());
  while (true) {
    const Result<bool> row = read->step();
    if (!row) return fail(row.error());
    if (!*row) return {};
    for (int i = 0; i < read->columns(); ++i) write->bind_column(i, *read, i);
    if (Status done = write->run(); !done) return done;
  }
}

/// Rows of a table whose process belongs to the run; of the column that names it.
std::string rows_of_run(const char* table, const char* process_column) {
  return fmt::format(
      "SELECT * FROM {} WHERE {} IN (SELECT global_pid FROM run_processes WHERE run = ?)", table,
      process_column);
}

Status copy_activity(Database& from, std::int64_t run, Database& to, std::int64_t start_ns) {
  for (const TableText& table : activity_tables()) {
    const Result<bool> there = has_table(from, table.name);
    if (!there) return fail(there.error());
    if (!*there) continue;
    if (Status done = create_activity_table(to, table.name); !done) return done;
    const bool by_thread = std::string_view(table.columns).find("globalPid") == std::string::npos;
    const char* process = by_thread ? "(globalTid & ~0xffffff)" : "globalPid";
    if (Status done = copy_rows(from, rows_of_run(table.name, process), run, to, table.name);
        !done) {
      return done;
    }
    if (Status done =
            run_once(to, fmt::format("UPDATE {} SET start = start - ?, end = end - ?", table.name),
                     start_ns, start_ns);
        !done) {
      return done;
    }
    const Result<std::int64_t> rows =
        to.integer(fmt::format("SELECT count(*) FROM {}", table.name));
    if (!rows) return fail(rows.error());
    if (*rows > 0) continue;
    // Tables are lazy: one without rows of this run is not there.
    if (Status done = to.execute(fmt::format("DROP TABLE {}", table.name)); !done) return done;
  }
  return {};
}

Status copy_common(Database& from, std::int64_t run, Database& to) {
  const Result<bool> there = has_table(from, "StringIds");
  if (!there) return fail(there.error());
  if (!*there) return {};
  const std::pair<const char*, std::string> copies[] = {
      {"StringIds", "SELECT * FROM StringIds WHERE ? > 0"},
      {"PROCESSES", rows_of_run("PROCESSES", "globalPid")},
      {"TARGET_INFO_GPU", "SELECT * FROM TARGET_INFO_GPU WHERE ? > 0"},
      {"TARGET_INFO_CUDA_DEVICE",
       rows_of_run("TARGET_INFO_CUDA_DEVICE", "((1 << 48) | (pid << 24))")},
  };
  for (const auto& [table, query] : copies) {
    if (Status done = copy_rows(from, query, run, to, table); !done) return done;
  }
  return {};
}

/// Spans of a run without GPU activity, as ranges on a thread a stream.
Status copy_spans(Database& from, std::int64_t run, Database& to) {
  const auto tracks = tracks_of(from, run);
  if (!tracks) return fail(tracks.error());
  if (tracks->empty()) return {};
  if (Status done = create_activity_table(to, "NVTX_EVENTS"); !done) return done;
  Result<Statement> insert = to.prepare(
      "INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, textId, domainId, int64Value) "
      "VALUES (?, ?, ?, ?, ?, 0, ?)");
  if (!insert) return fail(insert.error());
  std::unordered_map<std::string, std::int64_t> names;
  for (const Track& track : *tracks) {
    const std::int64_t process = global_pid(track.rank + 1);
    if (track.stream == 0) {
      if (Status done = run_once(to, "INSERT INTO PROCESSES VALUES (?, ?, ?)", process,
                                 track.rank + 1, fmt::format("run {} rank {}", run, track.rank));
          !done) {
        return done;
      }
    }
    Status written;
    const Status read = for_each_span(from, track, [&](const Span& span, std::int64_t) {
      if (!written) return;
      const std::string text = fmt::format("{} {}{}", to_string(span.stage), to_string(span.work),
                                           span.waiting ? " waiting" : "");
      auto name = names.find(text);
      if (name == names.end()) {
        const Result<std::int64_t> id = intern_string(to, text);
        if (!id) {
          written = fail(id.error());
          return;
        }
        name = names.emplace(text, *id).first;
      }
      written = insert->run(span.start_ns, span.end_ns, kPushPopRange,
                            global_tid(process, track.stream + 1), name->second, span.iteration);
    });
    if (!read) return read;
    if (!written) return written;
  }
  return {};
}

/// Steps as PyTorch's profiler names them, on a thread of each rank's own.
Status write_steps(const std::vector<Iteration>& iterations, Database& to) {
  if (iterations.empty()) return {};
  const auto processes = select(to, "SELECT globalPid FROM PROCESSES",
                                [](const Statement& row) { return row.integer(0); });
  if (!processes) return fail(processes.error());
  if (Status done = create_activity_table(to, "NVTX_EVENTS"); !done) return done;
  Result<Statement> insert = to.prepare(
      "INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, textId, domainId, int64Value) "
      "VALUES (?, ?, ?, ?, ?, 0, ?)");
  if (!insert) return fail(insert.error());
  for (const Iteration& one : iterations) {
    const Result<std::int64_t> name = intern_string(to, fmt::format("ProfilerStep#{}", one.index));
    if (!name) return fail(name.error());
    for (const std::int64_t process : *processes) {
      if (Status done = insert->run(one.start_ns, one.end_ns, kPushPopRange,
                                    global_tid(process, kStepThread), *name, one.index);
          !done) {
        return done;
      }
    }
  }
  return {};
}

Status write_times(Database& to, const RunRecord& run) {
  if (Status done = to.execute("CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, "
                               "utcTime TEXT, localTime TEXT)");
      !done) {
    return done;
  }
  if (Status done = run_once(
          to,
          "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?1, datetime(?1 / 1000000000, "
          "'unixepoch'), datetime(?1 / 1000000000, 'unixepoch', 'localtime'))",
          run.start_utc_ns);
      !done) {
    return done;
  }
  return run_once(to, "INSERT INTO ANALYSIS_DETAILS VALUES (?, ?, 0, ?)", kVirtualMachine,
                  run.duration_ns, run.duration_ns);
}

Status write_facts(Database& to, const RunRecord& run) {
  const std::pair<const char*, const std::string*> facts[] = {
      {"SHARDSCOPE_MODE", &run.mode},
      {"SHARDSCOPE_LABEL", &run.label},
      {"SHARDSCOPE_BACKEND", &run.backend},
      {"SHARDSCOPE_WORKLOAD", &run.workload_name},
      {"SHARDSCOPE_LAYOUT", &run.layout_name}};
  for (const auto& [name, value] : facts) {
    if (Status done = run_once(to, "INSERT INTO META_DATA_CAPTURE VALUES (?, ?)", name, *value);
        !done) {
      return done;
    }
  }
  return {};
}

/// Names of other runs are left behind.
Status remove_unused_strings(Database& to) {
  const std::pair<const char*, const char*> users[] = {
      {"CUPTI_ACTIVITY_KIND_KERNEL", "demangledName"},
      {"CUPTI_ACTIVITY_KIND_KERNEL", "shortName"},
      {"CUPTI_ACTIVITY_KIND_RUNTIME", "nameId"},
      {"CUPTI_ACTIVITY_KIND_OVERHEAD", "nameId"},
      {"NVTX_EVENTS", "textId"}};
  std::string used = "SELECT 0";
  for (const auto& [table, column] : users) {
    const Result<bool> there = has_table(to, table);
    if (!there) return fail(there.error());
    if (*there) used += fmt::format(" UNION SELECT {} FROM {}", column, table);
  }
  return to.execute(fmt::format("DELETE FROM StringIds WHERE id NOT IN ({})", used));
}

Status write_all(const Session& session, const RunRecord& run, Database& to) {
  const auto iterations = iterations_of(session, run.id);
  if (!iterations) return fail(iterations.error());
  Result<Transaction> transaction = Transaction::begin(to);
  if (!transaction) return fail(transaction.error());
  if (Status done = create_common_tables(to); !done) return done;
  {
    const ReadAccess access(session);
    Database& from = access.database();
    if (Status done = copy_common(from, run.id, to); !done) return done;
    const std::int64_t start_ns = run.start_utc_ns - session.start_utc_ns();
    if (Status done = copy_activity(from, run.id, to, start_ns); !done) return done;
    const Result<bool> has_ranges = has_table(to, "NVTX_EVENTS");
    if (!has_ranges) return fail(has_ranges.error());
    if (!*has_ranges) {
      if (Status done = copy_spans(from, run.id, to); !done) return done;
    }
  }
  if (Status done = write_steps(*iterations, to); !done) return done;
  if (Status done = write_times(to, run); !done) return done;
  if (Status done = write_facts(to, run); !done) return done;
  if (Status done = remove_unused_strings(to); !done) return done;
  return transaction->commit();
}

}  // namespace

Status export_run(const Session& session, std::int64_t run, const std::string& path) {
  const Result<RunRecord> record = find_run(session, run);
  if (!record) return fail(record.error());
  if (std::filesystem::exists(path)) {
    return fail({ErrorKind::usage, "the file exists already", path, "a path that is free",
                 "Name another file"});
  }
  Result<Database> target = Database::open(path, Database::Open::create);
  if (!target) return fail(target.error());
  const Status done = write_all(session, *record, *target);
  if (!done) {
    target->close();
    ::unlink(path.c_str());
  }
  return done;
}

}  // namespace shardscope::storage::nsys
