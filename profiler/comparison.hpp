#pragma once
// Which of two layouts is faster, and how sure that is. Pure statistics over block times; running
// the blocks is engine/comparison_run.
//
// Blocks of A and B alternate in pairs whose order is drawn from the seed. The difference of a pair
// is log(time of A / time of B): drift moves both blocks, and the drawn order makes what is left
// symmetric about the true log ratio, whatever the noise's shape or autocorrelation. That is all
// the signed-rank interval needs. Looks at the result are preset; the rule of stopping sees the
// interval's width, never on which side of 1 it lies.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/signed_rank.hpp"

namespace shardscope {

/// True where block B of that pair runs before block A. A fair draw from (seed, pair).
[[nodiscard]] bool b_runs_first(std::uint64_t seed, std::int64_t pair);

/// One block as it ran: iteration times in order of execution.
struct BlockTimes {
  double mean_ms = 0;  ///< of the iterations kept
  std::int64_t kept = 0;
  std::int64_t dropped = 0;  ///< settling after the switch
};

/// Iterations at the start that are still settling: at least the first (it fills the pipeline),
/// then all that are slower than every iteration of the block's second half; never more than half
/// of the block. A block of one iteration drops nothing.
[[nodiscard]] std::int64_t settling_iterations(std::span<const double> iteration_ms);

/// Mean over the settled iterations, cut to whole cycles of `cycle` batches where one fits, so that
/// every block averages the same batches.
[[nodiscard]] BlockTimes settle(std::span<const double> iteration_ms, std::int64_t cycle);

/// When to stop.
struct StopRule {
  /// Half width of the ratio's interval to reach, as a share (0.01 is 1 %); 0: no target.
  double target = 0;
  std::int64_t maximum_pairs = 0;  ///< 0: no limit (the budget of time ends it)
  double confidence = 0.95;
};

/// Numbers of pairs at which the interval is looked at: 8, 12, 16, 24, 32, 48, 64, ...
[[nodiscard]] bool is_look(std::int64_t pairs);

/// Why a comparison ended.
enum class StopReason : std::uint8_t {
  target,       ///< the interval is as narrow as asked, at a preset look
  budget,       ///< time or pairs are used up
  interrupted,  ///< a person stopped it, perhaps because of what they saw
};

[[nodiscard]] const char* to_string(StopReason value);

/// Throughput of B / throughput of A.
struct RatioResult {
  Interval ratio;
  StopReason reason = StopReason::budget;
  std::int64_t pairs = 0;
  std::int64_t looks = 0;  ///< at which the rule was asked
  bool target_reached = false;
};

/// Collects pairs and applies the rule.
class Comparison {
 public:
  explicit Comparison(StopRule rule) : rule_(rule) {}

  /// Adds one pair; returns true where the rule says stop.
  bool add(double a_ms, double b_ms);

  [[nodiscard]] std::int64_t pairs() const { return static_cast<std::int64_t>(a_ms_.size()); }
  /// Median block means so far; 0 without pairs.
  [[nodiscard]] double a_ms() const;
  [[nodiscard]] double b_ms() const;

  /// Interval that holds at any moment a person may choose to look: its share of the error is
  /// alpha / (k (k + 1)) at the k-th look and stays spent. Empty below 8 pairs.
  [[nodiscard]] std::optional<Interval> running() const { return running_; }

  /// The result for that reason: `interrupted` gives the running interval of the last look, which
  /// covers whatever made the person stop; the others the interval at the present pairs. Empty
  /// where too few pairs ran.
  [[nodiscard]] std::optional<RatioResult> result(StopReason reason) const;

 private:
  /// Error allowed to the final interval: less than 1 - confidence under a target.
  [[nodiscard]] double stopping_alpha() const;
  [[nodiscard]] std::optional<Interval> interval(double alpha) const;

  StopRule rule_;
  std::vector<double> a_ms_;
  std::vector<double> b_ms_;
  std::vector<double> log_ratios_;
  std::int64_t looks_ = 0;
  std::optional<Interval> running_;
};

}  // namespace shardscope
