#include "storage/import/import_files.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/commands/commands.hpp"
#include "app/import_report.hpp"
#include "app/inputs.hpp"
#include "app/interrupt.hpp"
#include "app/progress.hpp"
#include "app/run_setup.hpp"
#include "layout/json.hpp"
#include "storage/import/import_save.hpp"

namespace shardscope::app {
namespace {

Result<storage::ImportKind> kind_of(const ImportOptions& options) {
  if (options.from.empty()) return storage::recognise(options.files.front());
  if (const auto kind = storage::parse_import_kind(options.from)) return *kind;
  return fail({ErrorKind::usage, "there is no kind \"" + options.from + "\"", "--from",
               storage::import_kinds(), ""});
}

Result<storage::ImportContext> context_of(const ImportOptions& options) {
  storage::ImportContext context;
  if (!options.workload.empty()) {
    auto workload = load_workload(options.workload);
    if (!workload) return fail(workload.error());
    context.workload = std::move(*workload);
  }
  if (!options.topology.empty()) {
    auto topology = load_topology(options.topology);
    if (!topology) return fail(topology.error());
    context.topology = std::move(*topology);
  }
  return context;
}

Result<storage::KernelMap> map_of(const ImportOptions& options) {
  if (options.kernel_map.empty()) return storage::built_in_kernel_map();
  const auto text = read_text_file(options.kernel_map);
  if (!text) return fail(text.error());
  return storage::parse_kernel_map(*text, options.kernel_map);
}

/// The values that --out, --workload-out and --topology-out name.
Status write_outputs(const ImportOptions& options, const storage::Imported& imported) {
  if (options.out.empty() && options.workload_out.empty() && options.topology_out.empty()) {
    return {};
  }
  const auto index = static_cast<std::size_t>(options.plan > 0 ? options.plan - 1 : 0);
  const storage::ImportedPlan* plan =
      index < imported.plans.size() ? &imported.plans[index] : nullptr;
  const auto put = [&](const std::string& path, const auto* value, const char* what) -> Status {
    if (path.empty()) return {};
    if (value != nullptr) return write_text_file(path, to_json(*value) + "\n");
    return fail({ErrorKind::usage, fmt::format("the import gave no {} to write", what), path,
                 "a file with sizes, or --workload", ""});
  };
  const auto pointer = [](const auto& value) { return value ? &*value : nullptr; };
  const Layout* layout = plan != nullptr ? pointer(plan->layout) : nullptr;
  const Workload* workload = plan != nullptr ? pointer(plan->workload) : nullptr;
  const Topology* topology = plan != nullptr ? pointer(plan->topology) : nullptr;
  Status done = put(options.out, layout, "layout");
  if (done) done = put(options.workload_out, workload, "workload");
  if (done) done = put(options.topology_out, topology, "topology");
  return done;
}

/// Where there is something to keep, the session's path.
Result<std::string> save_session(const ImportOptions& options, const storage::Imported& imported) {
  bool any = false;
  for (const storage::ImportedPlan& plan : imported.plans) any = any || plan.workload.has_value();
  any = any || imported.trace.has_value();
  if (!any) return std::string();
  auto session = OpenSession::open(options.session, "import");
  if (!session) return fail(session.error());
  (*session)->keep();
  Status done = storage::save_plans((*session)->session(), imported);
  if (done && imported.trace) done = storage::save_trace((*session)->records(), imported);
  const std::string path = (*session)->path();
  const Status closed = (*session)->close();
  if (done) done = closed;
  if (!done) return fail(done.error());
  return path;
}

}  // namespace

Status import_command(const ImportOptions& options) {
  const auto kind = kind_of(options);
  if (!kind) return fail(kind.error());
  const auto context = context_of(options);
  if (!context) return fail(context.error());
  const auto map = map_of(options);
  if (!map) return fail(map.error());
  Interrupt interrupt;
  Progress progress("import");
  const auto imported =
      storage::import_files(*kind, options.files, *context, *map, [&](double share) {
        progress.update(share);
        return !interrupt.requested();
      });
  progress.finish();
  if (!imported) return fail(imported.error());
  if (Status done = write_outputs(options, *imported); !done) return done;
  const auto session = save_session(options, *imported);
  if (!session) return fail(session.error());
  if (options.json) {
    nlohmann::ordered_json json = import_json(*imported);
    json["session"] = *session;
    fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return {};
  }
  fmt::print("{}", import_text(*imported));
  if (!session->empty()) fmt::print("\nSession {}\n", *session);
  return {};
}

}  // namespace shardscope::app
