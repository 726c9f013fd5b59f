#include "storage/documents.hpp"

#include <fmt/format.h>

#include "layout/json.hpp"
#include "storage/access.hpp"
#include "storage/run_record.hpp"
#include "storage/sqlite/query.hpp"

namespace shardscope::storage {
namespace {

Error no_such_row(const Session& session, const char* kind, std::int64_t id) {
  return {ErrorKind::usage, fmt::format("the session has no {} {}", kind, id), session.path(), "",
          fmt::format("List what it has with: shardscope inspect {}", session.path())};
}

Result<std::int64_t> save_document(const Session& session, const char* table,
                                   const std::string& json) {
  Result<WriteAccess> access = WriteAccess::begin(session);
  if (!access) return fail(access.error());
  const auto id = intern_document(access->database(), table, json);
  if (!id) return fail(id.error());
  if (Status done = access->commit(); !done) return fail(done.error());
  return *id;
}

Result<std::string> text_of(const Session& session, const char* table, const char* kind,
                            std::int64_t id) {
  const ReadAccess access(session);
  const auto texts = select(
      access.database(), fmt::format("SELECT json FROM {} WHERE id = ?", table),
      [](const Statement& row) { return row.text(0); }, id);
  if (!texts) return fail(texts.error());
  if (texts->empty()) return fail(no_such_row(session, kind, id));
  return texts->front();
}

std::string place_of(const Session& session, const char* kind, std::int64_t id) {
  return fmt::format("{} ({} {})", session.path(), kind, id);
}

/// Runs an UPDATE of one layout, which must exist.
template <class... Values>
Status update_layout(const Session& session, std::int64_t id, const char* sql,
                     const Values&... values) {
  Result<WriteAccess> access = WriteAccess::begin(session);
  if (!access) return fail(access.error());
  if (Status done = run_once(access->database(), sql, values...); !done) return done;
  if (access->database().changes() == 0) return fail(no_such_row(session, "layout", id));
  return access->commit();
}

}  // namespace

Result<std::int64_t> save_workload(const Session& session, const Workload& workload) {
  return save_document(session, "workloads", to_json(workload));
}

Result<Workload> load_workload(const Session& session, std::int64_t id) {
  const Result<std::string> text = text_of(session, "workloads", "workload", id);
  if (!text) return fail(text.error());
  return workload_from_json(*text, place_of(session, "workload", id));
}

Result<std::int64_t> save_topology(const Session& session, const Topology& topology) {
  return save_document(session, "topologies", to_json(topology));
}

Result<Topology> load_topology(const Session& session, std::int64_t id) {
  const Result<std::string> text = text_of(session, "topologies", "topology", id);
  if (!text) return fail(text.error());
  return topology_from_json(*text, place_of(session, "topology", id));
}

Result<std::int64_t> save_layout(const Session& session, const Layout& layout,
                                 std::int64_t workload, std::int64_t topology) {
  const std::string json = to_json(layout);
  Result<WriteAccess> access = WriteAccess::begin(session);
  if (!access) return fail(access.error());
  const auto id = intern_layout(access->database(), json, workload, topology);
  if (!id) return fail(id.error());
  if (Status done = access->commit(); !done) return fail(done.error());
  return *id;
}

Result<Layout> load_layout(const Session& session, std::int64_t id) {
  const Result<std::string> text = text_of(session, "layouts", "layout", id);
  if (!text) return fail(text.error());
  return layout_from_json(*text, place_of(session, "layout", id));
}

Result<std::vector<LayoutRecord>> list_layouts(const Session& session) {
  const ReadAccess access(session);
  return select(access.database(),
                "SELECT id, name, workload, topology, parent, note, reference, prediction_json, "
                "created_utc_ns FROM layouts ORDER BY id",
                [](const Statement& row) {
                  return LayoutRecord{row.integer(0),      row.text(1),    row.integer(2),
                                      row.integer(3),      row.integer(4), row.text(5),
                                      row.integer(6) != 0, row.text(7),    row.integer(8)};
                });
}

Status set_layout_note(const Session& session, std::int64_t id, const std::string& note) {
  return update_layout(session, id, "UPDATE layouts SET note = ? WHERE id = ?", note, id);
}

Status set_layout_prediction(const Session& session, std::int64_t id,
                             const std::string& prediction_json) {
  return update_layout(session, id, "UPDATE layouts SET prediction_json = ? WHERE id = ?",
                       prediction_json, id);
}

Status set_reference_layout(const Session& session, std::int64_t id) {
  Result<WriteAccess> access = WriteAccess::begin(session);
  if (!access) return fail(access.error());
  Database& database = access->database();
  if (Status done = run_once(database, "UPDATE layouts SET reference = 0 WHERE reference <> 0");
      !done) {
    return done;
  }
  if (id != 0) {
    if (Status done = run_once(database, "UPDATE layouts SET reference = 1 WHERE id = ?", id);
        !done) {
      return done;
    }
    if (database.changes() == 0) return fail(no_such_row(session, "layout", id));
  }
  return access->commit();
}

}  // namespace shardscope::storage
