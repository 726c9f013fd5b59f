#include "profiler/stage_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "layout/invariant.hpp"

namespace shardscope {
namespace {

constexpr double kNsPerMs = 1e6;

/// Smaller relative differences of bytes or rows explain nothing.
constexpr double kNotable = 0.05;

std::string mebibytes(double bytes) {
  return fmt::format("{:.3g} MiB", bytes / (1 << 20));
}

bool notably_more(double more, double less) {
  return more > less * (1 + kNotable) && more > 0;
}

/// The stage in which `slow` loses the most against `fast`.
Stage decisive_stage(const StageProfile& slow, const StageProfile& fast) {
  Stage decisive = Stage::input_dist;
  double largest = -1;
  for (int index = 0; index < kStages; ++index) {
    const auto stage = static_cast<Stage>(index);
    const double loss = slow.ms_max(stage) - fast.ms_max(stage);
    if (loss > largest) {
      largest = loss;
      decisive = stage;
    }
  }
  return decisive;
}

/// "sends 1.2 MiB instead of 8.3 MiB between domains", or empty.
std::string cause(const StageCost& slow, const StageCost& fast) {
  if (notably_more(slow.inter_bytes, fast.inter_bytes)) {
    return fmt::format("it sends {} between domains instead of {}", mebibytes(fast.inter_bytes),
                       mebibytes(slow.inter_bytes));
  }
  if (notably_more(slow.intra_bytes, fast.intra_bytes)) {
    return fmt::format("it sends {} inside the domain instead of {}", mebibytes(fast.intra_bytes),
                       mebibytes(slow.intra_bytes));
  }
  if (notably_more(slow.rows, fast.rows)) {
    return fmt::format("it works on {:.0f} rows instead of {:.0f}", fast.rows, slow.rows);
  }
  return "";
}

}  // namespace

std::size_t StageProfile::slowest_rank(Stage stage) const {
  std::size_t slowest = 0;
  for (std::size_t rank = 1; rank < by_rank.size(); ++rank) {
    if (at(rank, stage).ms > at(slowest, stage).ms) slowest = rank;
  }
  return slowest;
}

double StageProfile::ms_max(Stage stage) const {
  return by_rank.empty() ? 0 : at(slowest_rank(stage), stage).ms;
}

double StageProfile::ms_mean(Stage stage) const {
  double sum = 0;
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) sum += at(rank, stage).ms;
  return by_rank.empty() ? 0 : sum / static_cast<double>(by_rank.size());
}

double StageProfile::busy_ms_max(Stage stage) const {
  double most = 0;
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    most = std::max(most, at(rank, stage).busy_ms);
  }
  return most;
}

StageProfile stage_profile(std::span<const StageTotals> totals, std::int64_t iterations,
                           std::int32_t ranks) {
  StageProfile profile;
  profile.iterations = iterations;
  profile.by_rank.resize(static_cast<std::size_t>(ranks));
  const double count = static_cast<double>(std::max<std::int64_t>(iterations, 1));
  for (const StageTotals& sum : totals) {
    SHARDSCOPE_CHECK(sum.rank >= 0 && sum.rank < ranks, "a span's rank is one of the run's");
    StageCost& cost =
        profile.by_rank[static_cast<std::size_t>(sum.rank)][static_cast<std::size_t>(sum.stage)];
    cost.ms += static_cast<double>(sum.total_ns) / kNsPerMs / count;
    cost.busy_ms += static_cast<double>(sum.busy_ns) / kNsPerMs / count;
    cost.waiting_ms += static_cast<double>(sum.waiting_ns) / kNsPerMs / count;
    cost.intra_bytes += static_cast<double>(sum.intra_bytes) / count;
    cost.inter_bytes += static_cast<double>(sum.inter_bytes) / count;
    cost.rows += static_cast<double>(sum.rows) / count;
  }
  return profile;
}

std::string explain(const Interval& ratio, const ComparedSide& a, const ComparedSide& b) {
  const bool b_wins = ratio.estimate >= 1;
  const ComparedSide& fast = b_wins ? b : a;
  const ComparedSide& slow = b_wins ? a : b;
  const double times = b_wins ? ratio.estimate : 1 / ratio.estimate;
  const double low = b_wins ? ratio.low : 1 / ratio.high;
  const double high = b_wins ? ratio.high : 1 / ratio.low;
  std::string text;
  if (ratio.contains(1)) {
    text = fmt::format(
        "No difference is shown between {} and {}: the ratio's interval, {:.3f} to {:.3f}, "
        "includes 1",
        a.name, b.name, ratio.low, ratio.high);
  } else {
    text = fmt::format("{} is {:.3f} times as fast as {} ({:.3f} to {:.3f})", fast.name, times,
                       slow.name, low, high);
  }
  if (fast.profile.iterations == 0 || slow.profile.iterations == 0) return text + ".";
  const Stage stage = decisive_stage(slow.profile, fast.profile);
  const std::size_t slow_rank = slow.profile.slowest_rank(stage);
  const std::size_t fast_rank = fast.profile.slowest_rank(stage);
  const StageCost& slow_cost = slow.profile.at(slow_rank, stage);
  const StageCost& fast_cost = fast.profile.at(fast_rank, stage);
  if (slow_cost.ms <= fast_cost.ms) return text + ".";
  text += fmt::format(
      "{} {}: the slowest rank of {} takes {:.3g} ms (rank {}) instead of {:.3g} ms "
      "(rank {})",
      ratio.contains(1) ? "; the largest gap is in" : ", most of it in", to_string(stage),
      fast.name, fast_cost.ms, fast_rank, slow_cost.ms, slow_rank);
  const std::string why = cause(slow_cost, fast_cost);
  return text + (why.empty() ? "." : "; " + why + ".");
}

}  // namespace shardscope
