#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/model/numbers.hpp"
#include "ui/panels/timeline_parts.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

std::string mark_text(double ns, double step) {
  if (step >= 1e9) return fmt::format("{:.0f} s", ns / 1e9);
  if (step >= 1e6) return fmt::format("{:.0f} ms", ns / 1e6);
  if (step >= 1e5) return fmt::format("{:.1f} ms", ns / 1e6);
  if (step >= 1e3) return fmt::format("{:.0f} µs", ns / 1e3);
  return fmt::format("{:.0f} ns", ns);
}

}  // namespace

void draw_overview(Ui& ui, Desktop& desktop, const Rect& area, float label_width) {
  TimelineState& timeline = desktop.timeline;
  ui.draw.fill(area, ui.colors.window);
  const std::vector<Iteration>& iterations = timeline.source->iterations();
  ui.draw.text(Font::small, area.x0 + kPadding, area.y0 + 11, ui.colors.secondary, "Session");
  ui.draw.text_fit(
      Font::small, area.x0 + kPadding, area.y0 + 25, label_width - 16, ui.colors.tertiary,
      iterations.empty() ? "one iteration"
                         : plural(static_cast<std::int64_t>(iterations.size()), "iteration"));
  const TimeScale scale{area.x0 + label_width, area.x1, timeline.view.all()};
  const Rect lane{scale.x0, area.y0 + 4, scale.x1, area.y1 - 4};
  ui.name("timeline/overview", lane);
  ui.draw.fill(lane, ui.colors.lane);
  float before = -10;
  for (const Iteration& iteration : iterations) {
    const float x0 = scale.x(static_cast<double>(iteration.start_ns));
    if (x0 - before < 1) continue;
    before = x0;
    const float x1 = std::max(x0 + 1, scale.x(static_cast<double>(iteration.end_ns)) - 1);
    const Color color = iteration.traced    ? ui.colors.accent
                        : iteration.warm_up ? ui.colors.idle
                                            : ui.colors.strong_line;
    ui.draw.fill({x0, lane.y0 + (iteration.traced ? 4.0F : 10.0F), x1, lane.y1},
                 with_alpha(color, 150));
  }
  const TimeRange& shown = timeline.view.shown();
  const float x0 = std::max(scale.x0, scale.x(shown.begin));
  const float x1 = std::min(scale.x1, std::max(scale.x(shown.end), x0 + 3));
  ui.draw.fill({x0, lane.y0, x1, lane.y1}, with_alpha(ui.colors.text, 26));
  ui.draw.frame({x0, lane.y0 - 1, x1, lane.y1 + 1}, ui.colors.text, 2);
  const Touch touch = ui.region("timeline/overview/drag", lane);
  if (touch.held) {
    const double middle = scale.ns(ui.in.mouse.x);
    timeline.view.pan(middle - (shown.begin + shown.end) / 2);
  }
}

void draw_ruler(Ui& ui, Desktop& desktop, const TimeScale& scale, const Rect& area, float bottom) {
  const TimeRange& shown = desktop.timeline.view.shown();
  ui.draw.fill(area, ui.colors.header);
  const double step = ruler_step(shown.length(), scale.x1 - scale.x0);
  // Marks count from a round moment left of the view, so that digits stay few.
  const double origin = std::floor(shown.begin / step) * step;
  const bool relative = std::abs(origin) > 200 * step;
  ui.draw.text_fit(Font::mono_small, area.x0 + kPadding, area.center_y(), scale.x0 - area.x0 - 20,
                   ui.colors.tertiary,
                   relative ? duration_text(origin) + " +" : std::string("run start"));
  const Rect marks{scale.x0, area.y0, scale.x1, area.y1};
  ui.draw.clip({marks.x0, marks.y0, marks.x1, bottom});
  for (double t = origin; t <= shown.end; t += step) {
    const float x = scale.x(t);
    if (x < scale.x0 - 1) continue;
    ui.draw.vertical(x, area.y0 + 4, bottom, ui.colors.line);
    ui.draw.text(Font::mono_small, x + 5, area.center_y(), ui.colors.secondary,
                 mark_text(relative ? t - origin : t, step));
  }
  ui.draw.unclip();
}

}  // namespace shardscope::ui
