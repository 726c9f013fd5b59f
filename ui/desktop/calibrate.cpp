#include "ui/desktop/calibrate.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "layout/json.hpp"
#include "layout/models.hpp"
#include "planner/calibration_use.hpp"
#include "ui/desktop/run_control.hpp"
#include "ui/model/words.hpp"

namespace shardscope::ui {
namespace {

constexpr std::int32_t kFewestRanks = 2;
constexpr std::int32_t kMostRanks = 64;  // that one host is measured with

/// This host with the ranks of the runs, as far as that many can be measured.
Result<Topology> measured_topology(const Desktop& desktop) {
  Result<Topology> topology = local_topology(desktop);
  if (topology && topology->ranks() >= kFewestRanks && topology->ranks() <= kMostRanks) {
    return topology;
  }
  return topology_by_name("host-cpu:1x2");
}

}  // namespace

std::optional<TrustJudgement> calibration_wanted(const Desktop& desktop) {
  TrustJudgement judged = judge_trust(desktop.document->topology(), /*reader_paces=*/false);
  if (judged.ask.empty()) return std::nullopt;
  return judged;
}

std::string calibration_refusal(const Topology& topology) {
  if (is_cpu_host(topology)) return {};
  return fmt::format(
      "The engine measures the CPU of its host. Fit {} to its traces or to nccl-tests with\n"
      "shardscope calibrate --from, then open the file here (Ctrl+O).",
      topology.gpu.name);
}

bool host_unmeasured(const Desktop& desktop) {
  const Topology& topology = desktop.document->topology();
  if (is_cpu_host(topology)) return topology.gpu.gather_efficiency.origin != Origin::measured;
  return !desktop.host_calibration;
}

void start_calibration(Desktop& desktop) {
  if (desktop.engine != nullptr && desktop.engine->job() != nullptr) return;
  const auto topology = measured_topology(desktop);
  if (!topology) {
    desktop.tell(topology.error());
    return;
  }
  service::StartJob job;
  job.kind = service::JobKind::calibrate;
  job.workload_json = "{}";
  job.topology_json = to_json(*topology);
  if (Status started = engine_of(desktop).start_job({}, std::move(job)); !started) {
    desktop.tell(started.error());
  }
}

void finish_calibration(Desktop& desktop, const std::string& json) {
  const std::string path = new_data_path("calibration", ".json");
  const auto file = storage::calibration_from_json(json, "what the engine measured");
  if (!file) {
    desktop.tell(file.error());
    return;
  }
  std::ofstream out(path, std::ios::binary);
  out << json << '\n';
  out.close();
  if (!out) {
    desktop.tell(NoticeKind::warning,
                 fmt::format("What was measured is used, but {} cannot be written.", path));
  }
  if (desktop.document == nullptr) return;
  if (Status used = use_calibration(desktop, *file, path); !used) desktop.tell(used.error());
}

Status use_calibration(Desktop& desktop, const storage::CalibrationFile& file,
                       const std::string& place) {
  const Topology& topology = desktop.document->topology();
  const Status same = require_same_device(topology, file.calibration, file.topology, place);
  const bool of_host = file.calibration.gpu.name == topology_by_name("host-cpu")->gpu.name;
  if (!same && !of_host) return same;
  const std::string name = file.topology.empty() ? file.calibration.name : file.topology;
  const std::string written = std::filesystem::path(place).filename().string();
  if (of_host) desktop.host_calibration = file.calibration;
  if (!same) {
    desktop.tell(NoticeKind::note,
                 fmt::format("Runs on CPU ranks are now predicted with what was measured of {} "
                             "({}). {} keeps its own constants.",
                             name, written, topology.name));
    return {};
  }
  desktop.calibrate(file.calibration);
  desktop.tell(NoticeKind::note,
               fmt::format("Predictions now use what was measured of {} ({}).", name, written));
  return {};
}

}  // namespace shardscope::ui
