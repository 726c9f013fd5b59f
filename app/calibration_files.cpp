#include "app/calibration_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "app/import_report.hpp"
#include "app/inputs.hpp"
#include "app/interrupt.hpp"
#include "app/machine.hpp"
#include "app/progress.hpp"
#include "planner/cost_model.hpp"
#include "planner/executor_model.hpp"
#include "planner/fit.hpp"
#include "storage/import/import_files.hpp"
#include "storage/import/input_text.hpp"
#include "storage/import/nccl_tests.hpp"
#include "storage/import/trace/trace_times.hpp"
#include "storage/import/trace/trace_write.hpp"

namespace shardscope::app {
namespace {

constexpr const char* kLookupUnseen = "gather: the layout that ran is not known";
constexpr const char* kUpdateUnseen = "reduce and update: the layout that ran is not known";

/// What every source leaves open, and why.
std::vector<std::string> never_seen(bool trace) {
  if (trace) {
    return {"GEMM: shapes of the dense part are not in a trace",
            "index calculation: it cannot be told from the lookup's other kernels",
            "kernel launch and overlap: one schedule shows only their sum"};
  }
  return {"gather, reduce, update, GEMM, memory: nccl-tests times exchanges alone"};
}

/// Rings of all_reduce and its likes where no all-to-all was timed.
std::vector<CollectiveTime> best_exchanges(const std::vector<CollectiveTime>& times,
                                           std::vector<std::string>& missing) {
  const auto of = [&](const char* name) {
    std::vector<CollectiveTime> found;
    for (const CollectiveTime& time : times)
      if (time.collective == name) found.push_back(time);
    return found;
  };
  std::vector<CollectiveTime> found = of("alltoall");
  for (const char* ring : {"all_gather", "reduce_scatter", "all_reduce"}) {
    if (!found.empty()) break;
    found = of(ring);
    if (found.empty()) continue;
    missing.push_back(
        fmt::format("all-to-all: it was not timed; the rates of {} stand for it", ring));
    for (CollectiveTime& time : found) time.collective = "alltoall";
  }
  return found;
}

void keep_exchange(const Topology& topology, const std::vector<CollectiveTime>& times, bool inside,
                   const std::string& source, storage::CalibrationFile& file) {
  const std::vector<CollectiveTime> exchanges = best_exchanges(times, file.missing);
  const LinkModel& base = inside ? topology.intra : topology.inter;
  const LinkModel link = fitted_link(base, exchanges, source, today_utc(), file.refused);
  if (link.by_size.empty()) {
    file.missing.push_back("exchange: no size tells a rate");
    if (link.latency_s.origin == Origin::measured)
      (inside ? file.calibration.intra : file.calibration.inter).latency_s = link.latency_s;
    return;
  }
  (inside ? file.calibration.intra : file.calibration.inter) = link;
  for (const CollectiveTime& time : exchanges) {
    const auto peers =
        static_cast<std::int32_t>(std::lround(time.received_bytes / time.message_bytes));
    file.times.push_back({fmt::format("all-to-all {:.0f} B", time.message_bytes), "exchange",
                          time.seconds, link.seconds(time.received_bytes, std::max(peers, 1))});
  }
}

Status add_nccl_tests(const CalibrateOptions& options, const Topology& topology,
                      storage::CalibrationFile& file, storage::ImportNotes& notes) {
  std::map<bool, std::vector<CollectiveTime>> by_place;  // inside a fast domain or not
  for (const std::string& path : options.files) {
    storage::ImportNotes of_file(path);
    const auto text = storage::read_input_text(path, of_file);
    if (!text) return fail(text.error());
    const std::string name = std::filesystem::path(path).filename().string();
    const auto tests = storage::read_nccl_tests(*text, topology.ranks(), name, of_file);
    if (!tests) return fail(tests.error());
    notes.add(of_file);
    for (const storage::NcclTest& test : *tests) {
      const std::int32_t hosts_of_domain = topology.fast_domain / topology.gpus_per_host;
      const bool inside =
          test.ranks <= topology.fast_domain && test.hosts <= std::max(hosts_of_domain, 1);
      std::vector<CollectiveTime>& times = by_place[inside];
      times.insert(times.end(), test.times.begin(), test.times.end());
      file.ranks = std::max(file.ranks, test.ranks);
      file.collectives.insert(file.collectives.end(), test.times.begin(), test.times.end());
    }
  }
  for (const auto& [inside, times] : by_place)
    keep_exchange(topology, times, inside, "nccl-tests", file);
  if (by_place.size() == 1 && topology.domains() > 1) {
    file.missing.push_back(by_place.begin()->first ? "exchange between fast domains"
                                                   : "exchange inside a fast domain");
  }
  return {};
}

/// Efficiencies that make the layout's prediction agree with the stages of the trace.
class TraceFit {
 public:
  TraceFit(const storage::Imported& imported, const Topology& topology)
      : trace_(*imported.trace), plan_(imported.plans.front()), machine_(topology) {}

