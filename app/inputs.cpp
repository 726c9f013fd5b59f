#include "app/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "app/machine.hpp"
#include "app/reuse_ids.hpp"
#include "app/text_table.hpp"
#include "engine/batches/stream_workload.hpp"
#include "layout/check.hpp"
#include "layout/closest.hpp"
#include "layout/json.hpp"
#include "layout/models.hpp"
#include "layout/table_order.hpp"
#include "planner/calibration_use.hpp"
#include "planner/executor_form.hpp"
#include "planner/executor_model.hpp"
#include "planner/optimize.hpp"
#include "planner/planners.hpp"
#include "storage/calibration_file.hpp"

namespace shardscope::app {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestFile = std::uintmax_t{1} << 30;

Error file_error(const std::string& path, std::string what, std::string cure) {
  return {ErrorKind::usage, std::move(what), path, "", std::move(cure)};
}

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// Descriptions begin with an object; recorded streams never do.
bool is_json(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string::npos || text[first] == '{';
}

/// The first error among the violations as an Error; the rest are counted.
Status first_error(const std::vector<Violation>& violations, ErrorKind kind,
                   const std::string& place) {
  const Violation* first = nullptr;
  std::size_t others = 0;
  for (const Violation& violation : violations) {
    if (violation.severity != Severity::error) continue;
    if (first == nullptr) {
      first = &violation;
    } else {
      ++others;
    }
  }
  if (first == nullptr) return {};
  std::string what = first->message;
  if (others > 0) what += fmt::format(" (and {} more; 'shardscope check' lists all)", others);
  return fail({kind, std::move(what), place, "", first->cure});
}

Status apply_batch(const InputOptions& options, Inputs& inputs) {
  if (options.batch > 0) inputs.workload.global_batch = options.batch;
  const std::int32_t ranks = inputs.topology.ranks();
  if (inputs.workload.global_batch < ranks) {
    return fail({ErrorKind::usage,
                 fmt::format("a global batch of {} leaves some of {} without a sample",
                             inputs.workload.global_batch, counted(ranks, "rank")),
                 options.batch > 0 ? "--batch" : options.workload,
                 fmt::format("at least {}", ranks),
                 options.batch > 0 ? "" : "Give --batch, or correct the model's global_batch"});
  }
  return {};
}

Result<Topology> topology_of(const InputOptions& options) {
  if (options.topology.empty()) {
    return load_topology(fmt::format("host-cpu:1x{}", options.ranks > 0 ? options.ranks : 2));
  }
  Result<Topology> topology = load_topology(options.topology);
  if (topology && options.ranks > 0 && options.ranks != topology->ranks()) {
    return fail({ErrorKind::usage,
                 fmt::format("{} is not the topology's number of ranks", options.ranks), "--ranks",
                 fmt::format("{} ({})", topology->ranks(), options.topology),
                 "Leave --ranks out or choose another --topology"});
  }
  return topology;
}

}  // namespace

Result<std::string> read_text_file(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    return fail(file_error(path, "there is no such file", "Check the path"));
  }
  if (fs::is_directory(status)) {
    return fail(file_error(path, "this is a directory", "Name a file in it"));
  }
  const std::uintmax_t size = fs::is_regular_file(status) ? fs::file_size(path, error) : 0;
  if (size > kLargestFile) {
    return fail(file_error(path, fmt::format("{} bytes are too many for a description", size),
                           "Is this the file you meant?"));
  }
  std::ifstream in(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in) return fail(file_error(path, "cannot be read", "Check its permissions"));
  return text;
}

Status write_text_file(const std::string& path, const std::string& text, const char* what) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (out) return {};
  return fail({ErrorKind::runtime, fmt::format("{} cannot be written", what), path, "",
               "Choose a folder that exists and that you may write"});
}

bool looks_like_file(const std::string& text) {
  return text.find_first_of("/.") != std::string::npos;
}

Result<Workload> load_workload(const std::string& name_or_file) {
  if (!looks_like_file(name_or_file)) {
    Result<Workload> model = model_by_name(name_or_file);
    if (model || !exists(name_or_file)) return model;
  }
  const Result<std::string> text = read_text_file(name_or_file);
  if (!text) return fail(text.error());
  if (name_or_file.ends_with(".json") || is_json(*text))
    return workload_from_json(*text, name_or_file);
  return engine::workload_from_stream(name_or_file);
}

Result<Topology> load_topology(const std::string& name_or_file) {
  if (!looks_like_file(name_or_file)) {
    Result<Topology> topology = topology_by_name(name_or_file);
    if (topology) return with_memory_of_this_machine(std::move(*topology));
    if (!exists(name_or_file)) return topology;
  }
  const Result<std::string> text = read_text_file(name_or_file);
  if (!text) return fail(text.error());
  return topology_from_json(*text, name_or_file);
}

