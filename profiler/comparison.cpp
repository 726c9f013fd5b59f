#include "profiler/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "layout/invariant.hpp"
#include "profiler/draw.hpp"
#include "profiler/median.hpp"

namespace shardscope {
namespace {

constexpr std::int64_t kFirstLook = 8;

/// Stopping at the first look that happens to be narrow costs up to 1.2 points of coverage
/// (measured over replays, tests/profiler/comparison_test.cpp): a rule with a target pays for it
/// with this share of alpha.
constexpr double kTargetCorrection = 0.88;

}  // namespace

bool b_runs_first(std::uint64_t seed, std::int64_t pair) {
  return drawn(seed, pair, 2) != 0;
}

std::int64_t settling_iterations(std::span<const double> iteration_ms) {
  const std::size_t half = iteration_ms.size() / 2;
  if (half == 0) return 0;
  const std::span<const double> second = iteration_ms.subspan(half);
  const double settled = *std::max_element(second.begin(), second.end());
  std::size_t dropped = 1;
  while (dropped < half && iteration_ms[dropped] > settled) ++dropped;
  return static_cast<std::int64_t>(dropped);
}

BlockTimes settle(std::span<const double> iteration_ms, std::int64_t cycle) {
  SHARDSCOPE_CHECK(!iteration_ms.empty() && cycle > 0, "a block has iterations");
  const auto size = static_cast<std::int64_t>(iteration_ms.size());
  const std::int64_t settled = size - settling_iterations(iteration_ms);
  const std::int64_t kept = settled >= cycle ? settled / cycle * cycle : settled;
  const auto first = iteration_ms.end() - static_cast<std::ptrdiff_t>(kept);
  const double sum = std::accumulate(first, iteration_ms.end(), 0.0);
  return {sum / static_cast<double>(kept), kept, size - kept};
}

bool is_look(std::int64_t pairs) {
  // 8, 12, 16, 24, 32, ...: 2^k and 3 * 2^(k-1).
  if (pairs < kFirstLook) return false;
  while (pairs % 2 == 0) pairs /= 2;
  return pairs == 1 || pairs == 3;
}

const char* to_string(StopReason value) {
  switch (value) {
    case StopReason::target:
      return "target";
    case StopReason::budget:
      return "budget";
    case StopReason::interrupted:
      return "interrupted";
  }
  return "";
}

double Comparison::a_ms() const {
  return a_ms_.empty() ? 0 : median(a_ms_);
}

double Comparison::b_ms() const {
  return b_ms_.empty() ? 0 : median(b_ms_);
}

double Comparison::stopping_alpha() const {
  return (1 - rule_.confidence) * (rule_.target > 0 ? kTargetCorrection : 1);
}

std::optional<Interval> Comparison::interval(double alpha) const {
  std::optional<Interval> logs = signed_rank_interval(log_ratios_, alpha);
  if (!logs) return std::nullopt;
  return Interval{std::exp(logs->estimate), std::exp(logs->low), std::exp(logs->high),
                  rule_.confidence};
}

bool Comparison::add(double a_ms, double b_ms) {
  SHARDSCOPE_CHECK(a_ms > 0 && b_ms > 0, "a block takes time");
  a_ms_.push_back(a_ms);
  b_ms_.push_back(b_ms);
  log_ratios_.push_back(std::log(a_ms / b_ms));
  if (is_look(pairs())) {
    ++looks_;
    const double look = static_cast<double>(looks_);
    const std::optional<Interval> now = interval((1 - rule_.confidence) / (look * (look + 1)));
    if (now) running_ = now;
    const std::optional<Interval> fixed = interval(stopping_alpha());
    if (rule_.target > 0 && fixed && fixed->half_width() <= rule_.target) return true;
  }
  return rule_.maximum_pairs > 0 && pairs() >= rule_.maximum_pairs;
}

std::optional<RatioResult> Comparison::result(StopReason reason) const {
  const std::optional<Interval> ratio =
      reason == StopReason::interrupted ? running_ : interval(stopping_alpha());
  if (!ratio) return std::nullopt;
  return RatioResult{*ratio, reason, pairs(), looks_,
                     rule_.target > 0 && ratio->half_width() <= rule_.target};
}

}  // namespace shardscope
