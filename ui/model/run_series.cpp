#include "ui/model/run_series.hpp"

#include <algorithm>
#include <cmath>

namespace shardscope::ui {
namespace {

constexpr double kNinetyFive = 1.96;  ///< standard errors; the band is drawn, not tested with

bool counts(const BlockPoint& block) {
  return !block.warm_up && !block.traced && block.mean_ms > 0;
}

}  // namespace

void RunSeries::reset(std::int64_t global_batch) {
  *this = {};
  global_batch_ = global_batch;
}

void RunSeries::add(std::span<const Iteration> iterations) {
  for (const Iteration& iteration : iterations) {
    const double ms = static_cast<double>(iteration.end_ns - iteration.start_ns) / 1e6;
    if (!(ms > 0)) continue;
    Open& block = open_[iteration.block];
    block.end_s = std::max(block.end_s, static_cast<double>(iteration.end_ns) / 1e9);
    block.traced = block.traced || iteration.traced;
    // Settling iterations count in no figure where the block has others.
    if (block.warm_up && !iteration.warm_up) block = {0, 0, block.end_s, false, block.traced};
    if (block.warm_up != iteration.warm_up) continue;
    block.sum_ms += ms;
    ++block.count;
    ++count_;
    if (!iteration.warm_up && !iteration.traced) iteration_ms_.push_back(ms);
  }
  rebuild();
}

void RunSeries::rebuild() {
  blocks_.clear();
  double sum = 0, squares = 0;
  std::int64_t counted = 0;
  for (const auto& [number, open] : open_) {
    if (open.count == 0) continue;
    BlockPoint point;
    point.block = number;
    point.end_s = open.end_s;
    point.mean_ms = open.sum_ms / static_cast<double>(open.count);
    point.throughput = static_cast<double>(global_batch_) / point.mean_ms * 1e3;
    point.warm_up = open.warm_up;
    point.traced = open.traced;
    if (counts(point)) {
      ++counted;
      sum += point.throughput;
      squares += point.throughput * point.throughput;
    }
    if (counted > 0) {
      const double mean = sum / static_cast<double>(counted);
      const double variance = std::max(0.0, squares / static_cast<double>(counted) - mean * mean);
      const double error =
          counted > 1 ? kNinetyFive * std::sqrt(variance / static_cast<double>(counted - 1)) : 0;
      point.running = mean;
      point.low = mean - error;
      point.high = mean + error;
    }
    blocks_.push_back(point);
  }
}

double RunSeries::mean_ms() const {
  double sum = 0;
  std::int64_t counted = 0;
  for (const BlockPoint& block : blocks_) {
    if (!counts(block)) continue;
    sum += block.mean_ms;
    ++counted;
  }
  return counted > 0 ? sum / static_cast<double>(counted) : 0;
}

double RunSeries::throughput() const {
  return blocks_.empty() ? 0 : blocks_.back().running;
}

double RunSeries::p99_ms() const {
  if (iteration_ms_.empty()) return 0;
  std::vector<double> sorted = iteration_ms_;
  const auto at = static_cast<std::ptrdiff_t>(0.99 * static_cast<double>(sorted.size() - 1));
  std::nth_element(sorted.begin(), sorted.begin() + at, sorted.end());
  return sorted[static_cast<std::size_t>(at)];
}

std::optional<Interval> ratio_of(const RunSeries& a, const RunSeries& b) {
  Comparison comparison(StopRule{});
  std::vector<double> left, right;
  for (const BlockPoint& block : a.blocks()) {
    if (counts(block)) left.push_back(block.mean_ms);
  }
  for (const BlockPoint& block : b.blocks()) {
    if (counts(block)) right.push_back(block.mean_ms);
  }
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    comparison.add(left[i], right[i]);
  }
  const auto result = comparison.result(StopReason::interrupted);
  if (!result) return std::nullopt;
  return result->ratio;
}

}  // namespace shardscope::ui
