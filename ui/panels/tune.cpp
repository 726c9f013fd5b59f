#include <algorithm>
#include <array>
#include <string_view>

#include "ui/panels/panels.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

constexpr float kInspectorDocks = 1500;  ///< narrower windows show it as a tab under the map
constexpr float kTablesDock = 1100;
constexpr float kLow = 700;  ///< lower windows keep the strip small and the map high
constexpr float kLeastStrip = 120;
constexpr std::array<std::string_view, 2> kSides = {"Inspector", "Why, and what next"};

/// Inspector and advice as tabs beside the map, where there is no room for both.
void draw_side(Ui& ui, Desktop& desktop, Rect area) {
  const Rect tabs = area.take_top(kToolHeight);
  ui.draw.fill(tabs, ui.colors.header);
  segmented(ui, "tune/side", tabs.x0 + kPadding, tabs.y0 + 6, kSides, desktop.tune.side);
  if (desktop.tune.side == 0) {
    draw_inspector_panel(ui, desktop, area);
  } else {
    draw_advice_panel(ui, desktop, area);
  }
}

}  // namespace

void draw_tune(Ui& ui, Desktop& desktop, Rect area) {
  if (desktop.document->workload().tables.empty()) {
    ui.draw.fill(area, ui.colors.pane);
    ui.draw.text_center(
        Font::body, area.center_x(), area.y0 + 60, ui.colors.secondary,
        "No model. What is open is a trace that names no tables: see the Timeline.");
    if (button(ui, "tune/start", box(area.center_x() - 70, area.y0 + 84, 140, kButtonHeight),
               "Choose a model", {})) {
      desktop.choose(Workspace::start);
    }
    return;
  }
  Settings& sizes = desktop.settings;
  TuneState& tune = desktop.tune;
  if (!tune.suggestions.work(*desktop.document, 3) || !desktop.document->bound()) {
    desktop.busy = true;
  }
  tune.list.update(*desktop.document);

  const bool wide = area.width() >= kInspectorDocks;
  const bool low = area.height() < kLow;
  const float strip_room = low ? kLeastStrip : area.height() - 200;
  const float strip =
      std::min(std::max(kLeastStrip, sizes.strip_height), std::max(kLeastStrip, strip_room));
  Rect strip_rect = area.take_bottom(strip);
  const Rect strip_line = strip_rect.take_top(1);
  if (area.width() >= kTablesDock || tune.tables_open) {
    draw_tables_panel(ui, desktop, area.take_left(sizes.tables_width));
    gutter(ui, "tune/gutter/tables", area.take_left(1), true, 1, sizes.tables_width, 260,
           area.width() - 300);
  }
  if (wide) {
    Rect right = area.take_right(sizes.inspector_width);
    gutter(ui, "tune/gutter/inspector", area.take_right(1), true, -1, sizes.inspector_width, 300,
           area.width());
    const float inspector = sizes.advice_height > 0 ? right.height() - sizes.advice_height
                                                    : std::min(480.0F, right.height() * 0.6F);
    draw_inspector_panel(ui, desktop, right.take_top(inspector));
    draw_advice_panel(ui, desktop, right);
  } else if (low && area.width() > 620) {
    draw_side(ui, desktop, area.take_right(std::min(340.0F, area.width() * 0.36F)));
    ui.draw.fill(area.take_right(1), ui.colors.window);
  } else {
    const float under = std::min(220.0F, area.height() * 0.42F);
    Rect below = area.take_bottom(under);
    const Rect line = below.take_top(1);
    ui.draw.fill(line, ui.colors.window);
    draw_inspector_panel(ui, desktop, below.take_left(below.width() / 2));
    draw_advice_panel(ui, desktop, below);
  }
  draw_map_panel(ui, desktop, area);
  draw_prediction_panel(ui, desktop, strip_rect);
  gutter(ui, "tune/gutter/strip", strip_line, false, -1, sizes.strip_height, 120,
         std::max(120.0F, strip_room));
}

}  // namespace shardscope::ui
