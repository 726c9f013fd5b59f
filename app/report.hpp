#pragma once
// Stage costs as people and machines read them.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "profiler/codec_work.hpp"
#include "profiler/signed_rank.hpp"
#include "profiler/stage_profile.hpp"

namespace shardscope::app {

/// One row a stage: slowest and mean rank, busy and waiting time, bytes, rows.
[[nodiscard]] std::string stage_table_text(const StageProfile& profile);

/// Two profiles side by side with the difference of the slowest ranks.
[[nodiscard]] std::string stage_difference_text(const StageProfile& a, const StageProfile& b);

/// One row a rank: its time in A and B and the bytes it sends between domains.
[[nodiscard]] std::string rank_difference_text(const StageProfile& a, const StageProfile& b);

/// One bar a rank: work solid, waiting for peers shaded; `width` columns for the longest.
[[nodiscard]] std::string rank_bars_text(const StageProfile& profile, int width);

/// {name: {ms_max, ms_mean, ...}} of the stages that occur.
[[nodiscard]] nlohmann::ordered_json stages_json(const StageProfile& profile);

/// [{rank, stages: {name: {ms, ...}}}].
[[nodiscard]] nlohmann::ordered_json ranks_json(const StageProfile& profile);

/// One row a codec, stage and cluster; empty where nothing was coded.
[[nodiscard]] std::string codec_table_text(const std::vector<CodecTotals>& codecs);

/// [{codec, stage, cluster, ratio, bytes and times an iteration}].
[[nodiscard]] nlohmann::ordered_json compression_json(const std::vector<CodecTotals>& codecs);

/// {estimate, low, high, confidence}.
[[nodiscard]] nlohmann::ordered_json interval_json(const Interval& interval);

/// "+0.42 % (-0.30 to +1.10, 95 %)" of a share.
[[nodiscard]] std::string percent_interval_text(const Interval& interval);

}  // namespace shardscope::app
