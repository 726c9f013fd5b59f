#include "app/calibration_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "app/text_table.hpp"
#include "engine/batches/batch.hpp"
#include "engine/calibration/collective_times.hpp"
#include "engine/calibration/copy_rate.hpp"
#include "engine/calibration/stage_timer.hpp"
#include "engine/comm/threads.hpp"
#include "engine/engine.hpp"
#include "profiler/median.hpp"

namespace shardscope::app {
namespace {

using engine::Collective;

constexpr std::int64_t kCopiedBytes = std::int64_t{64} << 20;
constexpr std::int32_t kCopies = 7;
constexpr std::int32_t kLeastBlocks = 3;
constexpr std::int32_t kMostBlocks = 40;
constexpr std::int32_t kWarmUpIterations = 2;

/// Bytes to each peer (all_reduce: of the buffer), small to large.
constexpr std::int64_t kExchangedBytes[] = {64,        1 << 10, 8 << 10, 64 << 10,
                                            512 << 10, 4 << 20, 16 << 20};
constexpr std::int64_t kReducedBytes[] = {1 << 10, 64 << 10, 1 << 20, 16 << 20};
constexpr std::int64_t kCountBytes[] = {8, 1 << 10, 16 << 10};

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class MachineMeasurement {
 public:
  MachineMeasurement(const CalibrationRequest& request, JobWatch& watch)
      : request_(request), watch_(watch), ops_(engine::make_cpu_ops()) {
    result_.times.ranks = request.topology.ranks();
    result_.times.parts = request.parts;
  }

  Result<MeasuredMachine> run() {
    plan();
    std::optional<Error> first;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (watch_.stop_requested()) {
        result_.interrupted = true;
        break;
      }
      watch_.progress(static_cast<double>(i) / static_cast<double>(jobs_.size()), jobs_[i].what);
      const Status done = jobs_[i].measure();
      if (done || watch_.stop_requested()) continue;
      result_.failed.push_back(fmt::format("{}: {}", jobs_[i].what, to_string(done.error())));
      if (!first) first = done.error();
    }
    const MachineTimes& times = result_.times;
    const bool nothing =
        times.copy_bytes_per_s <= 0 && times.probes.empty() && times.collectives.empty();
    if (!nothing) return std::move(result_);
    if (first) return fail(*first);
    return fail({ErrorKind::runtime, "stopped before anything was measured", "calibrate", "", ""});
  }

 private:
  struct Job {
    std::string what;
    std::function<Status()> measure;
  };

  [[nodiscard]] bool asked(CalibrationPart part) const {
    return std::find(request_.parts.begin(), request_.parts.end(), part) != request_.parts.end();
  }

  void plan() {
    const bool only_exchange = request_.parts == std::vector{CalibrationPart::exchange};
    if (!only_exchange) jobs_.push_back({"copies", [this] { return copies(); }});
    if (asked(CalibrationPart::exchange)) plan_collectives();
    const bool embeddings = asked(CalibrationPart::gather) || asked(CalibrationPart::reduce) ||
                            asked(CalibrationPart::update) || asked(CalibrationPart::input);
    for (const Probe& probe : calibration_probes(request_.topology.ranks())) {
      if (!(probe.dense ? asked(CalibrationPart::gemm) : embeddings)) continue;
      jobs_.push_back({probe.name, [this, probe] { return time_probe(probe); }});
    }
  }

  void plan_collectives() {
    const auto add = [this](Collective collective, std::int64_t bytes) {
      const std::string what =
          fmt::format("{} {}", to_string(collective), bytes_text(static_cast<double>(bytes)));
      jobs_.push_back({what, [=, this] { return time_exchange(collective, bytes); }});
    };
    for (const std::int64_t bytes : kExchangedBytes) add(Collective::alltoall, bytes);
    for (const std::int64_t bytes : kReducedBytes) add(Collective::all_reduce, bytes);
    for (const std::int64_t bytes : kCountBytes) add(Collective::counts, bytes);
  }

