#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "layout/names.hpp"
#include "ui/draw/symbols.hpp"
#include "ui/model/numbers.hpp"
#include "ui/panels/pane_tables.hpp"
#include "ui/panels/panels.hpp"
#include "ui/panels/prediction_parts.hpp"
#include "ui/panels/titles.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

constexpr std::array<std::string_view, 3> kFigures = {"Critical path", "Busy time", "Per rank"};
constexpr float kBarsAt = 150;

/// Bars share one scale; this is it.
struct BarScale {
  float x0 = 0;
  float x1 = 0;
  double top = 1;
  [[nodiscard]] float x(double seconds) const {
    return x0 + (x1 - x0) * static_cast<float>(seconds / top);
  }
};

std::vector<PathPart> parts_of(const Evaluation& evaluation, int figures, std::int32_t rank) {
  if (figures == 0) return evaluation.path;
  std::vector<PathPart> parts;
  for (int s = 0; s < kStages; ++s) {
    const auto stage = static_cast<Stage>(s);
    double seconds = figures == 1 ? evaluation.busy_seconds(stage) : 0;
    if (figures == 2 && static_cast<std::size_t>(rank) < evaluation.rank_stages.size()) {
      seconds = evaluation.rank_stages[static_cast<std::size_t>(rank)][static_cast<std::size_t>(s)];
    }
    if (seconds > 0) parts.push_back({stage, false, seconds});
  }
  return parts;
}

double sum_of(const std::vector<PathPart>& parts) {
  double sum = 0;
  for (const PathPart& part : parts) sum += part.seconds;
  return sum;
}

void draw_bar(Ui& ui, TuneState& tune, const BarScale& scale, const std::vector<PathPart>& parts,
              float y, float height, bool faint, const std::string& name) {
  double at = 0;
  for (const PathPart& part : parts) {
    const float x0 = scale.x(at);
    at += part.seconds;
    const Rect rect{x0, y, std::max(scale.x(at) - 1, x0 + 1), y + height};
    Color color = part.waiting ? ui.colors.idle : ui.colors.stage(part.stage);
    if (faint) color = mix(color, ui.colors.pane, 0.5F);
    const bool lit = !part.waiting && tune.hovered_stage == part.stage;
    if (lit) color = tone(color, 0.25F);
    ui.draw.fill(rect, color);
    if (ui.hovers(rect)) {
      if (!part.waiting) tune.hovered_stage = part.stage;
      ui.tooltip(
          fmt::format("{}\n{} ms of {}",
                      part.waiting ? "launches and waiting" : shardscope::to_string(part.stage),
                      ms_text(part.seconds), name));
    }
    const std::string_view word = part.waiting ? "" : shardscope::to_string(part.stage);
    if (!faint && height > 14 && ui.draw.width(Font::small, word) + 12 < rect.width()) {
      ui.draw.text(Font::small, rect.x0 + 6, rect.center_y(), text_on(color), word);
    }
  }
  ui.draw.text(faint ? Font::mono : Font::mono_strong, scale.x(at) + 10, y + height / 2,
               faint ? ui.colors.secondary : ui.colors.text, ms_text(at));
}

void draw_hidden(Ui& ui, const BarScale& scale, const Evaluation& shown, float y) {
  double free_from = 0;
  for (const HiddenPart& part : shown.hidden) {
    const float x0 = std::max(scale.x(part.start_s), static_cast<float>(free_from));
    const float x1 = x0 + std::max(4.0F, scale.x(part.seconds) - scale.x0);
    const Rect rect{x0, y, std::min(x1, scale.x1), y + 12};
    const Color color = ui.colors.stage(part.stage);
    ui.draw.fill(rect, mix(ui.colors.pane, color, 0.25F));
    ui.draw.hatch(rect, color);
    ui.draw.frame(rect, color);
    const std::string words =
        fmt::format("{} {}", shardscope::to_string(part.stage), short_ms_text(part.seconds));
    const float width = ui.draw.width(Font::small, words);
    if (rect.x1 + 6 + width < scale.x1 + 60) {
      ui.draw.text(Font::small, rect.x1 + 6, rect.center_y(), ui.colors.secondary, words);
    }
    free_from = rect.x1 + 18 + width;
  }
}

void draw_bound(Ui& ui, const Document& document, const BarScale& scale, float top, float bottom) {
  const std::optional<double> bound = document.bound();
  if (!bound || *bound <= 0) return;
  const float x = scale.x(*bound);
  if (x > scale.x1) return;
  ui.draw.vertical(x, top, bottom, ui.colors.text, 2);
  const std::string words = fmt::format("bound {}", ms_text(*bound));
  ui.draw.fill(box(x + 3, bottom - 12, ui.draw.width(Font::mono_small, words) + 6, 14),
               ui.colors.pane);
  ui.draw.text(Font::mono_small, x + 6, bottom - 5, ui.colors.text, words);
}

