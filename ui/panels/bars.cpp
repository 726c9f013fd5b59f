#include <fmt/format.h>

#include "layout/models.hpp"
#include "ui/desktop/run_control.hpp"
#include "ui/desktop/save.hpp"
#include "ui/draw/symbols.hpp"
#include "ui/model/numbers.hpp"
#include "ui/panels/panels.hpp"
#include "ui/panels/titles.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

constexpr float kNamed = 1200;  ///< narrower windows show the logo alone

/// Label over value with a caret; true when clicked. Returns where it ends through `x`.
bool chooser(Ui& ui, std::string_view name, float& x, const Rect& bar, std::string_view label,
             const std::string& value, float room) {
  const float width = std::min(ui.draw.width(Font::strong, value) + 24, room);
  const Rect rect = box(x - 6, bar.y0 + 4, width + 12, bar.height() - 8);
  const Touch touch = ui.region(name, rect);
  if (touch.hovered) ui.draw.fill(rect, ui.colors.control, 2);
  ui.draw.text(Font::small, x, bar.y0 + 14, ui.colors.tertiary, label);
  const float shown =
      ui.draw.text_fit(Font::strong, x, bar.y0 + 30, width - 18, ui.colors.text, value);
  draw_caret_down(ui.draw, {x + shown + 12, bar.y0 + 30}, ui.colors.tertiary);
  x += width + 28;
  return touch.clicked;
}

std::vector<MenuItem> names_menu(const std::vector<std::string>& names,
                                 std::function<void(const std::string&)> pick) {
  std::vector<MenuItem> items;
  for (const std::string& name : names)
    items.push_back({name, "", true, [pick, name] { pick(name); }});
  return items;
}

/// What the times on this screen mean.
struct ShownMode {
  Mode mode = Mode::simulated;
  std::string words;
};

ShownMode shown_mode(const Desktop& desktop) {
  if (desktop.workspace == Workspace::timeline && desktop.timeline.source != nullptr) {
    return {desktop.timeline.source->mode(), desktop.timeline.source->title()};
  }
  if (desktop.workspace == Workspace::run && desktop.run.shown) {
    const storage::RunRecord& run = desktop.run.shown->record;
    return {desktop.run.shown->a.mode,
            fmt::format("{}/{}, {} ranks", run.backend, run.comm, run.ranks)};
  }
  return {Mode::simulated,
          fmt::format("planner model, {} preset, {} schedule", desktop.document->topology().name,
                      shardscope::to_string(desktop.document->options().schedule))};
}

void open_choosers(Ui& ui, Desktop& desktop, const Rect& bar, float x, float end) {
  constexpr float kBadge = 110;
  constexpr float kLeast = 76;
  // Narrow windows show fewer choosers; the palette and the start screen have them all.
  const float width = end - x - kBadge;
  const float room = std::max(kLeast, (width + kBadge) / 4);
  const bool all = width > 3 * (kLeast + 28), one = width > kLeast;
  Point at{x - 6, bar.y1};
  if (all && chooser(ui, "top/model", x, bar, "Model",
                     model_title(*desktop.document, desktop.workload_name), room)) {
    desktop.menu = Menu{at, names_menu(model_names(), [&desktop](const std::string& name) {
                          desktop.try_open_model(name, desktop.topology_name, "table_row_wise");
                        })};
  }
  at.x = x - 6;
  if (all && chooser(ui, "top/topology", x, bar, "Topology",
                     topology_title(desktop.document->topology()), room)) {
    desktop.menu = Menu{at, names_menu(topology_names(), [&desktop](const std::string& name) {
                          desktop.try_open_model(desktop.workload_name, name, "table_row_wise");
                        })};
  }
  at.x = x - 6;
  const History& history = desktop.document->history();
  const std::string layout = layout_title(history, history.current());
  if (one && chooser(ui, "top/layout", x, bar, "Layout", layout, room)) {
    std::vector<MenuItem> items;
    for (const History::Line& line : history.lines()) {
      items.push_back({layout_title(history, line.node),
                       line.node == history.reference() ? "★" : "", true,
                       [&desktop, node = line.node] { desktop.document->go_to(node); }});
    }
    desktop.menu = Menu{at, std::move(items)};
  }
  const ShownMode shown = shown_mode(desktop);
  if (end - x < kBadge - 20) return;
  const float badge = mode_badge(ui, x + 8, bar.center_y(), shown.mode);
  const float words = end - x - badge - 30;
  if (words > 40) {
    ui.draw.text_fit(Font::small, x + badge + 18, bar.center_y(), words, ui.colors.tertiary,
                     shown.words);
  }
  if (ui.hovers({x, bar.y0, end, bar.y1})) ui.tooltip(shown.words);
}

