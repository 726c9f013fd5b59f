#include <fmt/format.h>

#include <algorithm>

#include "ui/desktop/run_control.hpp"
#include "ui/panels/run_parts.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {

void draw_run_buttons(Ui& ui, Desktop& desktop, const Rect& area) {
  LiveJob* job = desktop.engine != nullptr ? desktop.engine->job() : nullptr;
  const float half = area.width() / 2 - 4;
  const Rect left{area.x0, area.y0, area.x0 + half, area.y1};
  const Rect right{area.x1 - half, area.y0, area.x1, area.y1};
  if (job == nullptr) {
    const History& history = desktop.document->history();
    const bool another = history.current() != history.reference();
    if (button(ui, "run/run", left, "Run B", {.hint = "F5"})) {
      start_run(desktop, service::JobKind::run);
    }
    if (button(
            ui, "run/compare", right, "Compare A and B",
            {.style = ButtonStyle::primary,
             .enabled = another,
             .tooltip = another ? "Ctrl+R" : "A and B are the same layout: edit, or move the ★"})) {
      start_run(desktop, service::JobKind::compare);
    }
    return;
  }
  if (button(ui, "run/pause", left, job->paused ? "Resume" : "Pause", {.hint = "F6"})) {
    desktop.engine->pause(!job->paused);
  }
  if (button(ui, "run/stop", right, "Stop", {})) desktop.engine->stop();
  const Rect bar{area.x0, area.y1 + 6, area.x1, area.y1 + 12};
  ui.draw.fill(bar, ui.colors.lane);
  Rect done = bar;
  done.x1 = bar.x0 + bar.width() * static_cast<float>(std::clamp(job->share, 0.0, 1.0));
  ui.draw.fill(done, ui.colors.accent);
  ui.draw.text_fit(Font::small, area.x0, bar.y1 + 9, area.width(), ui.colors.secondary,
                   job->detail.empty() ? desktop.engine_state : job->detail);
}

}  // namespace shardscope::ui
