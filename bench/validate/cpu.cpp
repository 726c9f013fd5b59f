#include "bench/validate/cpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>

#include "app/calibration_run.hpp"
#include "app/machine.hpp"
#include "bench/validate/agreement.hpp"
#include "bench/validate/random_layout.hpp"
#include "engine/calibration/stage_timer.hpp"
#include "layout/models.hpp"
#include "planner/cost_model.hpp"
#include "storage/calibration_file.hpp"

namespace shardscope::bench {

namespace {

constexpr std::int32_t kRanks = 4;
constexpr double kBlockSeconds = 0.03;     ///< of thread CPU time a rank
constexpr double kStageOfInterest = 0.05;  ///< of the iteration

struct Settings {
  std::string calibration;
  int layouts = 30;
  int blocks = 9;
  std::uint64_t seed = 1;
  bool detail = false;
};

/// No progress, no interrupt.
class QuietWatch final : public app::JobWatch {
 public:
  void progress(double /*share*/, const std::string& /*detail*/) override {}
  [[nodiscard]] bool stop_requested() const override { return false; }
  void when_late(std::function<void()> /*action*/) override {}
};

/// One layout with its engine, times and prediction.
struct Contestant {
  Layout layout;
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<engine::StageTimer> timer;
  std::int32_t iterations = 4;
  std::vector<double> iteration_s;
  std::array<std::vector<double>, kStages> stage_s;
  double predicted_s = 0;
  std::array<double, kStages> predicted_stage_s{};
};

Result<Topology> calibrated_host(const Settings& settings) {
  Result<Topology> topology = topology_by_name(fmt::format("host-cpu:1x{}", kRanks));
  if (!topology) return topology;
  topology->gpu.memory_bytes.value = static_cast<double>(app::this_machine().memory_bytes) / kRanks;
  if (!settings.calibration.empty()) {
    std::ifstream in(settings.calibration, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const auto file = storage::calibration_from_json(text, settings.calibration);
    if (!file) return fail(file.error());
    return calibrated(*topology, file->calibration);
  }
  app::CalibrationRequest request;
  request.topology = *topology;
  for (int part = 0; part < kCalibrationParts; ++part)
    request.parts.push_back(static_cast<CalibrationPart>(part));
  QuietWatch watch;
  const auto measured = app::measure_machine(request, watch);
  if (!measured) return fail(measured.error());
  const MachineFit fit = fit_machine(*topology, measured->times, "bench/validate cpu", "", true);
  return calibrated(*topology, fit.calibration);
}

/// Three models that a small machine holds thirty times.
Result<std::vector<Workload>> models() {
  std::vector<Workload> models;
  const auto add = [&](const char* name, std::int64_t cap, std::int64_t batch,
                       bool dense) -> Status {
    Result<Workload> model = model_by_name(name);
    if (!model) return fail(model.error());
    *model = with_rows_cap(std::move(*model), cap);
    model->global_batch = batch;
    if (!dense) model->dense = DensePart{};
    models.push_back(std::move(*model));
    return {};
  };
  if (Status s = add("criteo-kaggle", 200'000, 8192, false); !s) return fail(s.error());
  if (Status s = add("dcnv2", 20'000, 1024, false); !s) return fail(s.error());
  if (Status s = add("merlin-tiny", 50'000, 2048, true); !s) return fail(s.error());
  return models;
}

Status prepare(Contestant& one, const Workload& workload, const Topology& topology,
               const std::shared_ptr<const engine::BatchSource>& source) {
  engine::EngineConfig config;
  config.workload = workload;
  config.topology = topology;
  config.layout = one.layout;
  auto engine = engine::Engine::create(std::move(config), source);
  if (!engine) return fail(engine.error());
  one.engine = std::move(*engine);
  one.timer = std::make_unique<engine::StageTimer>(*one.engine, engine::StageClock::thread_cpu);
  const std::int32_t cycle = one.engine->config().batches;
  for (int i = 0; i < 2; ++i) {
    const auto warm = one.timer->run_block(cycle);
    if (!warm) return fail(warm.error());
    const double wanted = std::ceil(kBlockSeconds / std::max(warm->iteration_s, 1e-6) / cycle);
    one.iterations = cycle * static_cast<std::int32_t>(std::clamp(wanted, 1.0, 64.0));
  }
  const auto prediction = predict(workload, topology, one.layout, {});
  if (!prediction) return fail(prediction.error());
  one.predicted_s = prediction->iteration_s;
  for (const PredictedStage& stage : prediction->stages)
    one.predicted_stage_s[static_cast<std::size_t>(stage.stage)] += stage.max_s;
  return {};
}

Status measure(std::vector<Contestant>& contestants, const Settings& settings) {
  std::vector<std::size_t> order(contestants.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937_64 random(settings.seed);
  for (int round = 0; round < settings.blocks; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) {
      Contestant& one = contestants[i];
      const auto block = one.timer->run_block(one.iterations);
      if (!block) return fail(block.error());
      one.iteration_s.push_back(block->iteration_s);
      for (std::size_t s = 0; s < one.stage_s.size(); ++s)
        one.stage_s[s].push_back(block->slowest_s[s]);
    }
  }
  return {};
}

void print_stages(const std::vector<Contestant>& contestants) {
  fmt::print("  {:<20} {:>8} {:>10} {:>10}  (layouts where it is above 5 %)\n", "stage", "layouts",
             "median", "mean sign");
  for (std::size_t s = 0; s < static_cast<std::size_t>(kStages); ++s) {
    std::vector<double> errors;
    double sign = 0;
    for (const Contestant& one : contestants) {
      const double measured = median_interval(one.stage_s[s]).median;
      if (measured < kStageOfInterest * median_interval(one.iteration_s).median) continue;
      const double error = one.predicted_stage_s[s] / measured - 1;
      errors.push_back(std::abs(error));
      sign += error;
    }
    if (errors.empty()) continue;
    const double median = median_interval(errors).median;
    fmt::print("  {:<20} {:>8} {:>8.1f} % {:>+8.1f} %  {}\n", to_string(static_cast<Stage>(s)),
               errors.size(), 100 * median, 100 * sign / static_cast<double>(errors.size()),
               median <= 0.2 ? "met" : "MISSED (20 %)");
  }
}

void print_detail(const std::vector<Contestant>& contestants) {
  for (const Contestant& one : contestants) {
    const MedianInterval measured = median_interval(one.iteration_s);
    fmt::print("  {:<12} measured {:8.3f} ({:8.3f} .. {:8.3f}) predicted {:8.3f} ms |",
               one.layout.name, measured.median * 1e3, measured.low * 1e3, measured.high * 1e3,
               one.predicted_s * 1e3);
    for (std::size_t s = 0; s < one.stage_s.size(); ++s)
      fmt::print(" {:.2f}/{:.2f}", one.predicted_stage_s[s] * 1e3,
                 median_interval(one.stage_s[s]).median * 1e3);
    fmt::print("\n");
  }
}

void print_agreement(const Workload& workload, const std::vector<Contestant>& contestants,
                     bool detail) {
  std::vector<double> predicted, errors;
  std::vector<MedianInterval> measured;
  double least = 1e300, most = 0;
  for (const Contestant& one : contestants) {
    predicted.push_back(one.predicted_s);
    measured.push_back(median_interval(one.iteration_s));
    errors.push_back(std::abs(one.predicted_s / measured.back().median - 1));
    least = std::min(least, measured.back().median);
    most = std::max(most, measured.back().median);
  }
  const RankAgreement agreement = rank_agreement(predicted, measured);
  const Regret lost = regret(predicted, measured);
  const auto verdict = [](bool met) { return met ? "met" : "MISSED"; };
  fmt::print("\n{}, {} tables, batch {}, {} layouts: {:.3f} to {:.3f} ms (factor {:.2f}, {})\n",
             workload.name, workload.tables.size(), workload.global_batch, contestants.size(),
             least * 1e3, most * 1e3, most / least, verdict(most >= 2 * least));
  fmt::print("  tau {:.3f} over {} of {} pairs that differ ({}, at least half: {})\n",
             agreement.tau, agreement.pairs, agreement.all_pairs, verdict(agreement.tau >= 0.8),
             verdict(2 * agreement.pairs >= agreement.all_pairs));
  fmt::print("  regret {:.1f} % +- {:.1f} % ({})\n", 100 * lost.share, 100 * lost.half_width,
             verdict(lost.share <= 0.05 + lost.half_width));
  fmt::print("  iteration: median error {:.1f} %\n", 100 * median_interval(errors).median);
  print_stages(contestants);
  if (detail) print_detail(contestants);
}

Status validate_model(const Workload& workload, const Topology& topology,
                      const Settings& settings) {
  auto made = engine::make_batch_source(workload, settings.seed, engine::RangePolicy::wrap);
  if (!made) return fail(made.error());
  const std::shared_ptr<const engine::BatchSource> source = std::move(*made);
  std::vector<Contestant> contestants(static_cast<std::size_t>(settings.layouts));
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    contestants[i].layout = random_layout(workload, topology, settings.seed * 100 + i);
    if (Status ready = prepare(contestants[i], workload, topology, source); !ready) return ready;
  }
  if (Status timed = measure(contestants, settings); !timed) return timed;
  print_agreement(workload, contestants, settings.detail);
  std::fflush(stdout);
  return {};
}

Status validate_all(const Settings& settings) {
  const Result<Topology> topology = calibrated_host(settings);
  if (!topology) return fail(topology.error());
  const auto workloads = models();
  if (!workloads) return fail(workloads.error());
  for (const Workload& workload : *workloads)
    if (Status done = validate_model(workload, *topology, settings); !done) return done;
  return {};
}

}  // namespace

int validate_cpu(const std::vector<std::string>& arguments) {
  Settings settings;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool more = i + 1 < arguments.size();
    if (arguments[i] == "--detail") {
      settings.detail = true;
    } else if (arguments[i] == "--calibration" && more) {
      settings.calibration = arguments[++i];
    } else if (arguments[i] == "--layouts" && more) {
      settings.layouts = std::max(2, std::atoi(arguments[++i].c_str()));
    } else if (arguments[i] == "--blocks" && more) {
      settings.blocks = std::max(5, std::atoi(arguments[++i].c_str()));
    } else if (arguments[i] == "--seed" && more) {
      settings.seed = std::strtoull(arguments[++i].c_str(), nullptr, 10);
    } else {
      fmt::print(stderr,
                 "usage: validate cpu [--calibration FILE] [--layouts N] [--blocks N] [--seed N] "
                 "[--detail]\n");
      return 1;
    }
  }
  const Status done = validate_all(settings);
  if (done) return 0;
  fmt::print(stderr, "validate: {}\n", to_string(done.error()));
  return exit_code(done.error().kind);
}

}  // namespace shardscope::bench
