#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "app/calibration_files.hpp"
#include "app/calibration_report.hpp"
#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/console_watch.hpp"
#include "app/inputs.hpp"
#include "app/jobs/calibrate_job.hpp"
#include "app/run_setup.hpp"
#include "app/text_table.hpp"
#include "layout/json.hpp"
#include "planner/cost_model.hpp"

namespace shardscope::app {
namespace {

constexpr const char* kDefaultFile = "./calibration.json";

/// The machine to measure: this host.
Result<Topology> measured_topology(const CalibrateOptions& options) {
  if (const auto job = calibrate_job(options.backend, options.comm, ""); !job)
    return fail(job.error());
  const std::int32_t ranks = options.ranks > 0 ? options.ranks : 2;
  Result<Topology> topology = load_topology(
      options.topology.empty() ? fmt::format("host-cpu:1x{}", ranks) : options.topology);
  if (!topology) return topology;
  if (options.ranks > 0 && topology->ranks() != options.ranks) {
    return fail({ErrorKind::usage,
                 fmt::format("{} is not the topology's number of ranks", options.ranks), "--ranks",
                 fmt::format("{} ({})", topology->ranks(), options.topology), ""});
  }
  if (Status here = require_measurable(*topology); !here) return fail(here.error());
  return topology;
}

Result<storage::CalibrationFile> measured_file(const CalibrateOptions& options,
                                               const Topology& topology) {
  const auto parts = calibration_parts_of(options.only);
  if (!parts) return fail(parts.error());
  ConsoleWatch watch("calibrate");
  auto file = run_calibration(
      {topology, *parts, options.backend, options.comm, options.budget_s, options.seed}, watch);
  watch.finish();
  return file;
}

}  // namespace

Status calibrate_command(const CalibrateOptions& options) {
  const bool from_files = !options.from.empty() || !options.files.empty();
  const Result<Topology> topology =
      from_files ? topology_of_files(options) : measured_topology(options);
  if (!topology) return fail(topology.error());
  auto file = from_files ? fitted_file(options, *topology) : measured_file(options, *topology);
  if (!file) return fail(file.error());
  const std::string out = options.out.empty() ? kDefaultFile : options.out;
  if (Status written = write_text_file(out, storage::to_json(*file)); !written) return written;
  if (!options.topology_out.empty()) {
    const std::string text = to_json(calibrated(*topology, file->calibration));
    if (Status written = write_text_file(options.topology_out, text); !written) return written;
  }
  if (options.json) {
    nlohmann::ordered_json json = calibration_json(*file);
    json["file"] = out;
    fmt::print("{}\n", json.dump(2));
    return {};
  }
  const Console console = Console::of_stdout();
  fmt::print("{}  {}{}\n{}\n\n{}", console.bold(mode_word(Mode::measured)), file->topology,
             file->interrupted ? "  (stopped early)" : "",
             from_files ? fmt::format("from {} ({})",
                                      counted(static_cast<long long>(options.files.size()), "file"),
                                      options.from)
                        : fmt::format("{} ranks, {}/{}, thread CPU time", file->ranks,
                                      options.backend, options.comm),
             calibration_text(*file, *topology));
  fmt::print("\nwrote  {}  (give it with --calibration)\n", out);
  return {};
}

}  // namespace shardscope::app
