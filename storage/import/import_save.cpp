#include "storage/import/import_save.hpp"

#include <nlohmann/json.hpp>

#include "layout/json.hpp"
#include "storage/documents.hpp"
#include "storage/import/trace/trace_write.hpp"

namespace shardscope::storage {

Status save_plans(const Session& session, const Imported& imported) {
  for (const ImportedPlan& plan : imported.plans) {
    std::int64_t workload = 0;
    std::int64_t topology = 0;
    if (plan.workload) {
      const auto id = save_workload(session, *plan.workload);
      if (!id) return fail(id.error());
      workload = *id;
    }
    if (plan.topology) {
      const auto id = save_topology(session, *plan.topology);
      if (!id) return fail(id.error());
      topology = *id;
    }
    if (!plan.layout) continue;
    const auto id = save_layout(session, *plan.layout, workload, topology);
    if (!id) return fail(id.error());
  }
  return {};
}

Status save_trace(RecordSink& sink, const Imported& imported) {
  const ImportedTrace& trace = *imported.trace;
  RunInfo info = trace_run_info(trace);
  const ImportedPlan* plan = imported.plans.empty() ? nullptr : &imported.plans.front();
  Workload unknown;
  unknown.name = "unknown model";
  unknown.global_batch = info.global_batch;
  unknown.source = imported.notes.file();
  ImportNotes notes;
  Layout nameless;
  nameless.name = "unknown layout";
  nameless.ranks = info.ranks;
  const std::int32_t local = info.ranks % 8 == 0 ? 8 : info.ranks;
  const Topology machine =
      plan != nullptr ? *plan->topology
                      : machine_for(imported.device_name, info.ranks / local, local, notes);
  info.label = plan != nullptr ? plan->layout->name : nameless.name;
  info.workload_json = to_json(plan != nullptr ? *plan->workload : unknown);
  info.topology_json = to_json(machine);
  info.layout_json = to_json(plan != nullptr ? *plan->layout : nameless);
  nlohmann::ordered_json environment = {{"imported", to_string(imported.kind)},
                                        {"device", imported.device_name},
                                        {"world_size", trace.world_size},
                                        {"fused_update", has_fused_update(trace)},
                                        {"files", nlohmann::ordered_json::array()}};
  for (const TraceRank& rank : trace.totals) {
    environment["files"].push_back({{"rank", rank.rank}, {"file", rank.file}});
  }
  info.environment_json =
      environment.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  const auto run = write_trace(sink, trace, info);
  if (!run) return fail(run.error());
  return {};
}

}  // namespace shardscope::storage
