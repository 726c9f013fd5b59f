#include <algorithm>
#include <cmath>
#include <string>

#include "ui/draw/symbols.hpp"
#include "ui/model/glossary.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {

void pane_header(Ui& ui, Rect rect, std::string_view title, std::string_view sentence, float used) {
  ui.draw.fill(rect, ui.colors.header);
  ui.draw.horizontal(rect.x0, rect.x1, rect.y1 - 1, ui.colors.line);
  const float y = rect.center_y();
  ui.draw.text(Font::strong, rect.x0 + kPadding, y, ui.colors.text, title);
  const float x = rect.x0 + kPadding + ui.draw.width(Font::strong, title) + 12;
  const float room = rect.x1 - x - kPadding - used;
  if (room > 60) ui.draw.text_fit(Font::small, x, y, room, ui.colors.tertiary, sentence);
}

Rect begin_dialog(Ui& ui, std::string_view name, const Rect& window, float width, float height) {
  ui.begin_layer(window);
  ui.draw.fill(window, with_alpha(ui.colors.window, 170));
  const Rect rect =
      box(window.center_x() - width / 2, window.center_y() - height / 2, width, height);
  ui.draw.fill(rect, ui.colors.pane, 4);
  ui.draw.frame(rect, ui.colors.strong_line, 4);
  ui.name(name, rect);
  return rect;
}

float cluster_chip(Ui& ui, float x, float y, ClusterType cluster) {
  const Rect rect = box(x, y - 8, 24, 16);
  const Color color = ui.colors.cluster(cluster);
  ui.draw.fill(rect, color, 2);
  if (cluster == ClusterType::UB) {
    ui.draw.fill({rect.x0, rect.y1 - 2, rect.x1, rect.y1}, tone(color, -0.45F));
  }
  ui.draw.text_center(Font::strong, rect.center_x(), rect.center_y(), text_on(color),
                      to_string(cluster));
  return rect.width();
}

float mode_badge(Ui& ui, float x, float y, Mode mode) {
  std::string word = to_string(mode);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  const float width = std::max(84.0F, ui.draw.width(Font::strong, word) + 20);
  const Rect rect = box(x, y - 10, width, 20);
  const Color color = ui.colors.mode(mode);
  Color text = color;
  switch (mode) {
    case Mode::measured:
      ui.draw.fill(rect, color, 2);
      text = ui.colors.on_measured;
      break;
    case Mode::emulated:
      ui.draw.fill({rect.x0, rect.center_y(), rect.x1, rect.y1}, with_alpha(color, 90));
      ui.draw.frame(rect, color, 2);
      break;
    case Mode::simulated:
      ui.draw.fill(rect, with_alpha(color, 26), 2);
      ui.draw.dashed_frame(rect, color);
      break;
  }
  ui.draw.text_center(Font::strong, rect.center_x(), rect.center_y(), text, word);
  return width;
}

bool column_header(Ui& ui, std::string_view name, float x0, float x1, float y,
                   std::string_view label, Align align, bool sorted, bool descending) {
  const Rect rect{x0, y - 10, x1, y + 10};
  const Touch touch = ui.region(name, rect);
  const Color color = sorted || touch.hovered ? ui.colors.text : ui.colors.tertiary;
  const float mark = sorted ? 9.0F : 0.0F;
  if (align == Align::left) {
    ui.draw.text_fit(Font::small, x0, y, x1 - x0, color, label);
  } else {
    ui.draw.text_right(Font::small, x1 - mark, y, color, label);
  }
  if (sorted) {
    const Point at{align == Align::left ? x0 + ui.draw.width(Font::small, label) + 7 : x1 - 4, y};
    if (descending) {
      draw_caret_down(ui.draw, at, ui.colors.accent);
    } else {
      draw_caret_up(ui.draw, at, ui.colors.accent);
    }
  }
  if (touch.hovered) ui.tooltip(std::string(explain_term(label)));
  return touch.clicked;
}

void scroll(Ui& ui, std::string_view name, const Rect& view, float content, float& offset) {
  const float overflow = std::max(0.0F, content - view.height());
  if (ui.hovers(view) && ui.in.wheel != 0 && ui.in.modifiers() == kNone) {
    offset -= ui.in.wheel * 60;
  }
  if (overflow > 0 && !ui.in.typing && ui.pane_has_keyboard({view.center_x(), view.center_y()})) {
    if (ui.key(key::kDown, kNone, true)) offset += 40;
    if (ui.key(key::kUp, kNone, true)) offset -= 40;
    if (ui.key(key::kPageDown, kNone, true)) offset += view.height() * 0.9F;
    if (ui.key(key::kPageUp, kNone, true)) offset -= view.height() * 0.9F;
    if (ui.key(key::kHome)) offset = 0;
    if (ui.key(key::kEnd)) offset = overflow;
  }
  if (overflow > 0) {
    const Rect track{view.x1 - 8, view.y0, view.x1, view.y1};
    const float length = std::max(24.0F, view.height() * view.height() / content);
    const float travel = view.height() - length;
    const Touch touch = ui.region(name, track);
    if (touch.held && travel > 0) {
      offset = (ui.in.mouse.y - view.y0 - length / 2) / travel * overflow;
    }
    offset = std::clamp(offset, 0.0F, overflow);
    const float top = view.y0 + travel * offset / overflow;
    ui.draw.fill(box(track.x0 + 3, top, 4, length),
                 touch.hovered || touch.held ? ui.colors.strong_line : ui.colors.pressed, 2);
  }
  offset = std::clamp(offset, 0.0F, overflow);
}

void gutter(Ui& ui, std::string_view name, const Rect& line, bool vertical, float sign, float& size,
            float low, float high) {
  const Rect hit = vertical ? line.inset(-3, 0) : line.inset(0, -3);
  const Touch touch = ui.region(name, hit);
  if (touch.held) size += sign * (vertical ? ui.in.moved.x : ui.in.moved.y);
  size = std::clamp(size, low, std::max(low, high));
  ui.draw.fill(line, touch.hovered || touch.held ? ui.colors.accent : ui.colors.window);
}

void draw_tooltip(Ui& ui, const Rect& bounds, std::string_view text) {
  if (text.empty()) return;
  float width = 0;
  int lines = 0;
  for (std::size_t begin = 0; begin <= text.size(); ++lines) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    width = std::max(width, ui.draw.width(Font::small, text.substr(begin, end - begin)));
    begin = end + 1;
  }
  const float height = 12 + 16 * static_cast<float>(lines);
  float x = ui.in.mouse.x + 14;
  float y = ui.in.mouse.y + 18;
  if (x + width + 20 > bounds.x1) x = bounds.x1 - width - 22;
  if (y + height > bounds.y1) y = ui.in.mouse.y - height - 8;
  const Rect rect = box(std::max(x, bounds.x0), std::max(y, bounds.y0), width + 20, height);
  ui.draw.fill(rect, ui.colors.callout, 3);
  ui.draw.frame(rect, ui.colors.strong_line, 3);
  float at = rect.y0 + 14;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    ui.draw.text(Font::small, rect.x0 + 10, at, begin == 0 ? ui.colors.text : ui.colors.secondary,
                 text.substr(begin, end - begin));
    at += 16;
    begin = end + 1;
  }
}

}  // namespace shardscope::ui