  Status run(const std::string& source, storage::CalibrationFile& file) {
    const PredictOptions how{.executor = plan_.executor,
                             .schedule = default_schedule(plan_.executor)};
    const bool fused = storage::has_fused_update(trace_);
    if (Status status = add(Stage::model_forward, {Stage::model_forward}, "lookup", how); !status)
      return status;
    const std::vector<Stage> reduction =
        fused ? std::vector{Stage::local_reduce, Stage::update} : std::vector{Stage::local_reduce};
    if (Status status =
            add(Stage::local_reduce, reduction, fused ? "reduce and update" : "reduce", how);
        !status)
      return status;
    if (points_.empty()) return {};
    const std::vector<FitParameter> parameters = {
        {"gather_efficiency", prior(machine_.gpu.gather_efficiency), 0.7, 1},
        {"reduce_efficiency", prior(machine_.gpu.reduce_efficiency), 0.7, 1}};
    const FitResult fitted = fit(parameters, points_, {.noise_log_sd = 0.1});
    Gpu& gpu = file.calibration.gpu;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (!seen_[i]) {
        file.missing.emplace_back(i == 0 ? "gather: no lookup was traced"
                                         : "reduce and update: no kernel was traced");
        continue;
      }
      if (misses(i, fitted)) {
        file.missing.push_back(fmt::format(
            "{}: the traced kernels take about as long as their launches", parameters[i].name));
        continue;
      }
      (i == 0 ? gpu.gather_efficiency : gpu.reduce_efficiency) = {
          fitted.values[i], Origin::measured, source, today_utc()};
      if (fitted.limited[i]) {
        file.refused.push_back(fmt::format(
            "{}: the trace asks for more than 1, which no memory gives; 1 is kept (what was read "
            "lay in a cache, or ids repeat more than the model assumes)",
            parameters[i].name));
      }
    }
    for (std::size_t p = 0; p < points_.size(); ++p) {
      file.times.push_back({names_[p].first, names_[p].second, points_[p].measured,
                            points_[p].measured * std::exp(fitted.log_residuals[p])});
    }
    return {};
  }

 private:
  /// Half of a parameter's points are off by more than a factor of 1.6: it is not what they show.
  [[nodiscard]] bool misses(std::size_t parameter, const FitResult& fitted) const {
    std::size_t points = 0, wrong = 0;
    for (std::size_t p = 0; p < points_.size(); ++p) {
      if ((names_[p].second == "lookup") != (parameter == 0)) continue;
      ++points;
      wrong += std::abs(fitted.log_residuals[p]) > 0.5 ? 1 : 0;
    }
    return 2 * wrong > points;
  }
  static double prior(const Quantity& share) { return share.value > 0 ? share.value : 0.5; }

  /// Every rank's seconds in `measured` against the sum of the predicted stages.
  Status add(Stage measured, const std::vector<Stage>& stages, const char* what,
             const PredictOptions& how) {
    const auto seconds = storage::stage_seconds(trace_);
    for (std::size_t rank = 0; rank < seconds.size(); ++rank) {
      const double here = seconds[rank][static_cast<std::size_t>(measured)];
      if (here <= 0) continue;
      const auto model = [this, stages, rank, how](const std::vector<double>& values) {
        return predicted(stages, rank, how, values);
      };
      if (model({prior(machine_.gpu.gather_efficiency), prior(machine_.gpu.reduce_efficiency)}) <=
          1e-12)
        continue;
      points_.push_back({here, 1, model});
      names_.emplace_back(fmt::format("rank {}", trace_.totals[rank].rank), what);
      seen_[measured == Stage::model_forward ? 0 : 1] = true;
    }
    return {};
  }

