#include "engine/comparison_run.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/block_length.hpp"
#include "engine/trade_period.hpp"
#include "engine/work_clock.hpp"
#include "profiler/draw.hpp"

namespace shardscope::engine {
namespace {

constexpr std::int64_t kTracedOneIn = 8;  ///< pairs
constexpr double kMostBlockSeconds = 0.5;
constexpr double kLeastBlockSeconds = 0.05;
constexpr double kPairsWanted = 64;   ///< within the budget, where iterations are short
constexpr double kPairsAtLeast = 10;  ///< traced ones included
constexpr double kPairsForInterval = 6;
constexpr double kForgetting = 0.7;
constexpr std::int64_t kPairsWithinIterations = 16;
constexpr double kWarmUpShare = 0.1;  ///< of the budget, for a whole cycle of both sides

/// Sums of one side over its untraced blocks.
struct SideSums {
  double critical_ms = 0;
  std::int64_t critical_iterations = 0;
  std::int64_t iterations = 0;
};

class ComparisonRunner {
 public:
  ComparisonRunner(ComparisonSide a, ComparisonSide b, const ComparisonConfig& config,
                   const ComparisonObserver& keep_going)
      : sides_{a, b}, config_(config), keep_going_(keep_going), comparison_(config.rule) {}

  Result<ComparisonOutcome> run() {
    if (Status status = warm_up(); !status) return fail(status.error());
    plan_trades();
    StopReason reason = StopReason::budget;
    for (std::int64_t pair = 0; !stop_ && !used_up() && !(pair == 0 && hopeless()); ++pair) {
      const Result<bool> reached = run_pair(pair);
      if (!reached && !stop_) return fail(reached.error());
      if (!reached) break;
      if (*reached) {
        reason = StopReason::target;
        break;
      }
      if (Status status = trade_if_due(); !status) return fail(status.error());
    }
    if (stop_) reason = StopReason::interrupted;
    return outcome(reason);
  }

 private:
  [[nodiscard]] bool resident() const { return sides_[0].engine != sides_[1].engine; }
  [[nodiscard]] std::int32_t cycle() const { return sides_[0].engine->config().batches; }

  /// Runs one block of a side, its layout in place.
  Result<TimedBlock> run_block(int side, std::int32_t iterations, BlockUse use) {
    ComparisonSide& one = sides_[side];
    if (!resident() && present_ != side) {
      const double start_s = clock_.seconds();
      if (Status status = one.engine->apply(*one.layout); !status) return fail(status.error());
      swap_s_ += clock_.seconds() - start_s;
    }
    present_ = side;
    Result<TimedBlock> block = one.recorder->run_block(*one.engine, iterations, use);
    const ComparisonProgress now{share(), comparison_.pairs(), comparison_.running()};
    stop_ = !clock_.outside([&] { return keep_going_(now); });
    return block;
  }

  /// A pair that would end after the budget is not begun.
  [[nodiscard]] bool used_up() const {
    return clock_.seconds() + pair_s_ >= config_.budget_s ||
           (config_.iterations > 0 && sums_[0].iterations >= config_.iterations);
  }

  /// Whether the second block of a pair would end after the budget: the first was slow.
  [[nodiscard]] bool out_of_time(double block_s) const {
    return clock_.seconds() + block_s > config_.budget_s;
  }

  /// The next pair takes as long as the last, or nearly as long as a slow one before it.
  void expect(double pair_s) { pair_s_ = std::max(pair_s, kForgetting * pair_s_); }

  /// Whether even half the time that an interval's pairs seem to take is more than there is.
  [[nodiscard]] bool hopeless() const {
    return clock_.seconds() + 0.5 * kPairsForInterval * pair_s_ > config_.budget_s;
  }

  void plan_trades() {
    const bool possible = resident() && sides_[0].layout != nullptr && sides_[1].layout != nullptr;
    // Each emulated engine has a virtual clock of its own, which a run cannot change.
    const bool emulated = sides_[0].engine->config().comm == CommKind::loopback;
    if (!possible || emulated || config_.trade_s <= 0) return;
    period_ = trade_period(config_.trade_s, pair_s_, config_.budget_s - clock_.seconds());
    next_trade_ = period_ / 2;
  }

  /// After half a period, then after whole ones, so that at its multiples each layout has run
  /// equally often on either engine.
  Status trade_if_due() {
    if (period_ == 0 || comparison_.pairs() < next_trade_) return {};
    next_trade_ += period_;
    const double start_s = clock_.seconds();
    std::swap(sides_[0].engine, sides_[1].engine);
    for (ComparisonSide& side : sides_) {
      if (Status status = side.engine->apply(*side.layout); !status) return status;
    }
    swap_s_ += clock_.seconds() - start_s;
    ++trades_;
    for (int side = 0; side < 2 && !stop_; ++side) {
      const Result<TimedBlock> block = run_block(side, 2, BlockUse::warm_up);
      if (!block) return fail(block.error());
    }
    return {};
  }

  /// Way to the end: by time, or by width where the interval shrinks faster.
  [[nodiscard]] double share() const {
    const double by_time = clock_.seconds() / config_.budget_s;
    const std::optional<Interval> running = comparison_.running();
    if (!running || config_.rule.target <= 0 || running->half_width() <= 0) return by_time;
    const double by_width = std::pow(config_.rule.target / running->half_width(), 2);
    return std::max(by_time, std::min(by_width, 0.99));
  }

