#include <fmt/format.h>

#include <algorithm>

#include "ui/draw/symbols.hpp"
#include "ui/model/numbers.hpp"
#include "ui/model/plan_diff.hpp"
#include "ui/panels/pane_tables.hpp"
#include "ui/panels/panels.hpp"
#include "ui/panels/titles.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

constexpr float kLine = 30;
constexpr float kDiffWidth = 520;

struct HistoryColumns {
  float edit, note, predicted, measured, change, actions;
  explicit HistoryColumns(const Rect& area) {
    actions = area.x1 - 150;
    change = actions - 30;
    measured = change - 100;
    predicted = measured - 100;
    note = std::max(area.x0 + 380, predicted - 320);
    edit = area.x0 + kPadding;
  }
};

void draw_line(Ui& ui, Desktop& desktop, const History::Line& line, const Rect& row,
               const HistoryColumns& at) {
  Document& document = *desktop.document;
  History& history = document.history();
  HistoryNode& node = history.node(line.node);
  const std::string id = fmt::format("history/{}", line.node);
  const Rect main{row.x0, row.y0, at.note - 8, row.y1};
  const Touch touch = ui.region(id, main);
  const bool current = history.current() == line.node;
  if (current) {
    ui.draw.fill(row, ui.colors.selection);
    ui.draw.fill({row.x0, row.y0, row.x0 + 3, row.y1}, ui.colors.accent);
  } else if (touch.hovered) {
    ui.draw.fill(row, ui.colors.control);
  }
  if (touch.clicked) desktop.history.selected = line.node;
  if (touch.double_clicked) document.go_to(line.node);
  if (desktop.history.selected == line.node) ui.draw.frame(row, ui.colors.accent);
  const float y = row.center_y();
  const float x = at.edit + 18 * static_cast<float>(line.depth);
  ui.draw.vertical(x + 4, row.y0, row.y1, ui.colors.strong_line);
  ui.draw.circle({x + 4.5F, y}, 4, current ? ui.colors.accent : ui.colors.reference);
  const std::string title = layout_title(history, line.node);
  ui.draw.text(Font::strong, x + 18, y, ui.colors.text, title);
  float after = x + 28 + ui.draw.width(Font::strong, title);
  if (history.reference() == line.node) {
    ui.draw.text(Font::body, after, y, ui.colors.warning, "★");
    after += 20;
  }
  ui.draw.text_fit(Font::small, after, y, at.note - after - 12, ui.colors.secondary, node.edit);
  const Rect note{at.note, y - 11, at.predicted - 76, y + 11};
  if (note.width() > 60) {
    field(ui, id + "/note", note, node.note, {.placeholder = "note", .mono = false});
  }
  if (node.predicted_s > 0) {
    ui.draw.text_right(Font::mono, at.predicted, y, ui.colors.text, ms_text(node.predicted_s));
    const double star = history.node(history.reference()).predicted_s;
    if (star > 0) {
      const double change = node.predicted_s / star - 1;
      ui.draw.text_right(Font::mono, at.change, y,
                         change < -5e-4  ? ui.colors.good
                         : change > 5e-4 ? ui.colors.worse
                                         : ui.colors.tertiary,
                         signed_percent_text(change));
    }
  }
  if (node.measured_s) {
    ui.draw.text_right(Font::mono, at.measured, y, ui.colors.text, ms_text(*node.measured_s));
  }
  if (button(ui, id + "/go", box(at.actions, y - 10, 56, 20), "Go to", {.enabled = !current})) {
    document.go_to(line.node);
  }
  if (button(ui, id + "/star", box(at.actions + 62, y - 10, 78, 20), "Reference",
             {.enabled = history.reference() != line.node})) {
    document.set_reference(line.node);
  }
}

void draw_diff(Ui& ui, Desktop& desktop, Rect area) {
  Document& document = *desktop.document;
  const History& history = document.history();
  HistoryState& state = desktop.history;
  ui.draw.fill(area, ui.colors.pane);
  const int selected = state.selected >= 0 ? state.selected : history.reference();
  pane_header(ui, area.take_top(kHeaderHeight), "Difference",
              fmt::format("from the current {} to {}", layout_title(history, history.current()),
                          layout_title(history, selected)));
  if (selected == history.current()) {
    ui.draw.text(Font::small, area.x0 + kPadding, area.y0 + 22, ui.colors.tertiary,
                 "Select another layout: what it changes stands here.");
    return;
  }
  if (!state.diff || state.diff_from != history.current() || state.diff_to != selected) {
    state.diff = plan_diff(document, *history.node(selected).layout);
    state.diff_from = history.current();
    state.diff_to = selected;
  }
  float y = area.y0 + 20;
  if (state.diff->groups.empty()) {
    ui.draw.text(Font::small, area.x0 + kPadding, y, ui.colors.tertiary, "No table differs.");
  }
  const float gain = area.x1 - kPadding;
  for (const PlanGroup& group : state.diff->groups) {
    if (y > area.y1 - 20) break;
    ui.draw.text_fit(Font::strong, area.x0 + kPadding, y, area.width() - 110, ui.colors.text,
                     group.label);
    ui.draw.text_right(Font::mono, gain, y, group.gain_s >= 0 ? ui.colors.good : ui.colors.worse,
                       signed_ms_text(-group.gain_s) + " ms");
    ui.draw.text_fit(
        Font::small, area.x0 + kPadding, y + 16, area.width() - 24, ui.colors.secondary,
        fmt::format("{} → {} · {} move", group.was, group.becomes, bytes_text(group.moved_bytes)));
    y += 38;
  }
}

}  // namespace

void draw_history(Ui& ui, Desktop& desktop, Rect area) {
  Document& document = *desktop.document;
  Rect diff = area.take_right(std::min(kDiffWidth, area.width() * 0.36F));
  ui.draw.fill(area.take_right(1), ui.colors.window);
  draw_diff(ui, desktop, diff);
  ui.draw.fill(area, ui.colors.pane);
  ui.pane("History", area, [&desktop] { return history_table(desktop); });
  pane_header(ui, area.take_top(kHeaderHeight), "History",
              "every layout of this session; a branch begins where an edit followed an undo");
  const HistoryColumns at(area);
  const Rect header = area.take_top(22);
  ui.draw.fill(header, ui.colors.header);
  const float y = header.center_y();
  ui.draw.text(Font::small, at.edit, y, ui.colors.tertiary, "layout, and the edit that led to it");
  ui.draw.text(Font::small, at.note, y, ui.colors.tertiary, "note");
  ui.draw.text_right(Font::small, at.predicted, y, ui.colors.tertiary, "predicted ms");
  ui.draw.text_right(Font::small, at.measured, y, ui.colors.tertiary, "measured ms");
  ui.draw.text_right(Font::small, at.change, y, ui.colors.tertiary, "vs ★");
  const std::vector<History::Line> lines = document.history().lines();
  scroll(ui, "history/scroll", area, kLine * static_cast<float>(lines.size()),
         desktop.history.scroll);
  ui.draw.clip(area);
  float top = area.y0 - desktop.history.scroll;
  for (const History::Line& line : lines) {
    const Rect row = box(area.x0, top, area.width() - 8, kLine);
    top += kLine;
    if (row.y1 < area.y0 || row.y0 > area.y1) continue;
    draw_line(ui, desktop, line, row, at);
  }
  ui.draw.unclip();
}

}  // namespace shardscope::ui
