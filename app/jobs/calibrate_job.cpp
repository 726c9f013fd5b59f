#include "app/jobs/calibrate_job.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/calibration_run.hpp"
#include "app/machine.hpp"
#include "app/text_table.hpp"
#include "app/values.hpp"
#include "layout/models.hpp"

namespace shardscope::app {
namespace {

constexpr std::int32_t kMostMeasuredRanks = 64;

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

}  // namespace

Result<std::vector<CalibrationPart>> calibration_parts_of(const std::vector<std::string>& names) {
  std::vector<CalibrationPart> parts;
  for (const std::string& name : names) {
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

Result<CalibrateJob> calibrate_job(const std::string& backend, const std::string& comm,
                                   const std::string& parts) {
  const auto kind = parse_comm(backend, comm);
  if (!kind) return fail(kind.error());
  if (backend != "cpu") {
    return fail({ErrorKind::usage, "only this host's cpu is measured so far",
                 fmt::format("--backend {}", backend), "cpu",
                 "Fit a GPU's constants to its traces or to nccl-tests with --from"});
  }
  if (*kind == engine::CommKind::loopback) {
    return fail({ErrorKind::usage, "loopback's wires are a model: there is nothing to measure",
                 "--comm loopback", "threads", ""});
  }
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < parts.size();) {
    const std::size_t end = std::min(parts.find(',', begin), parts.size());
    names.push_back(parts.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto asked = calibration_parts_of(names);
  if (!asked) return fail(asked.error());
  CalibrateJob job;
  job.parts = *asked;
  job.backend = backend;
  job.comm = comm;
  return job;
}

Status require_measurable(const Topology& topology) {
  if (topology.gpu.name != topology_by_name("host-cpu")->gpu.name) {
    return fail({ErrorKind::usage,
                 fmt::format("the cpu backend measures this host, not {} with {}", topology.name,
                             topology.gpu.name),
                 "--topology", "host-cpu[:HOSTSxRANKS]",
                 "Fit that machine's constants to its traces or to nccl-tests with --from"});
  }
  if (topology.ranks() < 2 || topology.ranks() > kMostMeasuredRanks) {
    return fail({ErrorKind::usage,
                 fmt::format("{} cannot be measured", counted(topology.ranks(), "rank")), "--ranks",
                 fmt::format("2 to {}", kMostMeasuredRanks), ""});
  }
  return {};
}

Result<storage::CalibrationFile> run_calibration(const CalibrateJob& job, JobWatch& watch) {
  const Result<MeasuredMachine> measured =
      measure_machine({job.topology, job.parts, job.budget_s, job.seed}, watch);
  if (!measured) return fail(measured.error());
  const Machine machine = this_machine();
  MachineFit fit = fit_machine(
      job.topology, measured->times,
      fmt::format("calibrate on {} ({}), {}/{}", machine.host, machine.cpu, job.backend, job.comm),
      today_utc(), /*one_link=*/true);
  storage::CalibrationFile file;
  file.missing = missing_parts(fit, job.parts);
  file.calibration = std::move(fit.calibration);
  file.calibration.name = machine.host;
  file.calibration.backend = job.backend;
  file.calibration.environment = environment_json(machine);
  file.topology = job.topology.name;
  file.comm = job.comm;
  file.ranks = job.topology.ranks();
  file.interrupted = measured->interrupted;
  file.refused = std::move(fit.refused);
  file.refused.insert(file.refused.end(), measured->failed.begin(), measured->failed.end());
  file.times = std::move(fit.times);
  file.collectives = measured->times.collectives;
  return file;
}

}  // namespace shardscope::app