  Status copies() {
    const auto rate =
        engine::copy_bytes_per_s(*ops_, engine::cpu_rank_device(engine::StreamMode::threaded),
                                 kCopiedBytes, kCopies, engine::StageClock::thread_cpu);
    if (!rate) return fail(rate.error());
    result_.times.copy_bytes_per_s = *rate;
    return {};
  }

  Status time_exchange(Collective collective, std::int64_t bytes) {
    const auto fabric = engine::ThreadsFabric::create(request_.topology, 1);
    if (!fabric) return fail(fabric.error());
    engine::CollectiveRequest request{collective, bytes, 1};
    request.calls = bytes >= (1 << 20) ? 9 : 51;
    const std::int32_t ranks = request_.topology.ranks();
    const auto seconds =
        engine::time_collective(**fabric, ranks, engine::cpu_rank_device((*fabric)->stream_mode()),
                                request, engine::StageClock::thread_cpu);
    if (!seconds) return fail(seconds.error());
    result_.times.collectives.push_back({to_string(collective), static_cast<double>(bytes),
                                         engine::received_bytes(request, ranks), *seconds});
    return {};
  }

  Status time_probe(const Probe& probe) {
    auto source =
        engine::make_batch_source(probe.workload, request_.seed, engine::RangePolicy::wrap);
    if (!source) return fail(source.error());
    engine::EngineConfig config;
    config.workload = probe.workload;
    config.topology = request_.topology;
    config.layout = probe.layout;
    config.seed = request_.seed;
    auto run = engine::Engine::create(std::move(config), std::move(*source));
    if (!run) return fail(run.error());
    const LateAction abort(watch_, [&] { (*run)->abort(stopped_by_the_user()); });
    engine::StageTimer timer(**run, engine::StageClock::thread_cpu);
    const std::int32_t cycle = (*run)->config().batches;
    for (std::int32_t i = 0; i < kWarmUpIterations; ++i) {
      if (const auto warm = timer.run_block(cycle); !warm) return fail(warm.error());
    }
    std::array<std::vector<double>, kStages> seconds;
    const double until = now_s() + request_.budget_s / static_cast<double>(jobs_.size());
    for (std::int32_t b = 0; b < kMostBlocks && (b < kLeastBlocks || now_s() < until); ++b) {
      const auto block = timer.run_block(cycle);
      if (!block) return fail(block.error());
      for (std::size_t s = 0; s < seconds.size(); ++s)
        seconds[s].push_back(block->mean_s(static_cast<Stage>(s)));
      if (watch_.stop_requested()) break;
    }
    TimedProbe timed{probe, {}};
    for (std::size_t s = 0; s < seconds.size(); ++s) {
      const double typical = median(seconds[s]);
      if (typical <= 0 || !timed_by(probe, static_cast<Stage>(s))) continue;
      timed.stages.push_back({static_cast<Stage>(s), typical});
    }
    result_.times.probes.push_back(std::move(timed));
    return {};
  }

  /// A dense probe's small table says nothing of tables, and what is not asked for is not fitted.
  [[nodiscard]] bool timed_by(const Probe& probe, Stage stage) const {
    return std::any_of(request_.parts.begin(), request_.parts.end(), [&](CalibrationPart part) {
      if ((part == CalibrationPart::gemm) != probe.dense) return false;
      const std::vector<Stage> stages = stages_of(part);
      return std::find(stages.begin(), stages.end(), stage) != stages.end();
    });
  }

  const CalibrationRequest& request_;
  JobWatch& watch_;
  std::unique_ptr<engine::Ops> ops_;
  std::vector<Job> jobs_;
  MeasuredMachine result_;
};

}  // namespace

Result<MeasuredMachine> measure_machine(const CalibrationRequest& request, JobWatch& watch) {
  return MachineMeasurement(request, watch).run();
}

}  // namespace shardscope::app
