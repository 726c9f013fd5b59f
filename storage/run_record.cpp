#include "storage/run_record.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "profiler/clock.hpp"
#include "storage/digest.hpp"
#include "storage/nsys/activity_inserter.hpp"
#include "storage/sqlite/transaction.hpp"

namespace shardscope::storage {
namespace {

/// A text field of a document; empty where the text is not JSON or has no such field.
std::string field_of(const nlohmann::json& document, const char* field) {
  if (!document.is_object()) return {};
  const auto found = document.find(field);
  return found != document.end() && found->is_string() ? found->get<std::string>() : std::string();
}

nlohmann::json parsed(const std::string& json) {
  return nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
}

/// First column of the first row of a bound query, if there is one.
Result<std::optional<std::int64_t>> first_id(Statement& query) {
  const Result<bool> row = query.step();
  if (!row) return fail(row.error());
  if (!*row) return std::optional<std::int64_t>();
  const std::int64_t id = query.integer(0);
  query.reset();
  return std::optional(id);
}

std::optional<std::int64_t> id_or_null(std::int64_t id) {
  return id != 0 ? std::optional(id) : std::nullopt;
}

Result<std::optional<std::int64_t>> layout_named(Database& database, const std::string& name,
                                                 std::int64_t workload) {
  if (name.empty()) return std::optional<std::int64_t>();
  Result<Statement> find = database.prepare(
      "SELECT id FROM layouts WHERE name = ? AND workload IS ? ORDER BY id DESC LIMIT 1");
  if (!find) return fail(find.error());
  find->bind_all(name, id_or_null(workload));
  return first_id(*find);
}

Result<std::int64_t> insert_run_row(SessionState& state, const RunInfo& info, std::int64_t workload,
                                    std::int64_t topology, std::int64_t layout) {
  Result<Statement> insert = state.database.prepare(
      "INSERT INTO runs (label, mode, executor, backend, comm, wire, schedule, seed, global_batch, "
      "rows_cap, ranks, workload, topology, layout, environment_json, start_ns) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  if (!insert) return fail(insert.error());
  const std::int64_t age_ns = info.epoch_ns != 0 ? steady_ns() - info.epoch_ns : 0;
  const std::int64_t start_ns = utc_ns() - age_ns - state.start_utc_ns;
  if (Status done = insert->run(
          info.label, to_string(info.mode), to_string(info.executor), info.backend, info.comm,
          info.wire, info.schedule, std::to_string(info.seed), info.global_batch, info.rows_cap,
          info.ranks, workload, topology, layout, info.environment_json, start_ns);
      !done) {
    return fail(done.error());
  }
  return state.database.last_insert_id();
}

}  // namespace

Result<std::int64_t> intern_document(Database& database, const char* table,
                                     const std::string& json) {
  const std::int64_t digest = digest_of(json);
  Result<Statement> find =
      database.prepare(fmt::format("SELECT id FROM {} WHERE digest = ? AND json = ?", table));
  if (!find) return fail(find.error());
  find->bind_all(digest, json);
  const auto known = first_id(*find);
  if (!known) return fail(known.error());
  if (*known) return **known;
  Result<Statement> insert = database.prepare(fmt::format(
      "INSERT INTO {} (name, created_utc_ns, digest, json) VALUES (?, ?, ?, ?)", table));
  if (!insert) return fail(insert.error());
  if (Status done = insert->run(field_of(parsed(json), "name"), utc_ns(), digest, json); !done) {
    return fail(done.error());
  }
  return database.last_insert_id();
}

Result<std::int64_t> intern_layout(Database& database, const std::string& json,
                                   std::int64_t workload, std::int64_t topology) {
  const std::int64_t digest = digest_of(json);
  Result<Statement> find =
      database.prepare("SELECT id FROM layouts WHERE digest = ? AND json = ? AND workload IS ?");
  if (!find) return fail(find.error());
  find->bind_all(digest, json, id_or_null(workload));
  const auto known = first_id(*find);
  if (!known) return fail(known.error());
  if (*known) return **known;
  const nlohmann::json document = parsed(json);
  const auto parent = layout_named(database, field_of(document, "parent"), workload);
  if (!parent) return fail(parent.error());
  Result<Statement> insert = database.prepare(
      "INSERT INTO layouts (name, workload, topology, parent, note, created_utc_ns, digest, json) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  if (!insert) return fail(insert.error());
  if (Status done =
          insert->run(field_of(document, "name"), id_or_null(workload), id_or_null(topology),
                      *parent, field_of(document, "note"), utc_ns(), digest, json);
      !done) {
    return fail(done.error());
  }
  return database.last_insert_id();
}

Result<std::int64_t> insert_run(SessionState& state, const RunInfo& info) {
  const std::lock_guard guard(state.mutex);
  Result<Transaction> transaction = Transaction::begin(state.database);
  if (!transaction) return fail(transaction.error());
  const auto workload = intern_document(state.database, "workloads", info.workload_json);
  if (!workload) return fail(workload.error());
  const auto topology = intern_document(state.database, "topologies", info.topology_json);
  if (!topology) return fail(topology.error());
  const auto layout = intern_layout(state.database, info.layout_json, *workload, *topology);
  if (!layout) return fail(layout.error());
  const auto run = insert_run_row(state, info, *workload, *topology, *layout);
  if (!run) return fail(run.error());
  if (Status done = nsys::insert_gpus(state.database, info.gpus); !done) return fail(done.error());
  if (Status done = transaction->commit(); !done) return fail(done.error());
  return *run;
}

}  // namespace shardscope::storage
