#include <fmt/format.h>

#include <algorithm>

#include "ui/desktop/run_control.hpp"
#include "ui/panels/run_parts.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

/// Two rows of buttons.
struct ButtonRows {
  Rect whole;  ///< the first row
  Rect left;   ///< of the second
  Rect right;

  explicit ButtonRows(const Rect& area) {
    constexpr float kGap = 8;
    const float height = (area.height() - kGap) / 2;
    const float half = (area.width() - kGap) / 2;
    whole = {area.x0, area.y0, area.x1, area.y0 + height};
    left = {area.x0, area.y1 - height, area.x0 + half, area.y1};
    right = {area.x1 - half, area.y1 - height, area.x1, area.y1};
  }
};

void draw_idle(Ui& ui, Desktop& desktop, const ButtonRows& rows) {
  const History& history = desktop.document->history();
  const bool another = history.current() != history.reference();
  if (button(ui, "run/compare", rows.whole, "Compare A and B",
             {.style = another ? ButtonStyle::primary : ButtonStyle::plain,
              .enabled = another,
              .hint = "Ctrl+R",
              .tooltip = another ? "Both in turn, block by block, until the interval is narrow"
                                 : "A and B are the same layout: edit, or move the ★"})) {
    start_run(desktop, service::JobKind::compare);
  }
  if (button(ui, "run/run", rows.left, "Run B", {.hint = "F5"})) {
    start_run(desktop, service::JobKind::run);
  }
  const bool learns = desktop.document->workload().dense.interaction != Interaction::none;
  if (button(ui, "run/train", rows.right, "Train B",
             {.enabled = learns,
              .hint = "F7",
              .tooltip = learns ? "Loss and AUC on held-out samples on the way"
                                : "The model has no dense part: there is nothing to learn"})) {
    start_run(desktop, service::JobKind::train);
  }
}

void draw_running(Ui& ui, Desktop& desktop, const LiveJob& job, const ButtonRows& rows) {
  const bool able = can_apply(desktop);
  const bool moves = job.kind == service::JobKind::run || job.kind == service::JobKind::train;
  if (button(
          ui, "run/apply", rows.whole,
          desktop.engine->moving() ? "Moving …" : "Move it to the current layout",
          {.style = able ? ButtonStyle::primary : ButtonStyle::plain,
           .enabled = able,
           .hint = "F8",
           .tooltip =
               able ? "Shards move, weights and optimizer state go with them; nothing is learned "
                      "anew"
               : moves ? "It has the current layout already, or that one breaks a rule: edit it"
                       : "Only runs and trainings move to another layout"})) {
    apply_to_run(desktop);
  }
  if (button(ui, "run/pause", rows.left, job.paused ? "Resume" : "Pause", {.hint = "F6"})) {
    desktop.engine->pause(!job.paused);
  }
  if (button(ui, "run/stop", rows.right, "Stop", {.hint = "Shift+F5"})) desktop.engine->stop();
}

}  // namespace

void draw_run_buttons(Ui& ui, Desktop& desktop, const Rect& area) {
  const LiveJob* job = desktop.engine != nullptr ? desktop.engine->job() : nullptr;
  const ButtonRows rows(area);
  const Rect bar{area.x0, area.y1 + 6, area.x1, area.y1 + 11};
  if (job == nullptr) {
    draw_idle(ui, desktop, rows);
    return;
  }
  const double share = std::clamp(job->share, 0.0, 1.0);
  const std::string words = job->detail.empty() ? desktop.engine_state : job->detail;
  draw_running(ui, desktop, *job, rows);
  ui.draw.fill(bar, ui.colors.lane);
  Rect done = bar;
  done.x1 = bar.x0 + bar.width() * static_cast<float>(share);
  ui.draw.fill(done, ui.colors.accent);
  ui.draw.text_fit(Font::small, area.x0, bar.y1 + 9, area.width(), ui.colors.secondary, words);
}

}  // namespace shardscope::ui