  [[nodiscard]] double predicted(const std::vector<Stage>& stages, std::size_t rank,
                                 const PredictOptions& how,
                                 const std::vector<double>& values) const {
    Topology machine = machine_;
    machine.gpu.gather_efficiency.value = values[0];
    machine.gpu.reduce_efficiency.value = values[1];
    machine.gpu.update_efficiency = {};
    const auto prediction = predict(*plan_.workload, machine, *plan_.layout, how);
    if (!prediction) return 0;
    double seconds = 0;
    for (const PredictedStage& stage : prediction->stages) {
      const bool wanted = stage.work != Work::dense &&
                          std::find(stages.begin(), stages.end(), stage.stage) != stages.end();
      if (wanted && rank < stage.rank_s.size()) seconds += stage.rank_s[rank];
    }
    return seconds;
  }

  const storage::ImportedTrace& trace_;
  const storage::ImportedPlan& plan_;
  Topology machine_;
  std::vector<FitPoint> points_;
  std::vector<std::pair<std::string, std::string>> names_;
  bool seen_[2] = {false, false};
};

Status add_traces(const CalibrateOptions& options, storage::ImportKind kind,
                  const Topology& topology, storage::CalibrationFile& file,
                  storage::ImportNotes& notes) {
  storage::KernelMap map = storage::built_in_kernel_map();
  if (!options.kernel_map.empty()) {
    const auto text = read_text_file(options.kernel_map);
    if (!text) return fail(text.error());
    auto own = storage::parse_kernel_map(*text, options.kernel_map);
    if (!own) return fail(own.error());
    map = std::move(*own);
  }
  Interrupt interrupt;
  Progress progress("calibrate");
  storage::ImportContext context;
  context.topology = topology;
  const auto imported = storage::import_files(kind, options.files, context, map, [&](double share) {
    progress.update(share, "reading");
    return !interrupt.requested();
  });
  progress.finish();
  if (!imported) return fail(imported.error());
  notes.add(imported->notes);
  const storage::ImportedTrace& trace = *imported->trace;
  file.ranks = trace.world_size;
  file.collectives = storage::exchange_times(trace);
  const std::string source = fmt::format("trace {}", options.files.front());
  keep_exchange(topology, file.collectives, trace.world_size <= topology.fast_domain, source, file);
  if (imported->plans.empty() || !imported->plans.front().layout) {
    file.missing.emplace_back(kLookupUnseen);
    file.missing.emplace_back(kUpdateUnseen);
    return {};
  }
  return TraceFit(*imported, topology).run(source, file);
}

}  // namespace

Result<Topology> topology_of_files(const CalibrateOptions& options) {
  if (options.from.empty()) {
    return fail({ErrorKind::usage, "files are given, but not what they are", "--from",
                 "kineto, nsys or nccl-tests", ""});
  }
  if (options.files.empty()) {
    return fail({ErrorKind::usage, "there is no file to fit", "--from " + options.from,
                 "one or more files", ""});
  }
  if (!options.only.empty()) {
    return fail({ErrorKind::usage, "files are fitted whole", "--only with --from", "",
                 "Leave --only out; it chooses what is measured here"});
  }
  if (options.topology.empty()) {
    return fail({ErrorKind::usage, "the files do not say which machine they are of", "--topology",
                 "NAME[:NODES[xGPUS]] or a file", "Name the machine that was measured"});
  }
  return load_topology(options.topology);
}

Result<storage::CalibrationFile> fitted_file(const CalibrateOptions& options,
                                             const Topology& topology) {
  const auto kind = storage::parse_import_kind(options.from);
  const bool trace = kind == storage::ImportKind::kineto || kind == storage::ImportKind::nsys;
  if (!trace && kind != storage::ImportKind::nccl_tests) {
    return fail({ErrorKind::usage, "nothing is fitted from '" + options.from + "'", "--from",
                 "kineto, nsys or nccl-tests", ""});
  }
  storage::CalibrationFile file;
  storage::ImportNotes notes;
  const Status added = trace ? add_traces(options, *kind, topology, file, notes)
                             : add_nccl_tests(options, topology, file, notes);
  fmt::print(stderr, "{}", import_notes_text(notes));
  if (!added) return fail(added.error());
  for (std::string& one : never_seen(trace)) file.missing.push_back(std::move(one));
  file.calibration.name = topology.name;
  file.calibration.backend = "cuda";
  file.calibration.gpu.name = topology.gpu.name;
  file.topology = topology.name;
  return file;
}

}  // namespace shardscope::app
