#pragma once
// Loss and AUC of a training, point by point as it comes.

#include <cstdint>
#include <string>
#include <vector>

namespace shardscope::ui {

/// One evaluation with the training loss since the one before; NaN where nothing was computed.
struct LearningPoint {
  std::int64_t iteration = 0;
  std::int64_t samples = 0;
  double train_loss = 0;
  double loss = 0;
  double auc = 0;
};

/// From here on another layout trained.
struct LearningMove {
  std::int64_t samples = 0;
  std::string layout;
};

struct CurveRange {
  double low = 0;
  double high = 1;
};

class LearningCurve {
 public:
  /// `split`: train or eval. Points of one iteration become one, in any order.
  void add(const std::string& split, std::int64_t iteration, std::int64_t samples, double loss,
           double auc);
  void add_move(std::string layout);
  /// By iteration.
  [[nodiscard]] const std::vector<LearningPoint>& points() const { return points_; }
  [[nodiscard]] const std::vector<LearningMove>& moves() const { return moves_; }
  [[nodiscard]] bool empty() const { return points_.empty(); }
  /// Of all losses that are numbers, and of all AUCs, with a margin; never of no width.
  [[nodiscard]] CurveRange losses() const;
  [[nodiscard]] CurveRange aucs() const;

 private:
  std::vector<LearningPoint> points_;
  std::vector<LearningMove> moves_;
};

}  // namespace shardscope::ui
