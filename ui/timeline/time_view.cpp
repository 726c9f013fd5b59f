#include "ui/timeline/time_view.hpp"

#include <algorithm>
#include <cmath>

namespace shardscope::ui {
namespace {

constexpr std::size_t kMostSteps = 200;
constexpr double kPixelsPerMark = 110;

}  // namespace

void TimeView::reset(TimeRange all) {
  if (!(all.length() >= kShortest)) all.end = all.begin + kShortest;
  all_ = shown_ = settled_ = all;
  before_.clear();
}

void TimeView::limit() {
  double length = std::clamp(shown_.length(), kShortest, all_.length());
  if (!std::isfinite(length)) length = all_.length();
  // The ends of the run may be drawn to the middle of the screen, not out of it.
  const double slack = length / 2;
  double begin = shown_.begin;
  if (!std::isfinite(begin)) begin = all_.begin;
  begin = std::clamp(begin, all_.begin - slack, all_.end - slack);
  shown_ = {begin, begin + length};
}

void TimeView::zoom(double factor, double at) {
  const double length = std::clamp(shown_.length() * factor, kShortest, all_.length());
  const double share = (at - shown_.begin) / shown_.length();
  shown_.begin = at - share * length;
  shown_.end = shown_.begin + length;
  limit();
}

void TimeView::pan(double ns) {
  shown_.begin += ns;
  shown_.end += ns;
  limit();
}

void TimeView::settle() {
  if (shown_ == settled_) return;
  before_.push_back(settled_);
  if (before_.size() > kMostSteps) before_.erase(before_.begin());
  settled_ = shown_;
}

void TimeView::go_to(TimeRange range) {
  settle();
  shown_ = range;
  limit();
  settle();
}

bool TimeView::back() {
  settle();
  if (before_.empty()) return false;
  shown_ = settled_ = before_.back();
  before_.pop_back();
  return true;
}

double ruler_step(double ns, double pixels) {
  const double raw = std::max(1e-3, ns * kPixelsPerMark / std::max(1.0, pixels));
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (raw <= factor * power) return factor * power;
  }
  return 10 * power;
}

}  // namespace shardscope::ui
