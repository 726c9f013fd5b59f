#pragma once
// What happens inside a stretch of time: who was busy, with what, who waited for whom.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "profiler/span.hpp"
#include "ui/timeline/time_view.hpp"

namespace shardscope::ui {

struct StageShare {
  Stage stage = Stage::input_dist;
  double mean_ns = 0;  ///< over ranks, waiting excluded
  double most_ns = 0;  ///< slowest rank
};

struct RankShare {
  std::int32_t rank = 0;
  double busy_ns = 0;     ///< at least one stream at work
  double waiting_ns = 0;  ///< inside collectives, for peers
};

struct RangeStatistics {
  double length_ns = 0;
  std::int64_t spans = 0;
  double busy_share = 0;      ///< mean over ranks
  double overlap_share = 0;   ///< of the time with a wire stage: kernels run beside it
  double longest_gap_ns = 0;  ///< no stream of a rank at work
  std::int32_t gap_rank = 0;
  std::vector<StageShare> stages;  ///< by falling mean; only those that occur
  std::vector<RankShare> ranks;    ///< ascending
  double intra_bytes = 0;
  double inter_bytes = 0;
  bool truncated = false;  ///< not all spans were looked at
};

/// Spans are cut to the range; bytes count where their span starts inside.
[[nodiscard]] RangeStatistics range_statistics(std::span<const Span> spans, TimeRange range);

}  // namespace shardscope::ui
