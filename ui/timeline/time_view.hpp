#pragma once
// The visible stretch of a timeline and how a hand moves it. Pure arithmetic.

#include <cstdint>
#include <vector>

namespace shardscope::ui {

/// [begin, end) in ns since the run's start.
struct TimeRange {
  double begin = 0;
  double end = 1;

  [[nodiscard]] double length() const { return end - begin; }
  [[nodiscard]] bool contains(double t) const { return t >= begin && t < end; }

  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

class TimeView {
 public:
  /// Everything there is; the view starts there.
  void reset(TimeRange all);
  [[nodiscard]] const TimeRange& all() const { return all_; }
  [[nodiscard]] const TimeRange& shown() const { return shown_; }

  /// factor < 1 zooms in; `at` keeps its place on the screen.
  void zoom(double factor, double at);
  void pan(double ns);
  /// Shows that range; the one before can be come back to.
  void go_to(TimeRange range);
  void fit_all() { go_to(all_); }
  /// Back to the view before the last go_to or run of zooms; false where there is none.
  bool back();
  /// Ends a run of zooms and pans: one step for back().
  void settle();

  /// Never below this much time: a pixel is then a fraction of a ns.
  static constexpr double kShortest = 100;

 private:
  void limit();

  TimeRange all_;
  TimeRange shown_;
  TimeRange settled_;
  std::vector<TimeRange> before_;
};

/// Distance of ruler marks for a view of that length and so many pixels: 1, 2 or 5 x 10^n ns.
[[nodiscard]] double ruler_step(double ns, double pixels);

}  // namespace shardscope::ui
