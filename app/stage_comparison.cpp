#include "app/stage_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace shardscope::app {
namespace {

constexpr double kUnknownMs = std::numeric_limits<double>::quiet_NaN();

struct PredictedMs {
  double max = kUnknownMs;
  double mean = kUnknownMs;
};

/// Over the ranks, of the parts that belong together.
PredictedMs predicted_ms(const Prediction* prediction,
                         const std::function<bool(const PredictedStage&)>& belongs) {
  if (prediction == nullptr) return {};
  std::vector<double> ranks;
  for (const PredictedStage& one : prediction->stages) {
    if (!belongs(one)) continue;
    ranks.resize(std::max(ranks.size(), one.rank_s.size()), 0);
    for (std::size_t r = 0; r < one.rank_s.size(); ++r) ranks[r] += one.rank_s[r] * 1e3;
  }
  if (ranks.empty()) return {0, 0};
  return {*std::max_element(ranks.begin(), ranks.end()),
          std::accumulate(ranks.begin(), ranks.end(), 0.0) / static_cast<double>(ranks.size())};
}

StageComparison measured_row(const StageProfile& measured, Stage stage) {
  StageComparison row;
  row.stage = to_string(stage);
  if (measured.by_rank.empty()) return row;
  row.measured_max = measured.ms_max(stage);
  row.measured_mean = measured.ms_mean(stage);
  for (std::size_t rank = 0; rank < measured.by_rank.size(); ++rank) {
    row.waiting_mean += measured.at(rank, stage).waiting_ms;
    row.inter_bytes += measured.at(rank, stage).inter_bytes;
  }
  row.waiting_mean /= static_cast<double>(measured.by_rank.size());
  return row;
}

}  // namespace

double StageComparison::error() const {
  return measured_max > 0 && predicted_max > 0 ? predicted_max / measured_max - 1 : kUnknownMs;
}

std::vector<StageComparison> compare_stages(const StageProfile& measured,
                                            const Prediction* prediction, bool fused_update) {
  std::vector<StageComparison> rows;
  for (int s = 0; s < kStages; ++s) {
    const auto stage = static_cast<Stage>(s);
    StageComparison row = measured_row(measured, stage);
    const bool fused = fused_update && stage == Stage::local_reduce;
    const bool rest = fused_update && stage == Stage::update;
    if (fused) row.stage = "local_reduce+update";
    if (rest) row.stage = "update (dense)";
    const PredictedMs predicted = predicted_ms(prediction, [&](const PredictedStage& one) {
      if (fused && one.stage == Stage::update) return one.work != Work::dense;
      return one.stage == stage && (!rest || one.work == Work::dense);
    });
    row.predicted_max = predicted.max;
    row.predicted_mean = predicted.mean;
    if (row.measured_max > 0 || row.waiting_mean > 0 || row.predicted_max > 0) {
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::string error_text(double error) {
  return std::isnan(error) ? "-" : fmt::format("{:+.0f} %", error * 100);
}

}  // namespace shardscope::app
