#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/desktop/calibrate.hpp"
#include "ui/draw/symbols.hpp"
#include "ui/model/numbers.hpp"
#include "ui/model/words.hpp"
#include "ui/panels/pane_tables.hpp"
#include "ui/panels/panels.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

constexpr std::size_t kViolationsShown = 3;

float draw_violations(Ui& ui, const Evaluation& shown, const Rect& area, float y) {
  if (shown.errors == 0) {
    draw_tick(ui.draw, {area.x0 + 18, y}, ui.colors.good);
    ui.draw.text(Font::small, area.x0 + 32, y, ui.colors.secondary, "No rule is broken");
    return y + 19;
  }
  draw_cross(ui.draw, {area.x0 + 18, y}, ui.colors.error);
  const std::string count = plural(shown.errors, "violation");
  ui.draw.text(Font::strong, area.x0 + 32, y, ui.colors.error, count);
  float x = area.x0 + 44 + ui.draw.width(Font::strong, count);
  std::size_t told = 0;
  for (const Violation& violation : shown.violations) {
    if (violation.severity != Severity::error) continue;
    if (told == kViolationsShown) break;
    ui.draw.text_fit(Font::small, x, y, area.x1 - x - kPadding, ui.colors.text, violation.message);
    const Rect row{area.x0, y - 8, area.x1, y + 8};
    if (ui.hovers(row)) ui.tooltip(violation.message + "\n" + violation.cure);
    ++told;
    y += 17;
    x = area.x0 + 32;
  }
  return y + 2;
}

/// Which GPU binds, by what, and the shards behind it.
float draw_binding(Ui& ui, Desktop& desktop, const Rect& area, float y) {
  const Document& document = *desktop.document;
  const Evaluation& shown = document.shown();
  const std::int32_t rank = shown.critical_rank;
  if (static_cast<std::size_t>(rank) >= shown.load_s.size()) return y;
  const double load = shown.load_s[static_cast<std::size_t>(rank)];
  ui.draw.fill({area.x0 + 12, y - 7, area.x0 + 15, y + 41}, ui.colors.worse);
  ui.draw.text(Font::strong, area.x0 + 24, y, ui.colors.text,
               gpu_title(document.topology(), rank) + " binds");
  const double over = shown.mean_load_s > 0 ? load / shown.mean_load_s - 1 : 0;
  ui.draw.text_right(Font::small, area.x1 - kPadding, y, ui.colors.secondary,
                     fmt::format("load {} ms, {:.0f} % {} the mean", short_ms_text(load),
                                 std::abs(over) * 100, over < 0 ? "under" : "over"));
  if (ui.hovers({area.x0, y - 8, area.x1, y + 40})) {
    ui.tooltip(fmt::format("{} waits least: the others wait for it.\nThe largest load is {} ms.",
                           gpu_title(document.topology(), rank), short_ms_text(shown.max_load_s)));
  }
  double memory = 0, wires = 0, sort = 0;
  std::string names;
  for (const MapBlock& block : desktop.tune.map.gpu(document, rank).blocks) {
    if (block.cluster == ClusterType::DP) continue;
    const StageSeconds stages = document.costs().of(*shown.layout, block.shard);
    const auto at = [&](Stage stage) { return stages[static_cast<std::size_t>(stage)]; };
    memory += at(Stage::model_forward) + at(Stage::local_reduce) + at(Stage::update);
    wires += at(Stage::network_forward) + at(Stage::network_backward);
    sort += kSortShare * at(Stage::index_calculation);
    if (names.size() < 60) {
      names += fmt::format(
          "{} {}  ", document.workload().tables[static_cast<std::size_t>(block.shard.table)].name,
          short_ms_text(load_seconds(stages)));
    }
  }
  const double all = std::max(1e-12, memory + wires + sort);
  ui.draw.text_fit(Font::small, area.x0 + 24, y + 17, area.width() - 36, ui.colors.secondary,
                   fmt::format("HBM traffic {:.0f} %  ·  wires {:.0f} %  ·  sort {:.0f} %",
                               memory / all * 100, wires / all * 100, sort / all * 100));
  ui.draw.text_fit(Font::mono_small, area.x0 + 24, y + 34, area.width() - 36, ui.colors.secondary,
                   names);
  return y + 60;
}

