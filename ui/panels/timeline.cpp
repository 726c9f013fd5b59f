#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "storage/queries/runs.hpp"
#include "storage/queries/stages.hpp"
#include "ui/model/numbers.hpp"
#include "ui/model/run_prediction.hpp"
#include "ui/model/words.hpp"
#include "ui/panels/pane_tables.hpp"
#include "ui/panels/panels.hpp"
#include "ui/panels/timeline_parts.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

constexpr float kTrackLabels = 150;
constexpr double kZoomStep = 1.25;

/// What the planner says of the run that is shown, with its batch, wires and schedule.
void predict_shown_run(Desktop& desktop) {
  TimelineState& timeline = desktop.timeline;
  timeline.ghost_of = timeline.opened;
  timeline.ghost.reset();
  std::int64_t run = 0;
  const std::string& text = timeline.opened;
  std::from_chars(text.data(), text.data() + text.size(), run);
  if (desktop.session == nullptr || run <= 0) return;
  const auto record = storage::find_run(*desktop.session, run);
  if (!record) return;
  // Of a run that did not end, summing up its stages would read every span.
  std::vector<StageRow> measured;
  if (record->ended) {
    if (const auto stages = storage::run_stages(*desktop.session, run)) measured = stages->table();
  }
  // A trace of an unknown model has no prediction.
  auto predicted = predict_run(*desktop.session, *record, measured);
  if (!predicted) return;
  timeline.ghost = memory_source(std::move(predicted->spans), Mode::simulated, "prediction");
}

/// Without a recorded run, the simulated iteration of the current layout.
void follow_document(Desktop& desktop) {
  TimelineState& timeline = desktop.timeline;
  const Document& document = *desktop.document;
  const std::string version = fmt::format("simulated {}", document.history().current());
  const bool recorded = timeline.source != nullptr && !timeline.opened.starts_with("simulated");
  if (!recorded && timeline.opened != version) {
    open_timeline(
        timeline,
        memory_source(document.current().spans, Mode::simulated,
                      "one iteration of the current layout", gpu_word(document.topology())),
        version);
    timeline.path = document.current().path_pieces;
  }
  if (!recorded) return;
  if (!update_path(timeline)) desktop.busy = true;
  if (timeline.ghost_of != timeline.opened) predict_shown_run(desktop);
}

/// False while a run that did not end is being closed beside the frame.
bool prepare(Desktop& desktop) {
  TimelineState& timeline = desktop.timeline;
  if (timeline.source == nullptr) return true;
  switch (timeline.source->preparation()) {
    case TimelineSource::Preparation::none:
      return true;
    case TimelineSource::Preparation::done: {
      std::string opened = timeline.opened;
      open_timeline(timeline, std::move(timeline.source), std::move(opened));
      return true;
    }
    case TimelineSource::Preparation::going_on:
      break;
  }
  desktop.busy = true;
  return false;
}

void hand_keys(Ui& ui, TimelineState& timeline, const TimeScale& scale) {
  if (ui.in.typing) return;
  TimeView& view = timeline.view;
  const double at = std::clamp(scale.ns(ui.in.mouse.x), view.shown().begin, view.shown().end);
  if (ui.key('W', kNone, true)) view.zoom(1 / kZoomStep, at);
  if (ui.key('S', kNone, true)) view.zoom(kZoomStep, at);
  if (ui.key('A', kNone, true)) view.pan(-view.shown().length() * 0.15);
  if (ui.key('D', kNone, true)) view.pan(view.shown().length() * 0.15);
}

void hand_mouse(Ui& ui, TimelineState& timeline, const TimeScale& scale, const Rect& area) {
  TimeView& view = timeline.view;
  const double at = scale.ns(ui.in.mouse.x);
  const bool inside = ui.hovers(area) && ui.in.mouse.x >= scale.x0;
  if (inside && ui.in.wheel != 0) {
    if (ui.in.shift) {
      timeline.scroll -= ui.in.wheel * 60;
    } else {
      view.zoom(std::pow(kZoomStep, -ui.in.wheel), at);
    }
  }
  const double per_pixel = view.shown().length() / (scale.x1 - scale.x0);
  const bool wants_pan = (ui.in.shift && ui.in.is_pressed(Button::left)) ||
                         ui.in.is_pressed(Button::right) || ui.in.is_pressed(Button::middle);
  if (inside && wants_pan) timeline.panning = true;
  const bool any_down =
      ui.in.is_down(Button::left) || ui.in.is_down(Button::right) || ui.in.is_down(Button::middle);
  if (!any_down) {
    if (timeline.panning) view.settle();
    timeline.panning = false;
  }
  if (timeline.panning) {
    view.pan(-ui.in.moved.x * per_pixel);
    timeline.scroll -= ui.in.moved.y;
    return;
  }
  if (inside && ui.in.is_pressed(Button::left) && ui.memory().held == 0) {
    timeline.drag_start = at;
    timeline.measuring = ui.in.ctrl;
    timeline.dragged_handle = -1;
    if (timeline.range) {
      // The edges of the range are handles.
      if (std::abs(ui.in.mouse.x - scale.x(timeline.range->begin)) < 5) timeline.dragged_handle = 0;
      if (std::abs(ui.in.mouse.x - scale.x(timeline.range->end)) < 5) timeline.dragged_handle = 1;
    }
  }
  if (!timeline.drag_start) return;
  if (ui.in.is_down(Button::left)) {
    const double moved = std::abs(at - *timeline.drag_start);
    if (timeline.dragged_handle >= 0 && timeline.range) {
      const double other =
          timeline.dragged_handle == 0 ? timeline.range->end : timeline.range->begin;
      timeline.range = TimeRange{std::min(at, other), std::max(at, other)};
    } else if (moved > 4 * per_pixel) {
      timeline.range =
          TimeRange{std::min(at, *timeline.drag_start), std::max(at, *timeline.drag_start)};
    }
    return;
  }
  const bool click = std::abs(at - *timeline.drag_start) <= 4 * per_pixel;
  timeline.drag_start.reset();
  if (!click) return;
  if (timeline.hovered) {
    timeline.selected = timeline.hovered;
  } else {
    timeline.range.reset();
    timeline.selected.reset();
  }
}

