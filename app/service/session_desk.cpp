#include "app/service/session_desk.hpp"

#include <nlohmann/json.hpp>

#include "app/service/record_json.hpp"
#include "app/session_contents.hpp"
#include "layout/json.hpp"
#include "storage/documents.hpp"

namespace shardscope::app {
namespace {

using Json = nlohmann::ordered_json;

Error unknown_what(const char* request, const std::string& what, const char* known) {
  return {ErrorKind::usage, "\"" + what + "\" is unknown", request, known, ""};
}

Result<std::string> layouts_json(const storage::Session& session) {
  const auto layouts = storage::list_layouts(session);
  if (!layouts) return fail(layouts.error());
  Json json = {{"layouts", Json::array()}};
  for (const storage::LayoutRecord& layout : *layouts) {
    json["layouts"].push_back({{"row", layout.id},
                               {"name", layout.name},
                               {"workload", layout.workload},
                               {"topology", layout.topology},
                               {"parent", layout.parent},
                               {"note", layout.note},
                               {"reference", layout.reference},
                               {"prediction", layout.prediction_json}});
  }
  return json.dump();
}

Result<std::string> save_new_layout(const storage::Session& session, const service::Edit& edit) {
  const Result<Workload> workload = workload_from_json(edit.workload_json, "workload");
  if (!workload) return fail(workload.error());
  const Result<Topology> topology = topology_from_json(edit.topology_json, "topology");
  if (!topology) return fail(topology.error());
  const Result<Layout> layout = layout_from_json(edit.layout_json, "layout");
  if (!layout) return fail(layout.error());
  const auto workload_row = storage::save_workload(session, *workload);
  if (!workload_row) return fail(workload_row.error());
  const auto topology_row = storage::save_topology(session, *topology);
  if (!topology_row) return fail(topology_row.error());
  const auto row = storage::save_layout(session, *layout, *workload_row, *topology_row);
  if (!row) return fail(row.error());
  return Json{{"row", *row}}.dump();
}

}  // namespace

Result<std::string> SessionDesk::open(const std::string& path) {
  if (Status closed = close(); !closed) return fail(closed.error());
  Result<std::unique_ptr<OpenSession>> opened = OpenSession::open(path, "session");
  if (!opened) return fail(opened.error());
  session_ = std::move(*opened);
  session_->keep();
  return Json{{"session", session_->path()}}.dump();
}

Result<std::string> SessionDesk::query(const service::Query& query) const {
  if (Status open = require_open(); !open) return fail(open.error());
  const storage::Session& session = session_->session();
  if (query.what == "session") {
    const auto contents = read_contents(session, query.row);
    if (!contents) return fail(contents.error());
    return contents_json(session_->path(), *contents).dump();
  }
  if (query.what == "layouts") return layouts_json(session);
  if (query.what == "layout") {
    const auto layout = storage::load_layout(session, query.row);
    if (!layout) return fail(layout.error());
    return Json{{"layout", to_json(*layout)}}.dump();
  }
  return fail(unknown_what("query", query.what, "machine, session, layouts or layout"));
}

Result<std::string> SessionDesk::edit(const service::Edit& edit) {
  if (Status open = require_open(); !open) return fail(open.error());
  const storage::Session& session = session_->session();
  if (edit.what == "layout") return save_new_layout(session, edit);
  Status done;
  if (edit.what == "note") {
    done = storage::set_layout_note(session, edit.row, edit.text);
  } else if (edit.what == "prediction") {
    done = storage::set_layout_prediction(session, edit.row, edit.text);
  } else if (edit.what == "reference") {
    done = storage::set_reference_layout(session, edit.row);
  } else {
    return fail(unknown_what("edit", edit.what, "layout, note, prediction or reference"));
  }
  if (!done) return fail(done.error());
  return std::string("{}");
}

Status SessionDesk::require_open() const {
  if (session_ != nullptr) return {};
  return fail({ErrorKind::usage, "no session is open", "engine", "an 'open' request before", ""});
}

Status SessionDesk::record(const service::RecordResult& result) {
  if (result.what == "comparison") {
    const auto comparison = comparison_from_json(result.json);
    if (!comparison) return fail(comparison.error());
    return session_->save_comparison(*comparison);
  }
  if (result.what == "curve") {
    const auto curve = curve_from_json(result.json);
    if (!curve) return fail(curve.error());
    return session_->save_curve(curve->run, curve->points);
  }
  if (result.what == "codec_work") {
    const auto part = codec_work_from_json(result.json);
    if (!part) return fail(part.error());
    session_->records().codec_work(part->run, part->works);
    return {};
  }
  return fail(unknown_what("result", result.what, "comparison, curve or codec_work"));
}

Status SessionDesk::close() {
  if (session_ == nullptr) return {};
  const Status closed = session_->close();
  session_.reset();
  return closed;
}

}  // namespace shardscope::app
