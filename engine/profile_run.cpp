#include "engine/profile_run.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "engine/block_length.hpp"
#include "engine/work_clock.hpp"
#include "profiler/draw.hpp"

namespace shardscope::engine {
namespace {

constexpr std::int32_t kGroup = 8;  ///< blocks; one of them is traced
constexpr double kBlockSeconds = 0.1;
constexpr double kWarmUpSeconds = 0.5;
constexpr double kRoomForWarmUp = 0.25;    ///< of the budget
constexpr std::int64_t kGroupsWanted = 8;  ///< enough for an interval of the overhead
constexpr double kAlpha = 0.05;

double mean(const std::vector<double>& values) {
  return values.empty() ? 0
                        : std::accumulate(values.begin(), values.end(), 0.0) /
                              static_cast<double>(values.size());
}

/// Collects blocks group by group and turns them into the outcome.
class Measurement {
 public:
  void add(const TimedBlock& block) {
    const double block_ms = mean(block.iteration_ms);
    loss_ = block.losses.empty() ? 0 : block.losses.back();
    if (block.use == BlockUse::traced) {
      traced_iterations_ += static_cast<std::int64_t>(block.iteration_ms.size());
      traced_ms_ = block_ms;
    } else {
      block_ms_.push_back(block_ms);
      group_ms_.push_back(block_ms);
      iterations_ += static_cast<std::int64_t>(block.iteration_ms.size());
      critical_.insert(critical_.end(), block.critical_path_ms.begin(),
                       block.critical_path_ms.end());
    }
  }

  void end_group() {
    if (traced_ms_ > 0 && !group_ms_.empty()) {
      log_overheads_.push_back(std::log(traced_ms_ / mean(group_ms_)));
    }
    traced_ms_ = 0;
    group_ms_.clear();
  }

  [[nodiscard]] bool empty() const { return block_ms_.empty(); }
  [[nodiscard]] bool has_traced() const { return traced_iterations_ > 0; }
  [[nodiscard]] std::int64_t iterations() const { return iterations_; }
  [[nodiscard]] double iteration_ms() const { return mean(block_ms_); }

  [[nodiscard]] ProfileOutcome outcome(std::int64_t global_batch) const {
    ProfileOutcome outcome;
    outcome.iteration_ms = iteration_ms();
    outcome.fastest_block_ms = *std::min_element(block_ms_.begin(), block_ms_.end());
    outcome.slowest_block_ms = *std::max_element(block_ms_.begin(), block_ms_.end());
    outcome.samples_per_s = static_cast<double>(global_batch) / outcome.iteration_ms * 1e3;
    outcome.critical_path_ms = mean(critical_);
    outcome.loss = loss_;
    outcome.iterations = iterations_;
    outcome.traced_iterations = traced_iterations_;
    if (const auto logs = signed_rank_interval(log_overheads_, kAlpha)) {
      outcome.tracing_overhead = Interval{std::expm1(logs->estimate), std::expm1(logs->low),
                                          std::expm1(logs->high), logs->confidence};
    }
    return outcome;
  }