void draw_bars(Ui& ui, Desktop& desktop, const Rect& area) {
  TuneState& tune = desktop.tune;
  const Document& document = *desktop.document;
  const Evaluation& shown = document.shown();
  const Evaluation& reference = document.reference();
  const std::int32_t rank = shown.critical_rank;
  const auto parts = parts_of(shown, tune.figures, rank);
  const auto before = parts_of(document.current(), tune.figures, rank);
  const auto star = parts_of(reference, tune.figures, rank);
  BarScale scale;
  scale.x0 = area.x0 + kBarsAt;
  scale.x1 = area.x1 - 64;
  const double most = std::max({sum_of(parts), sum_of(before), sum_of(star), 1e-9});
  const double step = nice_step(most * 1.03, 7);
  scale.top = std::ceil(most * 1.03 / step) * step;
  const float axis = area.y0 + 11;
  for (double t = 0; t <= scale.top * 1.0001; t += step) {
    ui.draw.text_center(Font::mono_small, scale.x(t), axis, ui.colors.tertiary,
                        axis_text(t * 1e3, step * 1e3));
    ui.draw.vertical(scale.x(t), axis + 9, area.y0 + 122, ui.colors.line);
  }
  ui.draw.text_right(Font::small, area.x1 - 12, axis, ui.colors.tertiary, "ms");
  tune.hovered_stage.reset();
  const float label = area.x0 + kPadding;
  float y = area.y0 + 22;
  ui.draw.text(Font::strong, label, y + 7, ui.colors.text, "This layout");
  ui.draw.text_fit(Font::small, label, y + 21, kBarsAt - 20, ui.colors.tertiary,
                   document.previewing()
                       ? "preview of the " + std::string(tune.drag.active() ? "drag" : "edit")
                       : layout_title(document.history(), document.history().current()));
  draw_bar(ui, tune, scale, parts, y, 22, false, "this layout");
  const bool low = area.height() < 118;
  y += low ? 24 : 30;
  if (document.previewing()) {
    ui.draw.text(Font::small, label, y + 8, ui.colors.secondary,
                 tune.drag.active() ? "Before the drag" : "Before the edit");
    draw_bar(ui, tune, scale, before, y, low ? 10 : 14, true, "the layout before");
  }
  y += low ? 16 : 24;
  ui.draw.text(Font::body, label, y + 6, ui.colors.text, "Reference ★");
  ui.draw.text_fit(Font::small, label, y + 20, kBarsAt - 20, ui.colors.tertiary,
                   layout_title(document.history(), document.history().reference()));
  draw_bar(ui, tune, scale, star, y, 22, false, "the reference");
  y += 31;
  if (!low) {
    ui.draw.text(Font::small, label, y + 6, ui.colors.secondary, "Hidden work");
    draw_hidden(ui, scale, shown, y);
  }
  if (tune.figures == 0) draw_bound(ui, document, scale, area.y0 + 20, area.y0 + 124);
}

/// What the figures hold for: who trains, and in which order. A click chooses another order.
void choose_schedule(Ui& ui, Desktop& desktop, const Rect& room) {
  const PredictOptions& options = desktop.document->options();
  const std::string words = fmt::format("{}, {} schedule", shardscope::to_string(options.executor),
                                        shardscope::to_string(options.schedule));
  const float width = std::min(ui.draw.width(Font::small, words) + 28, room.width());
  if (width < 60) return;
  const Rect rect{room.x1 - width, room.y0, room.x1, room.y1};
  const Touch touch = ui.region("prediction/schedule", rect);
  ui.draw.fill(rect, touch.hovered ? ui.colors.pressed : ui.colors.control, 2);
  ui.draw.frame(rect, ui.colors.strong_line, 2);
  ui.draw.text_fit(Font::small, rect.x0 + 8, rect.center_y(), width - 26, ui.colors.text, words);
  draw_caret_down(ui.draw, {rect.x1 - 10, rect.center_y()}, ui.colors.tertiary);
  if (touch.hovered) {
    ui.tooltip(
        "The order of an iteration's steps that is priced, and that Run runs.\nserial: one after "
        "another · intra: overlap inside the iteration\ninter: and with the next batch's input");
  }
  if (!touch.clicked) return;
  std::vector<MenuItem> items;
  for (const auto& [kind, hint] : {std::pair{ScheduleKind::serial, "one step after another"},
                                   {ScheduleKind::intra, "overlap inside an iteration"},
                                   {ScheduleKind::inter, "and with the next batch's input"}}) {
    items.push_back({shardscope::to_string(kind), hint, true, [&desktop, one = kind] {
                       desktop.set_executor(desktop.document->executor(), one);
                     }});
  }
  desktop.menu = Menu{{rect.x0, rect.y1}, std::move(items)};
}

}  // namespace

void draw_prediction_panel(Ui& ui, Desktop& desktop, Rect area) {
  ui.draw.fill(area, ui.colors.pane);
  ui.pane("Predicted iteration", area, [&desktop] { return predicted_table(desktop); });
  const Rect header = area.take_top(kHeaderHeight);
  const float figures = std::min(626.0F, std::max(area.width() * 0.36F, 420.0F));
  pane_header(ui, header, "Predicted iteration",
              "time on the critical path, by stage; hatched = hidden behind other work",
              figures + 14);
  Rect right = area.take_right(figures);
  const float at = right.x0 - 14;
  if (area.width() > 500) {
    const float end =
        segmented(ui, "prediction/figures", at, header.y0 + 3, kFigures, desktop.tune.figures);
    choose_schedule(ui, desktop, {end + 10, header.y0 + 3, header.x1 - 8, header.y1 - 3});
  }
  if (!desktop.document->shown().priced) {
    ui.draw.text(Font::body, area.x0 + kPadding, area.y0 + 24, ui.colors.tertiary,
                 "Not priced: the layout breaks a rule of its geometry (see Why, and what next).");
    return;
  }
  ui.draw.vertical(right.x0 - 1, area.y0, area.y1, ui.colors.line);
  const Rect table = area.height() >= 180 ? area.take_bottom(area.height() - 130) : Rect{};
  ui.draw.clip(area);
  draw_bars(ui, desktop, area);
  ui.draw.unclip();
  if (!table.empty()) draw_stage_table(ui, desktop, table);
  draw_figures(ui, desktop, right);
}

}  // namespace shardscope::ui
