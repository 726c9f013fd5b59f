#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "storage/queries/runs.hpp"
#include "ui/draw/symbols.hpp"
#include "ui/model/numbers.hpp"
#include "ui/panels/timeline_parts.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

constexpr std::array<std::string_view, 2> kTimelineColours = {"Stage", "Cluster"};

std::vector<MenuItem> run_items(Desktop& desktop) {
  std::vector<MenuItem> items;
  items.push_back({"Simulated iteration of the current layout", "SIMULATED", true, [&desktop] {
                     desktop.timeline.opened = "simulated";
                     desktop.timeline.source.reset();
                   }});
  if (desktop.session == nullptr) return items;
  const auto runs = storage::list_runs(*desktop.session);
  if (!runs) return items;
  for (auto run = runs->rbegin(); run != runs->rend(); ++run) {
    items.push_back(
        {fmt::format("run {} · {} · {}", run->id, run->layout_name, plural(run->spans, "span")),
         run->mode, run->spans > 0, [&desktop, id = run->id] { desktop.open_run(id); }});
  }
  return items;
}

void find_field(Ui& ui, TimelineState& timeline, float& x, float y, float width) {
  const Rect rect = box(x, y, width, kFieldHeight);
  Rect text = rect;
  text.x0 += 22;
  text.x1 -= timeline.find.empty() ? 2.0F : 150.0F;
  ui.draw.fill(rect, ui.colors.field, 2);
  ui.draw.frame(rect, ui.colors.strong_line, 2);
  draw_magnifier(ui.draw, {rect.x0 + 12, rect.center_y()}, ui.colors.tertiary);
  if (field(ui, "timeline/find", text, timeline.find,
            {.placeholder = "find in the range: stage, cluster, gpu 3", .live = true})) {
    update_find(timeline);
  }
  if (!timeline.find.empty()) {
    ui.draw.text_right(
        Font::mono_small, rect.x1 - 66, rect.center_y(), ui.colors.secondary,
        timeline.found.empty()
            ? "none"
            : fmt::format("{} of {}", timeline.found_at + 1,
                          grouped_text(static_cast<std::int64_t>(timeline.found.size()))));
    const Rect up = box(rect.x1 - 62, y, 20, kFieldHeight);
    const Rect down = up.moved(20, 0);
    const Rect clear = up.moved(40, 0);
    if (ui.region("timeline/find/previous", up).clicked) step_find(timeline, -1);
    if (ui.region("timeline/find/next", down).clicked) step_find(timeline, 1);
    if (ui.region("timeline/find/clear", clear).clicked) {
      timeline.find.clear();
      update_find(timeline);
    }
    draw_caret_up(ui.draw, {up.center_x(), up.center_y()}, ui.colors.secondary);
    draw_caret_down(ui.draw, {down.center_x(), down.center_y()}, ui.colors.secondary);
    draw_cross(ui.draw, {clear.center_x(), clear.center_y()}, ui.colors.secondary, 7);
  }
  x = rect.x1 + 18;
}

}  // namespace

