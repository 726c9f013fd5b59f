#include "ui/model/learning_curve.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

namespace shardscope::ui {
namespace {

constexpr double kMargin = 0.08;
constexpr double kLeastWidth = 1e-4;
const double kUnknown = std::numeric_limits<double>::quiet_NaN();

CurveRange range_of(const std::vector<LearningPoint>& points,
                    std::initializer_list<double LearningPoint::*> figures) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const LearningPoint& point : points) {
    for (const auto figure : figures) {
      if (!std::isfinite(point.*figure)) continue;
      low = std::min(low, point.*figure);
      high = std::max(high, point.*figure);
    }
  }
  if (!(low <= high)) return {0, 1};
  const double margin = std::max((high - low) * kMargin, kLeastWidth);
  return {low - margin, high + margin};
}

}  // namespace

void LearningCurve::add(const std::string& split, std::int64_t iteration, std::int64_t samples,
                        double loss, double auc) {
  auto at =
      std::lower_bound(points_.begin(), points_.end(), iteration,
                       [](const LearningPoint& p, std::int64_t i) { return p.iteration < i; });
  if (at == points_.end() || at->iteration != iteration) {
    at = points_.insert(at, {iteration, samples, kUnknown, kUnknown, kUnknown});
  }
  if (split == "train") {
    at->train_loss = loss;
  } else {
    at->loss = loss;
    at->auc = auc;
  }
}

void LearningCurve::add_move(std::string layout) {
  moves_.push_back({points_.empty() ? 0 : points_.back().samples, std::move(layout)});
}

CurveRange LearningCurve::losses() const {
  return range_of(points_, {&LearningPoint::train_loss, &LearningPoint::loss});
}

CurveRange LearningCurve::aucs() const {
  return range_of(points_, {&LearningPoint::auc});
}

}  // namespace shardscope::ui
