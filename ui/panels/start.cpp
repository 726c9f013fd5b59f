#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "ui/desktop/open_file.hpp"
#include "ui/draw/symbols.hpp"
#include "ui/model/numbers.hpp"
#include "ui/panels/panels.hpp"
#include "ui/panels/start_parts.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

constexpr float kMostWidth = 1456;

std::string date_text(std::int64_t utc_ns) {
  if (utc_ns <= 0) return {};
  return local_time_text(utc_ns / 1'000'000'000, "%d %b %H:%M");
}

void draw_session(Ui& ui, Desktop& desktop, const SessionSummary& session, const Rect& row) {
  const Touch touch = ui.region("start/session/" + session.name, row);
  if (touch.hovered) ui.draw.fill(row, ui.colors.selection);
  ui.draw.horizontal(row.x0, row.x1, row.y1 - 1, ui.colors.line);
  const float first = row.y0 + 16, second = row.y0 + 35;
  const float w = row.width();
  const float x = row.x0 + 14;
  ui.draw.text_fit(Font::title, x, first, w * 0.18F,
                   session.error.empty() ? ui.colors.text : ui.colors.tertiary, session.name);
  ui.draw.text_right(Font::small, row.x1 - 14, first, ui.colors.secondary,
                     date_text(session.opened_utc_ns));
  if (!session.error.empty()) {
    draw_cross(ui.draw, {x + 4, second}, ui.colors.error, 7);
    ui.draw.text_fit(Font::small, x + 16, second, w - 40, ui.colors.secondary, session.error);
    return;
  }
  const float middle = row.center_y();
  if (session.runs > 0) mode_badge(ui, x, second, session.mode);
  ui.draw.text_fit(Font::body, row.x0 + w * 0.21F, first, w * 0.16F, ui.colors.text, session.model);
  ui.draw.text_fit(Font::body, row.x0 + w * 0.38F, first, w * 0.17F, ui.colors.text,
                   session.topology);
  ui.draw.text_fit(Font::small, row.x0 + w * 0.38F, second, w * 0.17F, ui.colors.tertiary,
                   session.how);
  ui.draw.text_fit(Font::body, row.x0 + w * 0.56F, first, w * 0.12F, ui.colors.text,
                   session.layout);
  ui.draw.text_fit(Font::small, row.x0 + w * 0.56F, second, w * 0.14F, ui.colors.tertiary,
                   plural(session.layouts, "layout") + " kept");
  ui.draw.text_right(Font::mono, row.x0 + w * 0.72F, middle, ui.colors.text,
                     fmt::format("{}", session.runs));
  if (session.best_ms > 0) {
    ui.draw.text_right(Font::mono, row.x0 + w * 0.82F, middle, ui.colors.text,
                       short_ms_text(session.best_ms / 1e3));
  }
  if (touch.clicked) {
    if (Status opened = desktop.open_session(session.path); !opened) desktop.tell(opened.error());
  }
}

void draw_sessions(Ui& ui, Desktop& desktop, Rect area) {
  StartState& start = desktop.start;
  ui.draw.fill(area, ui.colors.pane);
  ui.draw.frame(area, ui.colors.line);
  const Rect header = area.take_top(30);
  ui.draw.fill(header, ui.colors.header);
  ui.draw.text(Font::strong, header.x0 + 14, header.center_y(), ui.colors.text, "Recent sessions");
  field(ui, "start/filter", {header.x1 - 214, header.y0 + 4, header.x1 - 14, header.y1 - 4},
        start.filter, {.placeholder = "Filter …", .mono = false, .live = true});
  const Rect columns = area.take_top(22);
  const float w = area.width();
  for (const auto& [share, label] : {std::pair{0.0F, "session"},
                                     {0.21F, "model"},
                                     {0.38F, "topology"},
                                     {0.56F, "best layout"}}) {
    ui.draw.text(Font::small, columns.x0 + std::max(14.0F, w * share), columns.center_y(),
                 ui.colors.tertiary, label);
  }
  ui.draw.text_right(Font::small, columns.x0 + w * 0.72F, columns.center_y(), ui.colors.tertiary,
                     "runs");
  ui.draw.text_right(Font::small, columns.x0 + w * 0.82F, columns.center_y(), ui.colors.tertiary,
                     "best ms");
  ui.draw.text_right(Font::small, columns.x1 - 14, columns.center_y(), ui.colors.tertiary,
                     "changed");
  ui.draw.clip(area);
  float y = area.y0;
  for (const std::string& path : desktop.settings.recent) {
    auto found = start.sessions.find(path);
    if (found == start.sessions.end()) {
      found = start.sessions.emplace(path, summarize_session(path)).first;
    }
    const SessionSummary& session = found->second;
    if (!start.filter.empty() && session.name.find(start.filter) == std::string::npos) continue;
    if (y > area.y1) break;
    draw_session(ui, desktop, session, box(area.x0, y, w, 49));
    y += 49;
  }
  ui.draw.unclip();
  if (desktop.settings.recent.empty()) {
    ui.draw.text_center(Font::body, area.center_x(), area.y0 + 40, ui.colors.tertiary,
                        "No session yet. Start from a model below, or open a file.");
  }
}

void draw_card(Ui& ui, Desktop& desktop, const ModelCard& card, const Rect& rect) {
  const Touch touch = ui.region("start/model/" + card.name, rect);
  ui.draw.fill(rect, touch.hovered ? ui.colors.control : ui.colors.header, 3);
  ui.draw.frame(rect, touch.hovered ? ui.colors.accent : ui.colors.strong_line, 3);
  ui.draw.text_fit(Font::title, rect.x0 + 12, rect.y0 + 15, rect.width() * 0.6F, ui.colors.text,
                   card.name);
  if (touch.hovered && !card.source.empty()) ui.tooltip(card.source);
  ui.draw.text_fit(Font::small, rect.x0 + 12, rect.y0 + 33, rect.width() - 20, ui.colors.secondary,
                   fmt::format("{} · {} GiB · largest {} rows",
                               plural(static_cast<std::int64_t>(card.tables), "table"),
                               gib_text(card.weight_bytes), count_text(card.largest_rows)));
  const float room = rect.width() - 24;
  const float pitch = room / static_cast<float>(std::max<std::size_t>(1, card.bars.size()));
  for (std::size_t i = 0; i < card.bars.size(); ++i) {
    const float x = rect.x0 + 12 + pitch * static_cast<float>(i);
    const float height = 2 + 16 * card.bars[i];
    ui.draw.fill({x, rect.y1 - 5 - height, x + std::max(1.0F, pitch - 1), rect.y1 - 5},
                 mix(ui.colors.clusters[1], ui.colors.pane, 0.25F));
  }
  if (touch.clicked) desktop.try_open_model(card.name, desktop.start.topology, "table_row_wise");
}

void draw_models(Ui& ui, Desktop& desktop, Rect area) {
  StartState& start = desktop.start;
  if (start.models.empty()) start.models = model_cards();
  ui.draw.fill(area, ui.colors.pane);
  ui.draw.frame(area, ui.colors.line);
  const Rect header = area.take_top(30);
  ui.draw.fill(header, ui.colors.header);
  ui.draw.text(Font::strong, header.x0 + 14, header.center_y(), ui.colors.text,
               "New session from a built-in model");
  ui.draw.text_right(Font::small, header.x1 - 14, header.center_y(), ui.colors.tertiary,
                     "bars: rows of each table, log scale · sizes: weights in fp32");
  const Rect open = area.take_bottom(46);
  ui.draw.horizontal(open.x0, open.x1, open.y0, ui.colors.line);
  ui.draw.text(Font::strong, open.x0 + 14, open.center_y(), ui.colors.text, "Open");
  if (field(ui, "start/open",
            {open.x0 + 60, open.center_y() - 11, open.x1 - 208, open.center_y() + 11},
            start.open_path, {.placeholder = "path of a file, or drop one on the window"})) {
    try_open_path(desktop, start.open_path);
  }
  const float top = open.center_y() - 12;
  if (button(ui, "start/open/button", box(open.x1 - 200, top, 90, 24), "Open file",
             {.enabled = !start.open_path.empty()})) {
    try_open_path(desktop, start.open_path);
  }
  if (button(ui, "start/browse", box(open.x1 - 102, top, 88, 24), "Browse …", {})) {
    show_open_dialog(desktop, ui.memory());
  }
  constexpr int kColumns = 3;
  constexpr float kPitch = 74;
  const float width = (area.width() - 28 - 12 * (kColumns - 1)) / kColumns;
  ui.draw.clip(area);
  for (std::size_t i = 0; i < start.models.size(); ++i) {
    const float x = area.x0 + 14 + (width + 12) * static_cast<float>(i % kColumns);
    const float y = area.y0 + 12 + kPitch * static_cast<float>(i / kColumns);
    draw_card(ui, desktop, start.models[i], box(x, y, width, 66));
  }
  ui.draw.unclip();
}

}  // namespace