 private:
  std::vector<double> block_ms_;  ///< untraced
  std::vector<double> group_ms_;  ///< untraced blocks of the present group
  double traced_ms_ = 0;          ///< of the present group; 0: not yet
  std::vector<double> log_overheads_;
  std::vector<double> critical_;
  std::int64_t iterations_ = 0;
  std::int64_t traced_iterations_ = 0;
  double loss_ = 0;
};

struct WarmUp {
  double iteration_s = 0;  ///< of this machine's time, at its end
  std::int64_t iterations = 0;
};

/// Two iterations and, where the budget has room for them, whole cycles of batches for a while.
Result<WarmUp> warm_up(Engine& engine, RunRecorder& recorder, const ProfileConfig& config,
                       const ProfileObserver& keep_going) {
  const std::int32_t cycle = engine.config().batches;
  const Result<TimedBlock> first = recorder.run_block(engine, 2, BlockUse::warm_up);
  if (!first) return fail(first.error());
  WarmUp warm{first->host_s(first->iteration_ms.back()), 2};
  if (!keep_going({0, first->iteration_ms.back(), 0})) return warm;
  if (config.iterations == 0 && warm.iteration_s * cycle > kRoomForWarmUp * config.budget_s) {
    return warm;
  }
  double spent_s = 0;
  do {
    const Result<TimedBlock> block = recorder.run_block(engine, cycle, BlockUse::warm_up);
    if (!block) return fail(block.error());
    const double iteration_ms = mean(block->iteration_ms);
    warm.iteration_s = block->host_s(iteration_ms);
    warm.iterations += cycle;
    spent_s += warm.iteration_s * cycle;
    if (!keep_going({0, iteration_ms, 0})) break;
  } while (spent_s < kWarmUpSeconds);
  return warm;
}

std::int32_t block_length(const ProfileConfig& config, double iteration_s, std::int32_t cycle) {
  if (config.iterations == 0) {
    const double wanted = std::min(kBlockSeconds, config.budget_s / (kGroup * kGroupsWanted));
    return block_iterations(iteration_s, wanted, cycle);
  }
  const auto wanted = static_cast<std::int32_t>(
      std::min<std::int64_t>(config.iterations / (kGroup * kGroupsWanted), 4096));
  return std::max(1, wanted >= cycle ? wanted / cycle * cycle : wanted);
}

/// Measured share of the whole, by iterations or by time.
class Goal {
 public:
  Goal(const ProfileConfig& config, const Measurement& measurement)
      : config_(config), measurement_(measurement) {}

  [[nodiscard]] double share() const {
    if (config_.iterations == 0) return clock_.seconds() / config_.budget_s;
    return static_cast<double>(measurement_.iterations()) / static_cast<double>(config_.iterations);
  }
  /// Asks the observer; the time it takes is nobody's.
  [[nodiscard]] bool keep_going(const ProfileObserver& observer) {
    const ProfileProgress now{share(), measurement_.iteration_ms(), measurement_.iterations()};
    return clock_.outside([&] { return observer(now); });
  }
  /// Iterations of the next block: no more than are left.
  [[nodiscard]] std::int32_t next_length(std::int32_t length) const {
    if (config_.iterations == 0) return length;
    return static_cast<std::int32_t>(
        std::min<std::int64_t>(length, config_.iterations - measurement_.iterations()));
  }

 private:
  const ProfileConfig& config_;
  const Measurement& measurement_;
  WorkClock clock_;
};

}  // namespace

Result<ProfileOutcome> profile_run(Engine& engine, RunRecorder& recorder,
                                   const ProfileConfig& config, const ProfileObserver& keep_going) {
  const Result<WarmUp> warm = warm_up(engine, recorder, config, keep_going);
  if (!warm) return fail(warm.error());
  const std::int32_t length = block_length(config, warm->iteration_s, engine.config().batches);
  Measurement measurement;
  Goal goal(config, measurement);
  bool stop = false;
  // What a block takes of the budget: none is begun that would end after it.
  const double step = config.iterations == 0 ? length * warm->iteration_s / config.budget_s : 0;
  // The traced block comes last where the run ends before the group's draw.
  for (std::int64_t index = 0; !stop; ++index) {
    const bool full = !measurement.empty() && goal.share() + step >= 1;
    if (full && measurement.has_traced()) break;
    const bool last = !measurement.empty() && goal.share() + 2 * step >= 1;
    const std::int64_t traced_at = drawn(config.seed, index / kGroup, kGroup);
    const bool traced = (last && !measurement.has_traced()) || index % kGroup == traced_at;
    const Result<TimedBlock> block =
        recorder.run_block(engine, traced ? length : goal.next_length(length),
                           traced ? BlockUse::traced : BlockUse::measured);
    stop = !goal.keep_going(keep_going);
    if (!block && (!stop || measurement.empty())) return fail(block.error());
    if (block) measurement.add(*block);
    if (index % kGroup == kGroup - 1) measurement.end_group();
  }
  if (measurement.empty()) {
    return fail({ErrorKind::runtime, "stopped before the first block was measured", "", "", ""});
  }
  ProfileOutcome outcome = measurement.outcome(engine.config().workload.global_batch);
  outcome.stages = recorder.profile();
  outcome.codecs = recorder.codecs();
  outcome.warm_up_iterations = warm->iterations;
  outcome.dropped_spans = recorder.dropped();
  outcome.interrupted = stop;
  return outcome;
}

}  // namespace shardscope::engine