  /// Runs both sides until their times can be told: two iterations each (the first fills the
  /// pipeline), then a whole cycle of batches where the budget has room for it.
  Status warm_up() {
    double slowest_s = 0;
    for (const std::int32_t iterations : {2, cycle() + 1}) {
      const double expected_s = 2.0 * iterations * slowest_s;
      if (expected_s > kWarmUpShare * config_.budget_s) break;
      slowest_s = 0;
      for (int side = 0; side < 2; ++side) {
        const Result<TimedBlock> block = run_block(side, iterations, BlockUse::warm_up);
        if (!block) return fail(block.error());
        if (stop_) return fail(stopped_early());
        const double settled_ms = settle(block->iteration_ms, cycle()).mean_ms;
        slowest_s = std::max(slowest_s, block->host_s(settled_ms));
      }
    }
    const double target_s =
        std::clamp(config_.budget_s / (2 * kPairsWanted), kLeastBlockSeconds, kMostBlockSeconds);
    std::int32_t kept = block_iterations(slowest_s, target_s, cycle());
    // Slow iterations: shorter blocks, so that enough pairs for an interval fit what is left.
    const double left_s = std::max(config_.budget_s - clock_.seconds(), 0.0);
    const double affordable = left_s / (2 * kPairsAtLeast * std::max(slowest_s, 1e-9)) - 1;
    kept = static_cast<std::int32_t>(std::clamp<double>(affordable, 1, kept));
    if (kept > cycle()) kept = kept / cycle() * cycle();
    if (config_.iterations > 0) {
      kept = static_cast<std::int32_t>(
          std::clamp<std::int64_t>(config_.iterations / kPairsWithinIterations, 1, kept));
    }
    length_ = kept + 1;  // the first after a switch is always dropped
    pair_s_ = 2 * length_ * slowest_s;
    return {};
  }

  [[nodiscard]] static Error stopped_early() {
    return {ErrorKind::runtime, "stopped before anything was measured", "", "", ""};
  }

  /// One block of each side in drawn order; true where the rule says stop.
  Result<bool> run_pair(std::int64_t pair) {
    const std::int64_t group = pair / kTracedOneIn;
    const bool traced = pair % kTracedOneIn == drawn(~config_.seed, group, kTracedOneIn);
    const BlockUse use = traced ? BlockUse::traced : BlockUse::measured;
    const int first = b_runs_first(config_.seed, pair) ? 1 : 0;
    double mean_ms[2] = {0, 0};
    const double start_s = clock_.seconds();
    for (const int side : {first, 1 - first}) {
      const Result<TimedBlock> block = run_block(side, length_, use);
      if (!block) return fail(block.error());
      const BlockTimes times = settle(block->iteration_ms, cycle());
      mean_ms[side] = times.mean_ms;
      dropped_ += times.dropped;
      if (!traced) add(sums_[side], *block, times);
      const double block_s = clock_.seconds() - start_s;
      if (side == first && (stop_ || out_of_time(block_s))) {
        expect(2 * block_s);
        return false;
      }
    }
    expect(clock_.seconds() - start_s);
    if (traced) {
      ++traced_pairs_;
      return false;
    }
    return comparison_.add(mean_ms[0], mean_ms[1]);
  }

  static void add(SideSums& sums, const TimedBlock& block, const BlockTimes& times) {
    sums.iterations += times.kept;
    const auto& critical = block.critical_path_ms;
    const auto kept = std::min<std::size_t>(critical.size(), static_cast<std::size_t>(times.kept));
    sums.critical_ms +=
        std::accumulate(critical.end() - static_cast<std::ptrdiff_t>(kept), critical.end(), 0.0);
    sums.critical_iterations += static_cast<std::int64_t>(kept);
  }

  [[nodiscard]] SideOutcome side_outcome(int side, double iteration_ms) {
    const SideSums& sums = sums_[side];
    SideOutcome outcome;
    outcome.iteration_ms = iteration_ms;
    const auto batch = static_cast<double>(sides_[side].engine->config().workload.global_batch);
    outcome.samples_per_s = iteration_ms > 0 ? batch / iteration_ms * 1e3 : 0;
    outcome.critical_path_ms =
        sums.critical_iterations > 0
            ? sums.critical_ms / static_cast<double>(sums.critical_iterations)
            : 0;
    outcome.stages = sides_[side].recorder->profile();
    outcome.iterations = sums.iterations;
    return outcome;
  }

  [[nodiscard]] ComparisonOutcome outcome(StopReason reason) {
    ComparisonOutcome outcome;
    outcome.ratio = comparison_.result(reason);
    outcome.a = side_outcome(0, comparison_.a_ms());
    outcome.b = side_outcome(1, comparison_.b_ms());
    outcome.block_iterations = length_;
    outcome.traced_pairs = traced_pairs_;
    outcome.dropped_iterations = dropped_;
    outcome.resident = resident();
    outcome.trades = trades_;
    outcome.swap_s = swap_s_;
    outcome.pair_s = pair_s_;
    return outcome;
  }

  ComparisonSide sides_[2];
  const ComparisonConfig& config_;
  const ComparisonObserver& keep_going_;
  Comparison comparison_;
  WorkClock clock_;
  double pair_s_ = 0;        ///< expected of the next
  std::int64_t period_ = 0;  ///< untraced pairs between trades; 0: none
  std::int64_t next_trade_ = 0;
  std::int64_t trades_ = 0;
  int present_ = -1;  ///< side whose layout the shared engine has
  std::int32_t length_ = 1;
  SideSums sums_[2];
  std::int64_t traced_pairs_ = 0;
  std::int64_t dropped_ = 0;
  double swap_s_ = 0;
  bool stop_ = false;
};

}  // namespace

Result<ComparisonOutcome> comparison_run(ComparisonSide a, ComparisonSide b,
                                         const ComparisonConfig& config,
                                         const ComparisonObserver& keep_going) {
  return ComparisonRunner(a, b, config, keep_going).run();
}

}  // namespace shardscope::engine
