#pragma once
// A prediction as people and machines read it.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "app/inputs.hpp"
#include "planner/cost_model.hpp"
#include "profiler/stage_profile.hpp"

namespace shardscope::app {

/// The steady iteration's stages by rank.
[[nodiscard]] StageProfile stage_profile_of(const Prediction& prediction, std::int32_t ranks);

/// "dcnv2, batch 55,296, 16 ranks as 2x8 (dgx-h100:2), executor hugectr, schedule inter".
[[nodiscard]] std::string setting_line(const Inputs& inputs, const PredictOptions& options);

/// Time over that of the layout people start from, table_row_wise: errors of constants cancel in
/// it. Nothing where the layout is that one.
struct ReferenceRatio {
  std::string reference;
  TimeRatio ratio;
};
[[nodiscard]] std::optional<ReferenceRatio> ratio_to_reference(const Inputs& inputs,
                                                               const Layout& layout,
                                                               const PredictOptions& options);
/// "0.832  (0.810 to 0.855, 90 %)".
[[nodiscard]] std::string ratio_text(const TimeRatio& ratio);
/// "ratio          0.832 of table_row_wise's time (0.810 to 0.855, 90 %)"; empty: nothing.
[[nodiscard]] std::string reference_text(const std::optional<ReferenceRatio>& ratio);
/// {estimate, low, high} and the reference's name; null: nothing.
[[nodiscard]] nlohmann::ordered_json reference_json(const std::optional<ReferenceRatio>& ratio);

/// Time with its interval, throughput, trust, what sets the pace, bytes on the links.
[[nodiscard]] std::string prediction_text(const Inputs& inputs, const Prediction& prediction);

/// "26 tables: 3 DP, 23 RB hierarchical in 61 shards"; bytes on the fullest and the mean rank.
[[nodiscard]] std::string layout_text(const Inputs& inputs, const Layout& layout,
                                      Executor executor);

/// {predicted_ms, interval_ms, trust, samples_per_s, stages, links, critical_rank, ...}.
[[nodiscard]] nlohmann::ordered_json prediction_json(const Inputs& inputs, const Layout& layout,
                                                     const PredictOptions& options,
                                                     const Prediction& prediction);

/// Bytes of every rank by the executor's rules.
[[nodiscard]] std::vector<std::int64_t> memory_by_rank(const Inputs& inputs, const Layout& layout,
                                                       Executor executor);

}  // namespace shardscope::app