void draw_start(Ui& ui, Desktop& desktop, const Rect& area) {
  ui.draw.fill(area, ui.colors.window);
  const float width = std::min(kMostWidth, area.width() - 32);
  Rect inner = {area.center_x() - width / 2, area.y0 + 20, area.center_x() + width / 2,
                area.y1 - 16};
  if (area.height() > 800) inner.y0 += 16;
  const Rect heading = inner.take_top(88);
  ui.draw.text(Font::heading, heading.x0, heading.y0 + 18, ui.colors.text,
               "Open a session, or start from a model");
  ui.draw.text(
      Font::name, heading.x0, heading.y0 + 52, ui.colors.secondary,
      "Drop a session, model, plan, Nsight Systems or Kineto file anywhere on this window.");
  Rect right = width > 1000 ? inner.take_right(inner.width() * 0.385F) : Rect{};
  if (!right.empty()) inner.take_right(16);
  const float models = std::min(46 + 30 + 12 + 74.0F * 4, inner.height() * 0.55F);
  const Rect cards = inner.take_bottom(models);
  inner.take_bottom(16);
  inner.y1 = std::min(inner.y1, inner.y0 + 52 +
                                    49 * static_cast<float>(std::max<std::size_t>(
                                             2, desktop.settings.recent.size())));
  Rect below = cards.moved(0, inner.y1 + 16 - cards.y0);
  draw_sessions(ui, desktop, inner);
  draw_models(ui, desktop, below);
  if (!right.empty()) draw_machine(ui, desktop, right);
}

}  // namespace shardscope::ui
