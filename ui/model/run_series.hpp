#pragma once
// Iterations as they come, turned into what the Run workspace draws: block means, the running mean
// with its interval, and the ratio of two layouts.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/comparison.hpp"
#include "profiler/span.hpp"

namespace shardscope::ui {

/// One block of iterations of one layout.
struct BlockPoint {
  std::int32_t block = 0;
  double end_s = 0;       ///< since the run's start
  double mean_ms = 0;     ///< of its iterations, those of the warm-up alone where it is one
  double throughput = 0;  ///< samples a second
  bool warm_up = false;
  bool traced = false;
  // Of all blocks up to this one, warm-up and traced blocks left out:
  double running = 0;  ///< mean throughput
  double low = 0;      ///< 95 % interval of it
  double high = 0;
};

/// Throughput of one layout over time.
class RunSeries {
 public:
  void reset(std::int64_t global_batch);
  /// Iterations in any order; a block is complete when a later one begins.
  void add(std::span<const Iteration> iterations);
  [[nodiscard]] const std::vector<BlockPoint>& blocks() const { return blocks_; }
  [[nodiscard]] std::int64_t iterations() const { return count_; }
  /// Mean over all counted blocks, and its interval; 0 without any.
  [[nodiscard]] double mean_ms() const;
  [[nodiscard]] double throughput() const;
  [[nodiscard]] double p99_ms() const;
  [[nodiscard]] double end_s() const { return blocks_.empty() ? 0 : blocks_.back().end_s; }

 private:
  struct Open {
    double sum_ms = 0;
    std::int64_t count = 0;
    double end_s = 0;
    bool warm_up = true;
    bool traced = false;
  };
  void rebuild();

  std::int64_t global_batch_ = 0;
  std::int64_t count_ = 0;
  std::map<std::int32_t, Open> open_;
  std::vector<BlockPoint> blocks_;
  std::vector<double> iteration_ms_;
};

/// Throughput of B over A from paired blocks so far; nothing below 8 pairs.
[[nodiscard]] std::optional<Interval> ratio_of(const RunSeries& a, const RunSeries& b);

}  // namespace shardscope::ui
