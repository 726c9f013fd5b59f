#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/commands/commands.hpp"
#include "app/inputs.hpp"
#include "app/text_table.hpp"
#include "layout/json.hpp"
#include "planner/cost_model.hpp"
#include "planner/executor_model.hpp"
#include "storage/documents.hpp"
#include "storage/export/hugectr.hpp"
#include "storage/export/run_export.hpp"
#include "storage/export/torchrec.hpp"
#include "storage/import/import_kind.hpp"
#include "storage/nsys/export.hpp"
#include "storage/queries/runs.hpp"
#include "storage/session.hpp"

namespace shardscope::app {
namespace {

/// The layout that goes out with what it was made for.
struct Exported {
  Workload workload;
  Topology topology;
  Layout layout;
};

/// What was written, and how it differs from what was given.
struct Outcome {
  std::vector<std::string> files;
  std::vector<std::string> changes;
  std::optional<double> predicted_ms;  ///< of the layout as the framework will train it
  std::optional<double> given_ms;
};

tl::unexpected<Error> no_layout(const std::string& session, std::string what) {
  return fail({ErrorKind::usage, std::move(what), session, "a layout of the session",
               "'shardscope inspect' lists runs; name one with --layout N"});
}

Result<std::int64_t> layout_id(const storage::Session& session, const ExportOptions& options) {
  if (options.layout > 0) return options.layout;
  if (options.run > 0) {
    const auto run = storage::find_run(session, options.run);
    if (!run) return fail(run.error());
    return run->layout;
  }
  const auto layouts = storage::list_layouts(session);
  if (!layouts) return fail(layouts.error());
  for (const storage::LayoutRecord& one : *layouts) {
    if (one.reference) return one.id;
  }
  if (layouts->empty()) return no_layout(options.input, "the session has no layouts");
  return layouts->back().id;
}

Result<Exported> from_session(const ExportOptions& options) {
  auto session = storage::Session::open(options.input, storage::Session::Access::read_only);
  if (!session) return fail(session.error());
  const auto id = layout_id(*session, options);
  if (!id) return fail(id.error());
  const auto layouts = storage::list_layouts(*session);
  if (!layouts) return fail(layouts.error());
  const auto record = std::find_if(layouts->begin(), layouts->end(),
                                   [&](const auto& one) { return one.id == *id; });
  if (record == layouts->end()) {
    return no_layout(options.input, fmt::format("there is no layout {}", *id));
  }
  auto layout = storage::load_layout(*session, *id);
  if (!layout) return fail(layout.error());
  auto workload = storage::load_workload(*session, record->workload);
  if (!workload) return fail(workload.error());
  std::int64_t topology_id = record->topology;
  if (const auto runs = storage::list_runs(*session); topology_id == 0 && runs) {
    for (const storage::RunRecord& run : *runs) {
      if (run.layout == *id) topology_id = run.topology;
    }
  }
  auto topology = storage::load_topology(*session, topology_id);
  if (!topology) return fail(topology.error());
  return Exported{std::move(*workload), std::move(*topology), std::move(*layout)};
}

Result<Exported> from_file(const ExportOptions& options) {
  if (looks_like_file(options.input)) {
    if (const auto text = read_text_file(options.input); !text) return fail(text.error());
  }
  if (options.inputs.workload.empty()) {
    return fail({ErrorKind::usage, "a layout file needs the model it belongs to", options.input,
                 "--workload NAME|FILE (and --topology)", ""});
  }
  const auto inputs = load_inputs(options.inputs);
  if (!inputs) return fail(inputs.error());
  const auto layout = load_layout(options.input, *inputs);
  if (!layout) return fail(layout.error());
  return Exported{inputs->workload, inputs->topology, *layout};
}

Status write_file(const std::string& path, const std::string& text, Outcome& outcome) {
  if (Status written = write_text_file(path, text); !written) return written;
  outcome.files.push_back(path);
  return {};
}

/// The framework may train it otherwise than it was drawn: both are predicted.
void predict_both(const Exported& given, const Layout& written, Executor executor,
                  Outcome& outcome) {
  PredictOptions options;
  options.executor = executor;
  options.schedule = default_schedule(executor);
  const auto before = predicted_seconds(given.workload, given.topology, given.layout, options);
  const auto after = predicted_seconds(given.workload, given.topology, written, options);
  if (before) outcome.given_ms = *before * 1e3;
  if (after) outcome.predicted_ms = *after * 1e3;
}

Status to_hugectr(const ExportOptions& options, const Exported& given, Outcome& outcome) {
  const bool json = options.format == "json";
  if (!json && !options.format.empty() && options.format != "python") {
    return fail({ErrorKind::usage, "there is no format \"" + options.format + "\"", "--format",
                 "python or json", ""});
  }
  const auto exported = storage::export_hugectr(given.workload, given.topology, given.layout);
  if (!exported) return fail(exported.error());
  outcome.changes = exported->changes;
  predict_both(given, exported->layout, Executor::hugectr, outcome);
  const std::string& text = json ? exported->json : exported->python;
  if (!options.out.empty()) return write_file(options.out, text, outcome);
  if (!options.json) fmt::print("{}", text);
  return {};
}

Status to_torchrec(const ExportOptions& options, const Exported& given, Outcome& outcome) {
  const std::filesystem::path path(options.out.empty() ? "plan.json" : options.out);
  const auto exported = storage::export_torchrec(given.workload, given.topology, given.layout,
                                                 path.filename().string());
  if (!exported) return fail(exported.error());
  outcome.changes = exported->changes;
  predict_both(given, exported->layout, Executor::torchrec, outcome);
  if (options.out.empty()) {
    if (!options.json) fmt::print("{}", exported->json);
    return {};
  }
  std::filesystem::path loader = path;
  loader.replace_extension(".py");
  if (loader == path) {
    return fail({ErrorKind::usage, "the JSON cannot have the loader's name", options.out,
                 "a name that ends with .json", ""});
  }
  if (Status done = write_file(path.string(), exported->json, outcome); !done) return done;
  return write_file(loader.string(), exported->loader, outcome);
}

/// A run's records: measured, emulated or simulated.
Status export_run(const ExportOptions& options, Outcome& outcome) {
  auto session = storage::Session::open(options.input, storage::Session::Access::read_only);
  if (!session) return fail(session.error());
  if (options.out.empty()) {
    return fail({ErrorKind::usage, "a run needs a file to be written to", options.input,
                 "--out FILE (for perfetto also a directory: one file a rank)", ""});
  }
  std::int64_t run = options.run;
  if (run == 0) {
    const auto runs = storage::list_runs(*session);
    if (!runs) return fail(runs.error());
    if (runs->empty()) {
      return fail({ErrorKind::usage, "the session has no runs", options.input, "", ""});
    }
    run = runs->back().id;
  }
  if (options.to == "perfetto") {
    const auto files = storage::export_perfetto(*session, run, options.out);
    if (!files) return fail(files.error());
    outcome.files = *files;
    return {};
  }
  Status done = options.to == "csv" ? storage::export_csv(*session, run, options.out)
                                    : storage::nsys::export_run(*session, run, options.out);
  if (done) outcome.files.push_back(options.out);
  return done;
}

/// On stderr where the export itself goes to stdout.
void report(const ExportOptions& options, const Outcome& outcome) {
  if (options.json) {
    nlohmann::ordered_json json = {
        {"to", options.to}, {"files", outcome.files}, {"changes", outcome.changes}};
    if (outcome.given_ms) json["given_predicted_ms"] = *outcome.given_ms;
    if (outcome.predicted_ms) json["predicted_ms"] = *outcome.predicted_ms;
    fmt::print("{}\n", json.dump(2));
    return;
  }
  std::FILE* out = options.out.empty() ? stderr : stdout;
  for (const std::string& change : outcome.changes) fmt::print(out, "changed  {}\n", change);
  if (outcome.predicted_ms && outcome.given_ms) {
    fmt::print(out, "SIMULATED  {} ms an iteration as exported, {} ms as given\n",
               ms_text(*outcome.predicted_ms), ms_text(*outcome.given_ms));
  }
  for (const std::string& file : outcome.files) fmt::print(out, "wrote  {}\n", file);
}

}  // namespace

Status export_command(const ExportOptions& options) {
  Outcome outcome;
  Status done;
  if (options.to == "hugectr" || options.to == "torchrec") {
    const auto given =
        storage::is_session_file(options.input) ? from_session(options) : from_file(options);
    if (!given) return fail(given.error());
    done = options.to == "hugectr" ? to_hugectr(options, *given, outcome)
                                   : to_torchrec(options, *given, outcome);
  } else if (options.to == "perfetto" || options.to == "csv" || options.to == "nsys") {
    done = export_run(options, outcome);
  } else {
    return fail({ErrorKind::usage, "nothing is exported to \"" + options.to + "\"", "--to",
                 "hugectr, torchrec, perfetto, nsys or csv", ""});
  }
  if (done) report(options, outcome);
  return done;
}

}  // namespace shardscope::app