void undo_buttons(Ui& ui, Desktop& desktop, float x, float y) {
  Document& document = *desktop.document;
  const Rect undo = box(x, y, 26, kButtonHeight);
  const Rect redo = box(x + 30, y, 26, kButtonHeight);
  const bool can_undo = document.history().can_undo();
  const bool can_redo = document.history().can_redo();
  if (button(ui, "top/undo", undo, "", {.enabled = can_undo, .tooltip = "Undo (Ctrl+Z)"})) {
    document.undo();
  }
  if (button(ui, "top/redo", redo, "", {.enabled = can_redo, .tooltip = "Redo (Ctrl+Shift+Z)"})) {
    document.redo();
  }
  const auto color = [&](bool on) { return on ? ui.colors.text : ui.colors.strong_line; };
  draw_undo(ui.draw, {undo.center_x(), undo.center_y()}, color(can_undo), false);
  draw_undo(ui.draw, {redo.center_x(), redo.center_y()}, color(can_redo), true);
}

/// The actions at the right; returns where they begin.
float action_buttons(Ui& ui, Desktop& desktop, const Rect& bar) {
  const float y = bar.y0 + 10;
  float x = bar.x1 - 12;
  const auto place = [&](float width) {
    x -= width;
    const Rect rect = box(x, y, width, kButtonHeight);
    x -= 7;
    return rect;
  };
  if (button(ui, "top/run", place(72), "Run", {.style = ButtonStyle::primary, .hint = "F5"})) {
    start_run(desktop, service::JobKind::run);
  }
  if (button(ui, "top/export", place(63), "Export", {})) desktop.exporting = true;
  if (button(ui, "top/compare", place(72), "Compare", {})) desktop.choose(Workspace::run);
  if (button(ui, "top/plan", place(54), "Plan", {})) desktop.choose(Workspace::scale);
  ui.draw.vertical(x - 3, y, y + kButtonHeight, ui.colors.line);
  x -= 70;
  undo_buttons(ui, desktop, x, y);
  return x;
}

}  // namespace

void draw_top_bar(Ui& ui, Desktop& desktop, const Rect& bar) {
  ui.draw.fill(bar, ui.colors.header);
  ui.draw.horizontal(bar.x0, bar.x1, bar.y1 - 1, ui.colors.line);
  const float y = bar.center_y();
  draw_logo(ui.draw, {bar.x0 + 14, bar.y0 + 13}, ui.colors);
  const bool start = desktop.document == nullptr || desktop.workspace == Workspace::start;
  const bool named = start || bar.width() >= kNamed;
  if (named) ui.draw.text(Font::title, bar.x0 + 40, y, ui.colors.text, "Shardscope");
  if (start) {
    ui.draw.text(Font::mono_small, bar.x0 + 124, y, ui.colors.tertiary, "0.1.0");
    ui.draw.text_right(Font::small, bar.x1 - 14, y, ui.colors.tertiary,
                       "F1 keys    Ctrl+P commands    Ctrl+O open");
    return;
  }
  const float actions = action_buttons(ui, desktop, bar);
  float x = bar.x0 + (named ? 134.0F : 44.0F);
  const float narrow = bar.width() < 1500 ? 9.0F : 13.0F;
  for (std::size_t i = 0; i < kWorkspaceNames.size(); ++i) {
    const auto workspace = static_cast<Workspace>(i + 1);
    const bool on = desktop.workspace == workspace;
    const Rect tab = box(
        x, bar.y0, ui.draw.width(on ? Font::title : Font::name, kWorkspaceNames[i]) + 2 * narrow,
        bar.height());
    const Touch touch = ui.region("top/tab/" + std::string(kWorkspaceNames[i]), tab);
    if (touch.clicked) desktop.choose(workspace);
    if (on) {
      ui.draw.fill(tab, ui.colors.window);
      ui.draw.fill(box(tab.x0, tab.y0, tab.width(), 2), ui.colors.accent);
    }
    ui.draw.text_center(on ? Font::title : Font::name, tab.center_x(), y,
                        on || touch.hovered ? ui.colors.text : ui.colors.secondary,
                        kWorkspaceNames[i]);
    x = tab.x1;
  }
  ui.draw.vertical(x + 11, bar.y0 + 10, bar.y1 - 10, ui.colors.strong_line);
  open_choosers(ui, desktop, bar, x + 25, actions - 12);
}

