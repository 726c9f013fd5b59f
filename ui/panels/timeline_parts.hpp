#pragma once
// The parts of the Timeline workspace.

#include "ui/desktop/desktop.hpp"

namespace shardscope::ui {

/// x of a moment and back, between two edges.
struct TimeScale {
  float x0 = 0;
  float x1 = 1;
  TimeRange shown;

  [[nodiscard]] float x(double ns) const {
    const double at = (ns - shown.begin) / shown.length() * (x1 - x0) + x0;
    return static_cast<float>(at < x0 - 1e4 ? x0 - 1e4 : at > x1 + 1e4 ? x1 + 1e4 : at);
  }
  [[nodiscard]] double ns(float at) const {
    return shown.begin + (at - x0) / (x1 - x0) * shown.length();
  }
};

void draw_timeline_tools(Ui& ui, Desktop& desktop, const Rect& tools);
void draw_overview(Ui& ui, Desktop& desktop, const Rect& area, float label_width);
void draw_ruler(Ui& ui, Desktop& desktop, const TimeScale& scale, const Rect& area, float bottom);
void draw_tracks(Ui& ui, Desktop& desktop, const TimeScale& scale, const Rect& area);
void draw_range_pane(Ui& ui, Desktop& desktop, Rect area);
void draw_events(Ui& ui, Desktop& desktop, Rect area);
void add_timeline_commands(std::vector<Command>& list, Desktop& desktop, UiMemory& memory);
/// Lines about the kernel and the call that launched it; empty where none is known.
[[nodiscard]] std::string activity_words(const ActivityLookup& activities, const Span& span);
[[nodiscard]] std::string span_tooltip(const Span& span, std::string_view word, double origin_ns);
/// "GPU", or "rank" where what is shown ran on CPU ranks.
[[nodiscard]] std::string_view word_of(const TimelineState& timeline);

}  // namespace shardscope::ui
