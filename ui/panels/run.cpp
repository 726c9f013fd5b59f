#include <fmt/format.h>

#include <algorithm>

#include "ui/model/numbers.hpp"
#include "ui/panels/panels.hpp"
#include "ui/panels/run_parts.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

void read_once(Desktop& desktop) {
  RunState& run = desktop.run;
  if (run.read || desktop.session == nullptr) return;
  run.read = true;
  auto runs = last_runs(*desktop.session);
  if (!runs) {
    run.error = to_string(runs.error());
    return;
  }
  run.shown = std::move(*runs);
}

/// Whether what is shown is a training, from its first moment on.
bool run_is_training(const Desktop& desktop) {
  const LiveJob* job = desktop.engine != nullptr ? desktop.engine->job() : nullptr;
  if (job != nullptr && job->kind == service::JobKind::train) return true;
  return desktop.run.shown && !desktop.run.shown->curve.empty();
}

double predicted_ratio(const RecordedRuns& runs) {
  if (!runs.b || !runs.a.predicted || !runs.b->predicted) return 0;
  const double b = runs.b->predicted->iteration_ms;
  return b > 0 ? runs.a.predicted->iteration_ms / b : 0;
}

void draw_ratio(Ui& ui, const Desktop& desktop, Rect area) {
  const RunState& run = desktop.run;
  ui.draw.fill(area, ui.colors.pane);
  ui.pane("B over A", area);
  pane_header(ui, area.take_top(kHeaderHeight), "B over A", "paired by block, same batches");
  const float x = area.x0 + 24;
  if (!run.shown || !run.shown->b) {
    ui.draw.text(Font::body, x, area.y0 + 40, ui.colors.tertiary, "Nothing compared yet.");
    return;
  }
  if (run.shown->moved) {
    ui.draw.paragraph(
        Font::body, x, area.y0 + 40, area.width() - 48, 18, 3, ui.colors.secondary,
        "One job moved from A to B: its blocks are no pairs, so there is no interval. "
        "Compare runs both in turn.");
    draw_ratio_table(ui, desktop, {x, area.y0 + 100, area.x1 - 24, area.y1});
    return;
  }
  Interval ratio;
  bool known = false;
  if (run.shown->comparison) {
    ratio = {run.shown->comparison->ratio, run.shown->comparison->low, run.shown->comparison->high};
    known = true;
  } else if (const auto now = ratio_of(run.shown->a.series, run.shown->b->series)) {
    ratio = *now;
    known = true;
  }
  if (!known) {
    ui.draw.text(Font::body, x, area.y0 + 40, ui.colors.tertiary,
                 "Fewer than 8 pairs of blocks so far.");
    return;
  }
  // The one number of this screen is large wherever it fits.
  const std::string words = fmt::format("{:.3f}×", ratio.estimate);
  const bool small = area.height() < 230 || ui.draw.width(Font::huge, words) + 40 > area.width();
  const float up = small ? 34.0F : 0.0F;
  ui.draw.clip(area);
  ui.draw.text(small ? Font::heading : Font::huge, x, area.y0 + 56 - up, ui.colors.text, words);
  ui.draw.text_fit(Font::mono, x, area.y0 + 102 - 1.6F * up, area.x1 - x - 8, ui.colors.secondary,
                   fmt::format("95 % interval  [{:.3f}, {:.3f}]", ratio.low, ratio.high));
  area.y0 -= 1.6F * up;
  const bool faster = ratio.low > 1, slower = ratio.high < 1;
  ui.draw.text_fit(Font::body, x, area.y0 + 124, area.width() - 40,
                   faster   ? ui.colors.good
                   : slower ? ui.colors.worse
                            : ui.colors.warning,
                   faster   ? "B is faster; 1.000 lies outside the interval."
                   : slower ? "B is slower; 1.000 lies outside the interval."
                            : "Not decided: 1.000 lies inside the interval.");
  draw_ratio_axis(ui, ratio, predicted_ratio(*run.shown),
                  {x, area.y0 + 140, area.x1 - 24, area.y0 + 186});
  draw_ratio_table(ui, desktop, {x, area.y0 + 196, area.x1 - 24, area.y1});
  ui.draw.unclip();
}

}  // namespace

void draw_run(Ui& ui, Desktop& desktop, Rect area) {
  read_once(desktop);
  Settings& sizes = desktop.settings;
  draw_run_setup(ui, desktop, area.take_left(std::min(sizes.run_width, area.width() * 0.3F)));
  gutter(ui, "run/gutter/setup", area.take_left(1), true, 1, sizes.run_width, 280, 520);
  Rect top = area.take_top(area.height() * 0.39F);
  ui.draw.fill(area.take_top(1), ui.colors.window);
  Rect ratio = top.take_right(std::min(500.0F, top.width() * 0.36F));
  ui.draw.fill(top.take_right(1), ui.colors.window);
  draw_throughput(ui, desktop, top);
  if (run_is_training(desktop)) {
    draw_learning(ui, desktop, ratio);
  } else {
    draw_ratio(ui, desktop, ratio);
  }
  Rect ranks = area.take_right(area.width() * 0.43F);
  ui.draw.fill(area.take_right(1), ui.colors.window);
  draw_run_stages(ui, desktop, area);
  if (ranks.height() > 360) {
    draw_run_wires(ui, desktop, ranks.take_bottom(172));
    ui.draw.fill(ranks.take_bottom(1), ui.colors.window);
  }
  draw_run_ranks(ui, desktop, ranks);
}

}  // namespace shardscope::ui
