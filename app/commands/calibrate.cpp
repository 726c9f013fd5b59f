#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "app/calibration_files.hpp"
#include "app/calibration_report.hpp"
#include "app/calibration_run.hpp"
#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/console_watch.hpp"
#include "app/inputs.hpp"
#include "app/machine.hpp"
#include "app/run_setup.hpp"
#include "app/text_table.hpp"
#include "app/values.hpp"
#include "layout/json.hpp"
#include "layout/models.hpp"
#include "planner/cost_model.hpp"

namespace shardscope::app {
namespace {

constexpr const char* kDefaultFile = "./calibration.json";
constexpr std::int32_t kMostMeasuredRanks = 64;

Result<std::vector<CalibrationPart>> parts_of(const CalibrateOptions& options) {
  std::vector<CalibrationPart> parts;
  for (const std::string& name : options.only) {
    const auto part = parse_calibration_part(name);
    if (!part) {
      return fail({ErrorKind::usage, fmt::format("'{}' is no part of a calibration", name),
                   "--only", calibration_parts(), ""});
    }
    if (std::find(parts.begin(), parts.end(), *part) == parts.end()) parts.push_back(*part);
  }
  if (!parts.empty()) return parts;
  for (int part = 0; part < kCalibrationParts; ++part)
    parts.push_back(static_cast<CalibrationPart>(part));
  return parts;
}

/// The machine to measure: this host.
Result<Topology> measured_topology(const CalibrateOptions& options) {
  const auto comm = parse_comm(options.backend, options.comm);
  if (!comm) return fail(comm.error());
  if (options.backend != "cpu") {
    return fail({ErrorKind::usage, "only this host's cpu is measured so far",
                 fmt::format("--backend {}", options.backend), "cpu",
                 "Fit a GPU's constants to its traces or to nccl-tests with --from"});
  }
  if (*comm == engine::CommKind::loopback) {
    return fail({ErrorKind::usage, "loopback's wires are a model: there is nothing to measure",
                 "--comm loopback", "threads", ""});
  }
  const std::int32_t ranks = options.ranks > 0 ? options.ranks : 2;
  Result<Topology> topology = load_topology(
      options.topology.empty() ? fmt::format("host-cpu:1x{}", ranks) : options.topology);
  if (!topology) return topology;
  if (options.ranks > 0 && topology->ranks() != options.ranks) {
    return fail({ErrorKind::usage,
                 fmt::format("{} is not the topology's number of ranks", options.ranks), "--ranks",
                 fmt::format("{} ({})", topology->ranks(), options.topology), ""});
  }
  if (topology->gpu.name != topology_by_name("host-cpu")->gpu.name) {
    return fail({ErrorKind::usage,
                 fmt::format("the cpu backend measures this host, not {} with {}", topology->name,
                             topology->gpu.name),
                 "--topology", "host-cpu[:HOSTSxRANKS]",
                 "Fit that machine's constants to its traces or to nccl-tests with --from"});
  }
  if (topology->ranks() < 2 || topology->ranks() > kMostMeasuredRanks) {
    return fail({ErrorKind::usage,
                 fmt::format("{} cannot be measured", counted(topology->ranks(), "rank")),
                 "--ranks", fmt::format("2 to {}", kMostMeasuredRanks), ""});
  }
  return topology;
}

/// Parts of which nothing was measured, in the order of the list.
std::vector<std::string> missing_parts(const MachineFit& fit,
                                       const std::vector<CalibrationPart>& wanted) {
  const Gpu& gpu = fit.calibration.gpu;
  const bool exchanged =
      !fit.calibration.intra.by_size.empty() || !fit.calibration.inter.by_size.empty();
  const auto seen = [&](CalibrationPart part) {
    switch (part) {
      case CalibrationPart::memory:
        return gpu.memory_bytes_per_s.value > 0;
      case CalibrationPart::gather:
        return gpu.gather_efficiency.value > 0;
      case CalibrationPart::reduce:
        return gpu.reduce_efficiency.value > 0;
      case CalibrationPart::update:
        return gpu.update_efficiency.value > 0;
      case CalibrationPart::input:
        return gpu.input_efficiency.value > 0;
      case CalibrationPart::gemm:
        return gpu.gemm_efficiency.value > 0;
      case CalibrationPart::exchange:
        return exchanged;
    }
    return true;
  };
  std::vector<std::string> missing;
  for (const CalibrationPart part : wanted)
    if (!seen(part)) missing.emplace_back(to_string(part));
  return missing;
}

Result<storage::CalibrationFile> measured_file(const CalibrateOptions& options,
                                               const Topology& topology) {
  const auto parts = parts_of(options);
  if (!parts) return fail(parts.error());
  ConsoleWatch watch("calibrate");
  const Result<MeasuredMachine> measured =
      measure_machine({topology, *parts, options.budget_s, options.seed}, watch);
  watch.finish();
  if (!measured) return fail(measured.error());
  const Machine machine = this_machine();
  MachineFit fit = fit_machine(topology, measured->times,
                               fmt::format("calibrate on {} ({}), {}/{}", machine.host, machine.cpu,
                                           options.backend, options.comm),
                               today_utc(), /*one_link=*/true);
  storage::CalibrationFile file;
  file.missing = missing_parts(fit, *parts);
  file.calibration = std::move(fit.calibration);
  file.calibration.name = machine.host;
  file.calibration.backend = options.backend;
  file.calibration.environment = environment_json(machine);
  file.topology = topology.name;
  file.comm = options.comm;
  file.ranks = topology.ranks();
  file.interrupted = measured->interrupted;
  file.refused = std::move(fit.refused);
  file.refused.insert(file.refused.end(), measured->failed.begin(), measured->failed.end());
  file.times = std::move(fit.times);
  file.collectives = measured->times.collectives;
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
