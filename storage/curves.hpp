#pragma once
// Learning curves: loss and AUC of a run as it trains.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "layout/result.hpp"
#include "storage/session.hpp"

namespace shardscope::storage {

struct CurvePoint {
  std::string split = "train";  ///< train | eval
  std::int64_t iteration = 0;
  std::int64_t samples = 0;  ///< seen in training so far
  std::int64_t time_ns = 0;  ///< since the run's start
  double loss = 0;           ///< NaN where it was not computed
  double auc = 0;
};

/// Adds points, committed before it returns; a point of the same split and iteration is replaced.
[[nodiscard]] Status save_curve(const Session& session, std::int64_t run,
                                std::span<const CurvePoint> points);

/// By split, then iteration.
[[nodiscard]] Result<std::vector<CurvePoint>> load_curve(const Session& session, std::int64_t run);

}  // namespace shardscope::storage