void draw_selected_range(Ui& ui, const TimelineState& timeline, const TimeScale& scale, float top,
                         float bottom) {
  if (!timeline.range) return;
  const float x0 = std::max(scale.x(timeline.range->begin), scale.x0);
  const float x1 = std::min(scale.x(timeline.range->end), scale.x1);
  if (x1 < x0) return;
  ui.draw.fill({x0, top, x1, bottom}, with_alpha(ui.colors.accent, 24));
  for (const float x : {x0, x1}) {
    ui.draw.vertical(x - 1, top, bottom, ui.colors.accent, 2);
    ui.draw.fill(box(x - 4, top, 9, 8), ui.colors.accent, 2);
  }
  const std::string words = duration_text(timeline.range->length());
  const float width = ui.draw.width(Font::mono_strong, words) + 16;
  const Rect label = box((x0 + x1 - width) / 2, top, width, 18);
  ui.draw.fill(label, ui.colors.accent, 2);
  ui.draw.text_center(Font::mono_strong, label.center_x(), label.center_y(), ui.colors.on_accent,
                      words);
}

}  // namespace

void draw_timeline(Ui& ui, Desktop& desktop, Rect area) {
  TimelineState& timeline = desktop.timeline;
  Settings& sizes = desktop.settings;
  const bool ready = prepare(desktop);
  if (ready) follow_document(desktop);
  ui.draw.fill(area, ui.colors.pane);
  draw_timeline_tools(ui, desktop, area.take_top(kToolHeight + 2));
  if (!ready) {
    ui.draw.text_center(Font::body, area.center_x(), area.y0 + 60, ui.colors.secondary,
                        "This run did not end: its program was stopped.");
    ui.draw.text_center(Font::small, area.center_x(), area.y0 + 80, ui.colors.tertiary,
                        "Its spans are being indexed, once. Everything else goes on.");
    return;
  }
  if (timeline.source == nullptr || timeline.source->tracks().empty()) {
    ui.draw.text_center(
        Font::body, area.center_x(), area.y0 + 60, ui.colors.tertiary,
        timeline.error.empty() ? "Nothing traced. Runs trace one block in 8." : timeline.error);
    return;
  }
  Rect right = area.take_right(area.width() > 1100 ? sizes.range_width : 0);
  if (!right.empty()) {
    gutter(ui, "timeline/gutter/range", area.take_right(1), true, -1, sizes.range_width, 260, 700);
  }
  Rect events = area.take_bottom(std::min(sizes.events_height, area.height() * 0.4F));
  gutter(ui, "timeline/gutter/events", events.take_top(1), false, -1, sizes.events_height, 60, 700);
  timeline.queries = timeline.boxes = 0;
  timeline.query_ms = timeline.query_cpu_ms = 0;
  timeline.shown_spans = 0;
  timeline.hovered.reset();
  draw_overview(ui, desktop, area.take_top(34), kTrackLabels);
  const Rect ruler = area.take_top(24);
  const TimeScale scale{area.x0 + kTrackLabels, area.x1, timeline.view.shown()};
  ui.pane("Tracks", area, [&desktop] { return events_table(desktop); });
  ui.name("timeline/tracks", {scale.x0, area.y0, area.x1, area.y1});
  draw_ruler(ui, desktop, scale, ruler, area.y1);
  ui.draw.clip(area);
  draw_tracks(ui, desktop, scale, area);
  ui.draw.unclip();
  ui.draw.clip({scale.x0, ruler.y0, area.x1, area.y1});
  draw_selected_range(ui, timeline, scale, ruler.y0 + 2, area.y1);
  ui.draw.unclip();
  if (!desktop.palette.open && !desktop.menu) {
    hand_mouse(ui, timeline, scale, {area.x0, ruler.y0, area.x1, area.y1});
    hand_keys(ui, timeline, scale);
  }
  // Statistics read thousands of events: they wait until the view stands still.
  const bool moving = ui.in.wheel != 0 || ui.key('W', kNone, true) || ui.key('S', kNone, true) ||
                      ui.key('A', kNone, true) || ui.key('D', kNone, true);
  if (moving && timeline.statistics_of) {
    desktop.busy = true;
  } else if (!timeline.drag_start && !timeline.panning) {
    update_range(timeline);
  }
  if (timeline.activities != nullptr && timeline.statistics_of) {
    if (!timeline.drag_start && !timeline.panning)
      timeline.activities->ask(*timeline.statistics_of);
    if (timeline.activities->poll()) desktop.busy = true;
  }
  draw_events(ui, desktop, events);
  if (!right.empty()) draw_range_pane(ui, desktop, right);
}

}  // namespace shardscope::ui
