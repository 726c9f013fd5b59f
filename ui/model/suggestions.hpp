#pragma once
// The best single edits from here: candidates around what binds or breaks, priced by the planner's
// what-if, a few at a time so that no frame waits.

#include <cstdint>
#include <string>
#include <vector>

#include "ui/model/document.hpp"

namespace shardscope::ui {

struct Suggestion {
  Edit edit;
  double gain_s = 0;      ///< current iteration - iteration after it; negative is slower
  bool cures = false;     ///< removes a violation and adds none
  std::string cure_text;  ///< "cures GPU 3 (66.0 GiB)"
};

class Suggestions {
 public:
  /// Works for about `budget_ms`; starts anew where the layout has changed. True when finished.
  bool work(Document& document, double budget_ms);
  /// Curing edits first, then by gain; only edits that cure or gain. At most `kShown`.
  [[nodiscard]] const std::vector<Suggestion>& best() const { return best_; }
  [[nodiscard]] bool finished() const { return next_ >= candidates_.size() && !fresh_; }
  /// Priced so far and in all.
  [[nodiscard]] std::size_t priced() const { return next_; }

  static constexpr std::size_t kShown = 3;

 private:
  void start(const Document& document);
  void rank(Document& document);

  std::vector<Edit> candidates_;
  std::vector<double> seconds_;
  std::vector<Suggestion> best_;
  std::size_t next_ = 0;
  bool fresh_ = true;
  int node_ = -1;
};

}  // namespace shardscope::ui
