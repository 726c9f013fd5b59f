#include "engine/calibration/stage_timer.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "profiler/forgetting_sink.hpp"
#include "profiler/recorder.hpp"
#include "profiler/stage_times.hpp"

namespace shardscope::engine {
namespace {

std::size_t stage_index(Stage stage) {
  return static_cast<std::size_t>(stage);
}

double seconds_of(const StageTotals& totals, StageClock clock) {
  const std::int64_t ns = clock == StageClock::thread_cpu ? totals.busy_ns : totals.total_ns;
  return static_cast<double>(ns) * 1e-9;
}

}  // namespace

/// Adds a block's spans up and keeps nothing else.
class StageTimer::Sink final : public ForgettingSink {
 public:
  void spans(std::int64_t /*run*/, std::span<const Span> batch) override {
    for (const Span& span : batch) sum_.add(span);
  }
  void dropped(std::int64_t /*run*/, std::int64_t count) override { dropped_ += count; }

  /// The sums so far; counting begins anew.
  [[nodiscard]] StageSum take() { return std::exchange(sum_, StageSum()); }
  [[nodiscard]] std::int64_t dropped() const { return dropped_; }

 private:
  StageSum sum_;
  std::int64_t dropped_ = 0;
};

double StageBlock::mean_s(Stage stage) const {
  double sum = 0;
  for (const auto& rank : rank_s) sum += rank[stage_index(stage)];
  return rank_s.empty() ? 0 : sum / static_cast<double>(rank_s.size());
}

StageTimer::StageTimer(Engine& engine, StageClock clock)
    : engine_(engine), clock_(clock), sink_(std::make_unique<Sink>()) {
  const EngineConfig& config = engine.config();
  RecorderConfig rings;
  rings.ranks = config.topology.ranks();
  rings.streams =
      make_schedule(config.schedule, presence_of(config.workload, config.layout)).streams;
  rings.epoch_ns = engine.epoch_ns();
  recorder_ = std::make_unique<Recorder>(*sink_, 1, rings);
}

StageTimer::~StageTimer() = default;

Result<StageBlock> StageTimer::run_block(std::int32_t iterations) {
  const std::int64_t dropped = sink_->dropped();
  const Result<Block> block = engine_.run(iterations, recorder_.get());
  if (!block) return fail(block.error());
  recorder_->flush();
  const StageSum sum = sink_->take();
  if (sink_->dropped() != dropped) {
    return fail({ErrorKind::runtime, "spans of a timed block were lost", "", "",
                 "Time shorter blocks, or leave the machine more idle"});
  }
  StageBlock timed;
  timed.rank_s.resize(static_cast<std::size_t>(engine_.config().topology.ranks()));
  std::map<std::pair<Stage, Work>, double> slowest;
  for (const StageTotals& totals : sum.totals()) {
    const double seconds = seconds_of(totals, clock_) / iterations;
    timed.rank_s[static_cast<std::size_t>(totals.rank)][stage_index(totals.stage)] += seconds;
    double& most = slowest[{totals.stage, totals.work}];
    most = std::max(most, seconds);
  }
  for (const auto& [step, seconds] : slowest) {
    timed.slowest_s[stage_index(step.first)] += seconds;
    timed.iteration_s += seconds;
  }
  return timed;
}

}  // namespace shardscope::engine