float draw_edits(Ui& ui, Desktop& desktop, const Rect& area, float y) {
  TuneState& tune = desktop.tune;
  Document& document = *desktop.document;
  ui.draw.text(Font::strong, area.x0 + kPadding, y, ui.colors.text, "Best single edits");
  const auto& best = tune.suggestions.best();
  ui.draw.text_right(Font::small, area.x1 - kPadding, y, ui.colors.tertiary,
                     tune.suggestions.finished() ? "click to apply · Alt+1…3" : "searching …");
  y += 13;
  if (best.empty() && tune.suggestions.finished()) {
    ui.draw.text(Font::small, area.x0 + kPadding, y + 14, ui.colors.tertiary,
                 "No single edit that was tried is faster. Plan tries many at once.");
    return y + 34;
  }
  int hovered = -1;
  for (std::size_t i = 0; i < best.size(); ++i) {
    const Suggestion& suggestion = best[i];
    const Rect rect = box(area.x0 + kPadding, y, area.width() - 2 * kPadding, 42);
    if (rect.y1 > area.y1) break;
    const Touch touch = ui.region(fmt::format("advice/edit/{}", i + 1), rect);
    if (touch.hovered) hovered = static_cast<int>(i);
    ui.draw.fill(rect, touch.hovered || i == 0 ? ui.colors.selection : ui.colors.header, 3);
    ui.draw.frame(rect, touch.hovered || i == 0 ? ui.colors.accent : ui.colors.strong_line, 3);
    const float first = rect.y0 + 13, second = rect.y0 + 30;
    ui.draw.text(Font::small, rect.x0 + 12, first, ui.colors.secondary, fmt::format("{}", i + 1));
    const std::string gain = signed_ms_text(-suggestion.gain_s) + " ms";
    const Color color = suggestion.gain_s >= 0 ? ui.colors.good : ui.colors.worse;
    ui.draw.text_right(Font::mono_strong, rect.x1 - 10, first, color, gain);
    ui.draw.text_fit(Font::strong, rect.x0 + 30, first,
                     rect.width() - 50 - ui.draw.width(Font::mono_strong, gain), ui.colors.text,
                     suggestion.edit.text);
    float x = rect.x0 + 30;
    if (suggestion.cures) {
      draw_tick(ui.draw, {x + 5, second}, ui.colors.good, 10);
      x += 18;
    }
    ui.draw.text_fit(Font::small, x, second, rect.x1 - 60 - x, ui.colors.secondary,
                     fmt::format("{}moves {}", suggestion.cures ? suggestion.cure_text + " · " : "",
                                 bytes_text(suggestion.edit.moved_bytes)));
    const double base = document.current().iteration_s;
    ui.draw.text_right(Font::mono_small, rect.x1 - 10, second, color,
                       signed_percent_text(base > 0 ? -suggestion.gain_s / base : 0));
    y += 47;
    if (touch.clicked) {
      const Edit edit = suggestion.edit;
      tune.hovered_suggestion = -1;
      document.apply(edit);
      return y;
    }
  }
  if (tune.drag.kind == MapDrag::Kind::none && hovered != tune.hovered_suggestion) {
    tune.hovered_suggestion = hovered;
    if (hovered >= 0) {
      document.preview(best[static_cast<std::size_t>(hovered)].edit);
    } else {
      document.clear_preview();
    }
  }
  return y + 8;
}

/// Why absolute times are not to be believed yet, and the button that mends it. Returns where
/// the next lines begin.
float draw_trust(Ui& ui, Desktop& desktop, const Rect& area, float y) {
  const auto wanted = calibration_wanted(desktop);
  if (!wanted || y + 20 > area.y1) return y;
  const LiveJob* job = desktop.engine != nullptr ? desktop.engine->job() : nullptr;
  const std::string refusal = calibration_refusal(desktop.document->topology());
  const bool measuring = job != nullptr && job->kind == service::JobKind::calibrate;
  const std::string label = measuring ? fmt::format("{:.0f} %", job->share * 100) : "Calibrate now";
  const Rect rect{area.x1 - kPadding - button_width(ui, "Calibrate now"), y - 4, area.x1 - kPadding,
                  y + 20};
  draw_warning(ui.draw, {area.x0 + 18, y + 2}, ui.colors.warning, ui.colors.pane, 12);
  const float room = rect.x0 - area.x0 - 40;
  ui.draw.text_fit(Font::small, area.x0 + 32, y, room, ui.colors.text, wanted->reason);
  ui.draw.text_fit(Font::small, area.x0 + 32, y + 16, room, ui.colors.tertiary,
                   "absolute times are estimates; comparisons hold better");
  if (ui.hovers({area.x0, y - 8, rect.x0, y + 24})) ui.tooltip(wanted->reason);
  if (button(ui, "advice/calibrate", rect, label,
             {.enabled = refusal.empty() && job == nullptr,
              .tooltip = !refusal.empty() ? std::string_view(refusal)
                                          : "Measures this host's CPU for about half a minute"})) {
    start_calibration(desktop);
  }
  return y + 38;
}

void draw_notes(Ui& ui, const Desktop& desktop, const Rect& area, float y) {
  if (y + 30 > area.y1) return;
  ui.draw.text(Font::strong, area.x0 + kPadding, y, ui.colors.text, "Notes");
  y += 19;
  const Document& document = *desktop.document;
  const auto note = [&](const std::string& first, const std::string& second) {
    if (y + 20 > area.y1) return;
    draw_warning(ui.draw, {area.x0 + 18, y + 2}, ui.colors.warning, ui.colors.pane, 12);
    ui.draw.text_fit(Font::small, area.x0 + 32, y, area.width() - 44, ui.colors.text, first);
    ui.draw.text_fit(Font::small, area.x0 + 32, y + 16, area.width() - 44, ui.colors.tertiary,
                     second);
    y += 38;
  };
  for (const Violation& violation : document.shown().violations) {
    if (violation.severity == Severity::warning) note(violation.message, violation.cure);
  }
}

}  // namespace

void draw_advice_panel(Ui& ui, Desktop& desktop, Rect area) {
  ui.draw.fill(area, ui.colors.pane);
  ui.pane("Why, and what next", area, [&desktop] { return edits_table(desktop); });
  const Document& document = *desktop.document;
  // An edit in a pane drawn before this one may have changed the layout.
  desktop.tune.map.update(document.shown().layout, static_cast<MapWidth>(desktop.tune.width));
  pane_header(ui, area.take_top(kHeaderHeight), "Why, and what next",
              desktop.tune.drag.active() && document.previewing() ? "with the drag applied"
              : document.previewing()                             ? "with the edit applied"
                                      : "what binds, and the best edits");
  ui.draw.clip(area);
  float y = area.y0 + 16;
  y = draw_violations(ui, document.shown(), area, y);
  y = draw_trust(ui, desktop, area, y);
  if (document.shown().priced) y = draw_binding(ui, desktop, area, y);
  y = draw_edits(ui, desktop, area, y);
  draw_notes(ui, desktop, area, y);
  ui.draw.unclip();
}

}  // namespace shardscope::ui