void draw_status_bar(Ui& ui, const Desktop& desktop, const Rect& bar) {
  ui.draw.fill(bar, ui.colors.header);
  ui.draw.horizontal(bar.x0, bar.x1, bar.y0, ui.colors.line);
  const float y = bar.center_y() + 1;
  float x = bar.x0 + 12;
  const auto item = [&](Color color, const std::string& text, bool mono = false) {
    const Font font = mono ? Font::mono_small : Font::small;
    ui.draw.text(font, x, y, color, text);
    x += ui.draw.width(font, text) + 9;
    ui.draw.vertical(x, bar.y0 + 7, bar.y1 - 6, ui.colors.strong_line);
    x += 9;
  };
  if (desktop.document != nullptr) {
    const Document& document = *desktop.document;
    const int errors = document.shown().errors;
    if (document.workload().tables.empty()) {
      item(ui.colors.secondary, "no model");
    } else if (errors > 0) {
      draw_cross(ui.draw, {x + 4, y}, ui.colors.error);
      x += 16;
      item(ui.colors.error, plural(errors, "violation"));
    } else {
      draw_tick(ui.draw, {x + 4, y}, ui.colors.good);
      x += 16;
      item(ui.colors.secondary,
           fmt::format("valid for {}", shardscope::to_string(document.executor())));
    }
    if (document.previewing()) item(ui.colors.text, document.preview_text());
    const int unsaved = unsaved_layouts(document);
    item(ui.colors.secondary, unsaved > 0 ? plural(unsaved, "layout") + " not saved" : "saved");
    item(ui.colors.secondary, fmt::format("what-if {:.2f} ms", document.shown().computed_ms), true);
  }
  if (desktop.settings.show_frame_ms) {
    item(ui.colors.secondary, fmt::format("frame {:.2f} ms", desktop.frame_ms), true);
  }
  item(ui.colors.tertiary, desktop.engine_state);
  std::string hints = "F1 keys    Ctrl+P commands";
  if (desktop.tune.drag.active()) {
    hints = "Shift copies · Alt splits while dragging    Esc cancels the drag    " + hints;
  } else if (desktop.workspace == Workspace::timeline) {
    hints = "drag selects · Shift+drag pans · WASD pan, zoom    " + hints;
  } else if (desktop.workspace == Workspace::tune) {
    hints = "drag moves a shard · right click for all actions    " + hints;
  }
  if (ui.draw.width(Font::small, hints) < bar.x1 - x - 12) {
    ui.draw.text_right(Font::small, bar.x1 - 12, y, ui.colors.tertiary, hints);
  }
}

void draw_workspace(Ui& ui, Desktop& desktop, const Rect& area) {
  switch (desktop.document == nullptr ? Workspace::start : desktop.workspace) {
    case Workspace::start:
      draw_start(ui, desktop, area);
      return;
    case Workspace::tune:
      draw_tune(ui, desktop, area);
      return;
    case Workspace::run:
      draw_run(ui, desktop, area);
      return;
    case Workspace::timeline:
      draw_timeline(ui, desktop, area);
      return;
    case Workspace::scale:
      draw_scale(ui, desktop, area);
      return;
    case Workspace::history:
      draw_history(ui, desktop, area);
      return;
  }
}

}  // namespace shardscope::ui