void draw_timeline_tools(Ui& ui, Desktop& desktop, const Rect& tools) {
  TimelineState& timeline = desktop.timeline;
  ui.draw.fill(tools, ui.colors.header);
  ui.draw.horizontal(tools.x0, tools.x1, tools.y1 - 1, ui.colors.line);
  const float y = tools.y0 + 7;
  float x = tools.x0 + kPadding;
  // Buttons first: what does not fit left of them is in the palette.
  float right = tools.x1 - kPadding;
  const auto place = [&](float width) {
    right -= width + 6;
    return box(right + 6, y, width, kFieldHeight);
  };
  if (button(ui, "timeline/back", place(84), "Back", {.hint = "Bksp"})) timeline.view.back();
  if (button(ui, "timeline/fit_range", place(86), "Fit range",
             {.enabled = timeline.range.has_value(), .hint = "F"}) &&
      timeline.range) {
    timeline.view.go_to(*timeline.range);
  }
  if (button(ui, "timeline/fit_all", place(70), "Fit all", {.hint = "0"})) timeline.view.fit_all();
  const auto fits = [&](float width) { return x + width + 10 < right; };
  find_field(ui, timeline, x, y, std::clamp(tools.width() * 0.22F, 200.0F, 360.0F));
  ui.draw.text(Font::small, x, y + 11, ui.colors.tertiary, "Colour");
  x = segmented(ui, "timeline/colour", x + 44, y, kTimelineColours, timeline.colour) + 14;
  for (const auto& [name, label, on] :
       {std::tuple{"timeline/ghost", "Predicted ghost", &timeline.show_ghost},
        {"timeline/path", "Critical path", &timeline.show_path},
        {"timeline/idle", "Hide idle ranks", &timeline.hide_idle}}) {
    if (!fits(ui.draw.width(Font::body, label) + 34)) continue;
    toggle(ui, name, x, y, label, *on, &x);
    x += 8;
  }
  x += 8;
  if (timeline.source != nullptr && fits(110)) {
    const float badge = mode_badge(ui, x, y + 11, timeline.source->mode());
    const std::string title = timeline.source->title();
    const Rect chooser = box(x + badge + 8, y,
                             std::min(260.0F, ui.draw.width(Font::body, title) + 28), kFieldHeight);
    if (chooser.x1 < right) {
      const Touch touch = ui.region("timeline/run", chooser);
      if (touch.hovered) ui.draw.fill(chooser, ui.colors.control, 2);
      const float shown = ui.draw.text_fit(Font::body, chooser.x0 + 6, chooser.center_y(),
                                           chooser.width() - 24, ui.colors.text, title);
      draw_caret_down(ui.draw, {chooser.x0 + shown + 16, chooser.center_y()}, ui.colors.tertiary);
      if (touch.clicked) desktop.menu = Menu{{chooser.x0, chooser.y1}, run_items(desktop)};
    }
  }
}

void add_timeline_commands(std::vector<Command>& list, Desktop& desktop, UiMemory& memory) {
  TimelineState& timeline = desktop.timeline;
  list.push_back({"Find in the timeline", "Ctrl+F", 'F', kCtrl, true,
                  [&] { focus_field(memory, "timeline/find", timeline.find); }});
  list.push_back({"Next found event", "F3", key::kF3, kNone, !timeline.found.empty(),
                  [&] { step_find(timeline, 1); }});
  list.push_back({"Previous found event", "Shift+F3", key::kF3, kShift, !timeline.found.empty(),
                  [&] { step_find(timeline, -1); }});
  list.push_back({timeline.show_ghost ? "Hide the predicted ghost" : "Show the predicted ghost", "",
                  0, kNone, true, [&] { timeline.show_ghost = !timeline.show_ghost; }});
  list.push_back({timeline.show_path ? "Hide the critical path" : "Show the critical path", "", 0,
                  kNone, true, [&] { timeline.show_path = !timeline.show_path; }});
  list.push_back({timeline.hide_idle ? "Show idle ranks" : "Hide idle ranks", "", 0, kNone, true,
                  [&] { timeline.hide_idle = !timeline.hide_idle; }});
  list.push_back({"Fold or unfold all ranks", "", 0, kNone, timeline.source != nullptr, [&] {
                    const bool fold = timeline.folded.empty();
                    timeline.folded.clear();
                    for (const TimelineTrack& track : timeline.source->tracks()) {
                      if (fold) timeline.folded.insert(track.rank);
                    }
                  }});
  list.push_back({"Fit the selected range", "F", 'F', kNone, timeline.range.has_value(),
                  [&] { timeline.view.go_to(*timeline.range); }});
  list.push_back({"Fit the whole run", "0", '0', kNone, true, [&] { timeline.view.fit_all(); }});
  list.push_back({"Back to the view before", "Backspace", key::kBackspace, kNone, true,
                  [&] { timeline.view.back(); }});
  list.push_back({"Next event of the track", ".", key::kPeriod, kNone,
                  timeline.selected.has_value(), [&] { step_event(timeline, 1); }});
  list.push_back({"Previous event of the track", ",", key::kComma, kNone,
                  timeline.selected.has_value(), [&] { step_event(timeline, -1); }});
  list.push_back({"Hide the selected event's rank", "H", 'H', kNone, timeline.selected.has_value(),
                  [&] { timeline.hidden.insert(timeline.selected->rank); }});
  list.push_back({"Show hidden ranks again", "Shift+H", 'H', kShift, !timeline.hidden.empty(),
                  [&] { timeline.hidden.clear(); }});
  list.push_back(
      {"Pin the selected event's rank", "K", 'K', kNone, timeline.selected.has_value(), [&] {
         const std::int32_t rank = timeline.selected->rank;
         if (std::erase(timeline.pinned, rank) == 0) timeline.pinned.push_back(rank);
       }});
}

}  // namespace shardscope::ui
