#include "storage/nsys/activity_inserter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "storage/nsys/schema.hpp"
#include "storage/nsys/values.hpp"
#include "storage/sqlite/query.hpp"

namespace shardscope::storage::nsys {
namespace {

using Kind = ActivityRecord::Kind;

std::optional<std::int64_t> graph_node(const ActivityRecord& record) {
  return record.graph_node != 0 ? std::optional(static_cast<std::int64_t>(record.graph_node))
                                : std::nullopt;
}

/// ENUM_NSYS_EVENT_CLASS: driver calls are named cu..., runtime calls cuda...
std::int64_t event_class(const std::string& name) {
  return name.starts_with("cu") && !name.starts_with("cuda") ? 1 : 0;
}

auto stage_key(const ActivityRecord& record) {
  return std::tuple(record.rank, record.thread, record.iteration, record.stage, record.work);
}

}  // namespace

void ActivityInserter::forget() {
  statements_.clear();  // they may name tables that are gone
  strings_.clear();
  processes_.clear();
  run_starts_.clear();
  created_ = false;
}

Result<Statement*> ActivityInserter::statement(const char* table, const char* text) {
  const auto known = statements_.find(text);
  if (known != statements_.end()) return &known->second;
  if (table != nullptr) {
    if (Status done = create_activity_table(database_, table); !done) return fail(done.error());
  }
  Result<Statement> made = database_.prepare(text);
  if (!made) return fail(made.error());
  return &statements_.emplace(text, std::move(*made)).first->second;
}

Result<std::int64_t> ActivityInserter::string_id(const std::string& text) {
  const auto known = strings_.find(text);
  if (known != strings_.end()) return known->second;
  const Result<std::int64_t> id = intern_string(database_, text);
  if (id) strings_.emplace(text, *id);
  return id;
}

Result<std::int64_t> ActivityInserter::process_of_rank(std::int64_t run, std::int32_t rank) {
  const auto known = processes_.find({run, rank});
  if (known != processes_.end()) return known->second;
  const Result<std::int64_t> pid = intern_process(database_, run, rank);
  if (pid) processes_.emplace(std::pair(run, rank), *pid);
  return pid;
}

Result<std::int64_t> ActivityInserter::start_of_run(std::int64_t run) {
  const auto known = run_starts_.find(run);
  if (known != run_starts_.end()) return known->second;
  const auto starts = select(
      database_, "SELECT start_ns FROM runs WHERE id = ?",
      [](const Statement& row) { return row.integer(0); }, run);
  if (!starts) return fail(starts.error());
  const std::int64_t start = starts->empty() ? 0 : starts->front();
  run_starts_.emplace(run, start);
  return start;
}

Status ActivityInserter::insert(std::int64_t run, std::span<const ActivityRecord> batch) {
  if (batch.empty()) return {};
  if (!created_) {
    if (Status done = create_common_tables(database_); !done) return done;
    created_ = true;
  }
  const Result<std::int64_t> start_ns = start_of_run(run);
  if (!start_ns) return fail(start_ns.error());
  for (const ActivityRecord& record : batch) {
    const Result<std::int64_t> pid = process_of_rank(run, record.rank);
    if (!pid) return fail(pid.error());
    if (Status done = insert_record(*pid, *start_ns, record); !done) return done;
    if (!record.attributed) continue;
    if (Status done = insert_attribution(*pid, record); !done) return done;
  }
  return insert_stage_ranges(run, *start_ns, batch);
}

Status ActivityInserter::insert_record(std::int64_t pid, std::int64_t start_ns,
                                       const ActivityRecord& record) {
  switch (record.kind) {
    case Kind::kernel:
      return insert_kernel(pid, start_ns, record);
    case Kind::memcpy:
    case Kind::memset:
    case Kind::synchronization:
      return insert_memory(pid, start_ns, record);
    case Kind::runtime:
    case Kind::overhead:
      return insert_call(pid, start_ns, record);
  }
  return {};
}

Status ActivityInserter::insert_kernel(std::int64_t pid, std::int64_t start_ns,
                                       const ActivityRecord& record) {
  const Result<std::int64_t> name = string_id(record.name);
  if (!name) return fail(name.error());
  const Result<std::int64_t> brief = string_id(short_kernel_name(record.name));
  if (!brief) return fail(brief.error());
  const Result<Statement*> insert = statement(
      "CUPTI_ACTIVITY_KIND_KERNEL",
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, "
      "correlationId, globalPid, demangledName, shortName, registersPerThread, gridX, gridY, "
      "gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory, "
      "localMemoryPerThread, localMemoryTotal, gridId, graphNodeId) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  if (!insert) return fail(insert.error());
  return (*insert)->run(
      start_ns + record.start_ns, start_ns + record.end_ns, record.device, record.context,
      record.stream, record.correlation, pid, *name, *brief, record.registers_per_thread,
      record.grid[0], record.grid[1], record.grid[2], record.block[0], record.block[1],
      record.block[2], record.static_shared_bytes, record.dynamic_shared_bytes,
      record.local_bytes_per_thread, record.local_bytes, record.grid_id, graph_node(record));
}

Status ActivityInserter::insert_memory(std::int64_t pid, std::int64_t start_ns,
                                       const ActivityRecord& record) {
  const std::int64_t start = start_ns + record.start_ns;
  const std::int64_t end = start_ns + record.end_ns;
  if (record.kind == Kind::memcpy) {
    const Result<Statement*> insert = statement(
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, "
        "correlationId, globalPid, bytes, copyKind, srcKind, dstKind, graphNodeId, copyCount) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)");
    if (!insert) return fail(insert.error());
    return (*insert)->run(start, end, record.device, record.context, record.stream,
                          record.correlation, pid, record.bytes, record.detail,
                          memory_kind(record.source), memory_kind(record.destination),
                          graph_node(record));
  }
  if (record.kind == Kind::memset) {
    const Result<Statement*> insert = statement(
        "CUPTI_ACTIVITY_KIND_MEMSET",
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, contextId, streamId, "
        "correlationId, globalPid, value, bytes, graphNodeId, memKind) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    if (!insert) return fail(insert.error());
    return (*insert)->run(start, end, record.device, record.context, record.stream,
                          record.correlation, pid, record.detail, record.bytes, graph_node(record),
                          memory_kind(record.destination));
  }
  const Result<Statement*> insert = statement(
      "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, deviceId, contextId, streamId, "
      "correlationId, globalPid, syncType, eventId) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  if (!insert) return fail(insert.error());
  return (*insert)->run(start, end, record.device, record.context, record.stream,
                        record.correlation, pid, record.detail, record.event);
}

Status ActivityInserter::insert_call(std::int64_t pid, std::int64_t start_ns,
                                     const ActivityRecord& record) {
  const Result<std::int64_t> name = string_id(record.name);
  if (!name) return fail(name.error());
  const std::int64_t thread = global_tid(pid, record.thread);
  const std::int64_t start = start_ns + record.start_ns;
  const std::int64_t end = start_ns + record.end_ns;
  if (record.kind == Kind::runtime) {
    const Result<Statement*> insert =
        statement("CUPTI_ACTIVITY_KIND_RUNTIME",
                  "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, "
                  "correlationId, nameId, returnValue) VALUES (?, ?, ?, ?, ?, ?, ?)");
    if (!insert) return fail(insert.error());
    return (*insert)->run(start, end, event_class(record.name), thread, record.correlation, *name,
                          record.detail);
  }
  const Result<Statement*> insert = statement(
      "CUPTI_ACTIVITY_KIND_OVERHEAD",
      "INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD (start, end, globalTid, correlationId, nameId, "
      "overheadType) VALUES (?, ?, ?, ?, ?, ?)");
  if (!insert) return fail(insert.error());
  return (*insert)->run(start, end, thread, record.correlation, *name, record.detail);
}

Status ActivityInserter::insert_attribution(std::int64_t pid, const ActivityRecord& record) {
  const Result<Statement*> insert =
      statement(nullptr, "INSERT OR IGNORE INTO activity_stages VALUES (?, ?, ?, ?, ?)");
  if (!insert) return fail(insert.error());
  return (*insert)->run(pid, record.correlation, record.iteration,
                        static_cast<std::int64_t>(record.stage),
                        static_cast<std::int64_t>(record.work));
}

Status ActivityInserter::insert_stage_ranges(std::int64_t run, std::int64_t start_ns,
                                             std::span<const ActivityRecord> batch) {
  std::vector<const ActivityRecord*> calls;
  for (const ActivityRecord& record : batch) {
    if (record.kind == Kind::runtime && record.attributed) calls.push_back(&record);
  }
  std::stable_sort(calls.begin(), calls.end(), [](const auto* a, const auto* b) {
    return std::tuple(a->rank, a->thread, a->start_ns) <
           std::tuple(b->rank, b->thread, b->start_ns);
  });
  for (std::size_t begin = 0; begin < calls.size();) {
    std::int64_t end_ns = calls[begin]->end_ns;
    std::size_t end = begin + 1;
    for (; end < calls.size() && stage_key(*calls[end]) == stage_key(*calls[begin]); ++end) {
      end_ns = std::max(end_ns, calls[end]->end_ns);
    }
    if (Status done = insert_range(run, start_ns, *calls[begin], end_ns); !done) return done;
    begin = end;
  }
  return {};
}

Status ActivityInserter::insert_range(std::int64_t run, std::int64_t start_ns,
                                      const ActivityRecord& first, std::int64_t end_ns) {
  const Result<std::int64_t> pid = process_of_rank(run, first.rank);
  if (!pid) return fail(pid.error());
  const Result<std::int64_t> text =
      string_id(fmt::format("{} {}", to_string(first.stage), to_string(first.work)));
  if (!text) return fail(text.error());
  const Result<Statement*> insert =
      statement("NVTX_EVENTS",
                "INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, textId, domainId, "
                "int64Value) VALUES (?, ?, ?, ?, ?, 0, ?)");
  if (!insert) return fail(insert.error());
  return (*insert)->run(start_ns + first.start_ns, start_ns + end_ns, kPushPopRange,
                        global_tid(*pid, first.thread), *text, first.iteration);
}

}  // namespace shardscope::storage::nsys