Result<Topology> with_calibration(Topology topology, const std::string& path) {
  const Result<std::string> text = read_text_file(path);
  if (!text) return fail(text.error());
  const auto file = storage::calibration_from_json(*text, path);
  if (!file) return fail(file.error());
  if (Status same = require_same_device(topology, file->calibration, file->topology, path); !same) {
    return fail(same.error());
  }
  return calibrated(std::move(topology), file->calibration);
}

Topology with_memory_of_this_machine(Topology topology) {
  const Machine machine = this_machine();
  const bool host = topology.gpu.memory_bytes.origin == Origin::prior &&
                    topology.gpu.memory_bytes.source == kSharedHostMemory;
  if (!host || machine.memory_bytes <= 0) return topology;
  const auto all = static_cast<double>(machine.memory_bytes);
  const std::string source = "memory of " + machine.host + ", shared by its ranks";
  topology.gpu.memory_bytes = {all / topology.ranks(), Origin::measured, source, today_utc()};
  topology.host_memory_bytes = {all / topology.hosts, Origin::measured, source, today_utc()};
  return topology;
}

Result<Inputs> load_inputs(const InputOptions& options) {
  Result<Workload> workload = load_workload(options.workload);
  if (!workload) return fail(workload.error());
  Result<Topology> topology = topology_of(options);
  if (topology && !options.calibration.empty())
    topology = with_calibration(std::move(*topology), options.calibration);
  if (!topology) return fail(topology.error());
  Inputs inputs{with_rows_cap(std::move(*workload), options.rows_cap), std::move(*topology)};
  if (options.no_dense) inputs.workload.dense = DensePart{};
  if (!options.reuse.empty()) {
    Result<Workload> reused = with_reuse(std::move(inputs.workload), options.reuse);
    if (!reused) return fail(reused.error());
    inputs.workload = std::move(*reused);
  }
  if (Status status =
          first_error(check_topology(inputs.topology), ErrorKind::usage,
                      options.calibration.empty() ? options.topology : options.calibration);
      !status) {
    return fail(status.error());
  }
  if (Status status = apply_batch(options, inputs); !status) return fail(status.error());
  if (Status status =
          first_error(check_workload(inputs.workload), ErrorKind::usage, options.workload);
      !status) {
    return fail(status.error());
  }
  return inputs;
}

PredictOptions predict_options(const PredictHow& how) {
  PredictOptions options;
  options.executor = how.executor;
  options.schedule = how.schedule.value_or(default_schedule(how.executor));
  return options;
}

Result<Layout> load_layout(const std::string& name_or_file, const Inputs& inputs,
                           const PredictOptions& how) {
  if (name_or_file == "optimize") {
    OptimizeOptions request;
    request.predict = how;
    Result<OptimizedPlan> plan = optimize(inputs.workload, inputs.topology, request);
    if (!plan) return fail(plan.error());
    return std::move(plan->layout);
  }
  if (!looks_like_file(name_or_file)) {
    std::vector<std::string> names = named_planners();
    if (std::find(names.begin(), names.end(), name_or_file) == names.end()) {
      names.emplace_back("optimize");
      const std::string meant = closest_name(name_or_file, names);
      return fail({ErrorKind::usage, fmt::format("there is no layout '{}'", name_or_file),
                   "--layout", join_names(names) + " or a JSON file",
                   meant.empty() ? "" : fmt::format("Did you mean {}?", meant)});
    }
    Result<NamedPlan> plan = named_plan(name_or_file, inputs.workload, inputs.topology, {});
    if (!plan) return fail(plan.error());
    return in_executor_form(std::move(plan->layout), inputs.workload, inputs.topology,
                            how.executor);
  }
  const Result<std::string> text = read_text_file(name_or_file);
  if (!text) return fail(text.error());
  Result<Layout> layout = layout_from_json(*text, name_or_file);
  if (layout) put_in_order_of(inputs.workload, *layout);
  return layout;
}

Status save_layout_file(const std::string& path, const Layout& layout) {
  if (path.empty()) return {};
  return write_text_file(path, to_json(layout) + '\n', "the layout");
}

Result<std::int32_t> table_by_name(const std::string& name, const Workload& workload,
                                   const char* option) {
  std::vector<std::string> names;
  for (std::size_t t = 0; t < workload.tables.size(); ++t) {
    if (workload.tables[t].name == name) return static_cast<std::int32_t>(t);
    names.push_back(workload.tables[t].name);
  }
  const std::string closest = closest_name(name, names);
  return fail({ErrorKind::usage, fmt::format("{} has no table '{}'", workload.name, name), option,
               "", closest.empty() ? "" : fmt::format("Did you mean '{}'?", closest)});
}

Status require_valid(const Inputs& inputs, const Layout& layout, Executor executor) {
  return first_error(check(inputs.workload, inputs.topology, layout, executor),
                     ErrorKind::infeasible, "layout " + layout.name);
}

}  // namespace shardscope::app
