#include "ui/desktop/session_document.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>

#include "layout/models.hpp"
#include "layout/names.hpp"
#include "planner/executor_model.hpp"
#include "storage/documents.hpp"
#include "storage/queries/runs.hpp"

namespace shardscope::ui {
namespace {

Result<Topology> topology_of(const storage::Session& session, std::int64_t id, std::int32_t ranks) {
  if (id > 0) return storage::load_topology(session, id);
  return topology_by_name(fmt::format("host-cpu:1x{}", ranks));
}

/// Predictions stand beside what ran, so they follow its schedule.
Result<ScheduleKind> last_schedule(const storage::Session& session) {
  const auto runs = storage::list_runs(session);
  if (!runs) return fail(runs.error());
  if (runs->empty()) return default_schedule(Executor::engine);
  return parse_name<ScheduleKind>(runs->back().schedule).value_or(ScheduleKind::serial);
}

/// Mean measured iteration of every layout that ran, by its id in the session.
Result<std::map<std::int64_t, double>> measured_by_layout(const storage::Session& session) {
  const auto runs = storage::list_runs(session);
  if (!runs) return fail(runs.error());
  std::map<std::int64_t, double> measured;
  for (const storage::RunRecord& run : *runs) {
    if (std::isfinite(run.iteration_ms) && run.iteration_ms > 0) {
      measured[run.layout] = run.iteration_ms / 1e3;
    }
  }
  return measured;
}

}  // namespace

Result<std::unique_ptr<Document>> document_of(const storage::Session& session) {
  const auto records = storage::list_layouts(session);
  if (!records) return fail(records.error());
  if (records->empty()) {
    return fail({ErrorKind::usage, "the session has no layout yet", session.path(), "",
                 "Run something into it, or start from a model"});
  }
  const storage::LayoutRecord& last = records->back();
  Result<Workload> workload = storage::load_workload(session, last.workload);
  if (!workload) return fail(workload.error());
  const auto measured = measured_by_layout(session);
  if (!measured) return fail(measured.error());
  const auto schedule = last_schedule(session);
  if (!schedule) return fail(schedule.error());
  std::unique_ptr<Document> document;
  std::map<std::int64_t, int> nodes;  // session id to history node
  for (const storage::LayoutRecord& record : *records) {
    if (record.workload != last.workload || record.topology != last.topology) continue;
    Result<Layout> layout = storage::load_layout(session, record.id);
    if (!layout) return fail(layout.error());
    int node = 0;
    if (document == nullptr) {
      Result<Topology> topology = topology_of(session, last.topology, layout->ranks);
      if (!topology) return fail(topology.error());
      PredictOptions options;
      options.schedule = *schedule;
      document = std::make_unique<Document>(std::move(*workload), std::move(*topology),
                                            std::move(*layout), std::move(options));
    } else {
      const auto parent = nodes.find(record.parent);
      node = document->add_branch(parent == nodes.end() ? 0 : parent->second, std::move(*layout),
                                  "stored in the session");
    }
    nodes[record.id] = node;
    HistoryNode& entry = document->history().node(node);
    entry.note = record.note;
    entry.session_layout = record.id;
    const auto ran = measured->find(record.id);
    if (ran != measured->end()) entry.measured_s = ran->second;
    if (record.reference) document->set_reference(node);
  }
  document->go_to(nodes[last.id]);
  return document;
}

}  // namespace shardscope::ui
