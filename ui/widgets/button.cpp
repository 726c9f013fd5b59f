#include "ui/draw/symbols.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {

float button_width(const Ui& ui, std::string_view label) {
  return ui.draw.width(Font::strong, label) + 24;
}

bool button(Ui& ui, std::string_view name, const Rect& rect, std::string_view label,
            const ButtonOptions& options) {
  Touch touch = ui.region(name, rect);
  if (!options.enabled) touch = {.hovered = touch.hovered};
  const Palette& colors = ui.colors;
  Color fill = colors.control;
  Color text = colors.text;
  if (options.style == ButtonStyle::primary) {
    fill = colors.accent;
    text = colors.on_accent;
  }
  if (touch.hovered && options.enabled) {
    fill = options.style == ButtonStyle::primary ? tone(fill, 0.15F) : colors.pressed;
  }
  if (!options.enabled) text = with_alpha(colors.tertiary, 150);
  ui.draw.fill(rect, fill, 2);
  if (options.style != ButtonStyle::primary) {
    ui.draw.frame(rect, options.enabled ? colors.strong_line : colors.line, 2);
  }
  const Font font = options.style == ButtonStyle::quiet ? Font::body : Font::strong;
  if (options.hint.empty()) {
    ui.draw.text_center(font, rect.center_x(), rect.center_y(), text, label);
  } else {
    ui.draw.text(font, rect.x0 + 12, rect.center_y(), text, label);
    ui.draw.text_right(
        Font::small, rect.x1 - 8, rect.center_y(),
        options.style == ButtonStyle::primary ? mix(text, fill, 0.35F) : colors.tertiary,
        options.hint);
  }
  if (touch.hovered && !options.tooltip.empty()) ui.tooltip(std::string(options.tooltip));
  return touch.clicked;
}

float segmented_width(const Ui& ui, std::span<const std::string_view> labels) {
  float width = 0;
  for (const std::string_view label : labels) width += ui.draw.width(Font::strong, label) + 18;
  return width;
}

float segmented(Ui& ui, std::string_view name, float x, float y,
                std::span<const std::string_view> labels, int& chosen) {
  constexpr float kHeight = 22;
  const Rect whole = box(x, y, segmented_width(ui, labels), kHeight);
  ui.draw.fill(whole, ui.colors.control, 2);
  float left = x;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const Rect cell = box(left, y, ui.draw.width(Font::strong, labels[i]) + 18, kHeight);
    const Touch touch = ui.region(std::string(name) + "/" + std::string(labels[i]), cell);
    if (touch.clicked) chosen = static_cast<int>(i);
    const bool on = chosen == static_cast<int>(i);
    if (on) {
      ui.draw.fill(cell, ui.colors.selection, 2);
      ui.draw.fill({cell.x0, cell.y1 - 2, cell.x1, cell.y1}, ui.colors.accent);
    } else if (touch.hovered) {
      ui.draw.fill(cell, ui.colors.pressed, 2);
    }
    ui.draw.text_center(on ? Font::strong : Font::body, cell.center_x(), cell.center_y(),
                        on ? ui.colors.text : ui.colors.secondary, labels[i]);
    left = cell.x1;
  }
  ui.draw.frame(whole, ui.colors.strong_line, 2);
  return whole.x1;
}

void choices(Ui& ui, std::string_view name, const Rect& rect, std::span<const Choice> choices,
             std::string& chosen) {
  ui.draw.fill(rect, ui.colors.control, 2);
  const float width = rect.width() / static_cast<float>(choices.size());
  float left = rect.x0;
  for (const Choice& choice : choices) {
    const Rect cell = box(left, rect.y0, width, rect.height());
    const Touch touch = ui.region(std::string(name) + "/" + std::string(choice.label), cell);
    const bool able = choice.refusal.empty();
    if (touch.clicked && able) chosen = choice.label;
    const bool on = chosen == choice.label;
    if (on) {
      ui.draw.fill(cell, ui.colors.selection, 2);
      ui.draw.fill({cell.x0, cell.y1 - 2, cell.x1, cell.y1},
                   able ? ui.colors.accent : ui.colors.warning);
    } else if (touch.hovered && able) {
      ui.draw.fill(cell, ui.colors.pressed, 2);
    }
    ui.draw.text_center(on ? Font::strong : Font::body, cell.center_x(), cell.center_y(),
                        !able ? with_alpha(ui.colors.tertiary, 150)
                        : on  ? ui.colors.text
                              : ui.colors.secondary,
                        choice.label);
    if (touch.hovered && !able) ui.tooltip(choice.refusal);
    left = cell.x1;
  }
  ui.draw.frame(rect, ui.colors.strong_line, 2);
}

bool check_box(Ui& ui, std::string_view name, Point p, bool& on) {
  const Rect rect = box(p.x, p.y, 13, 13);
  const Touch touch = ui.region(name, rect);
  if (touch.clicked) on = !on;
  ui.draw.fill(rect, on ? ui.colors.selection : ui.colors.field, 2);
  ui.draw.frame(rect, on ? ui.colors.accent : ui.colors.strong_line, 2);
  if (on) draw_tick(ui.draw, {rect.center_x(), rect.center_y()}, ui.colors.text, 8);
  return touch.clicked;
}

bool toggle(Ui& ui, std::string_view name, float x, float y, std::string_view label, bool& on,
            float* right) {
  const Rect rect = box(x, y, ui.draw.width(Font::body, label) + 34, 22);
  const Touch touch = ui.region(name, rect);
  if (touch.clicked) on = !on;
  ui.draw.fill(rect, on ? ui.colors.selection : ui.colors.control, 2);
  ui.draw.frame(rect, on ? ui.colors.accent : ui.colors.strong_line, 2);
  const Rect mark = box(rect.x0 + 8, rect.y0 + 6, 10, 10);
  if (on) {
    draw_tick(ui.draw, {mark.center_x(), mark.center_y()}, ui.colors.text, 9);
  } else {
    ui.draw.frame(mark, ui.colors.strong_line, 1);
  }
  ui.draw.text(Font::body, rect.x0 + 24, rect.center_y(), ui.colors.text, label);
  if (right != nullptr) *right = rect.x1;
  return touch.clicked;
}

}  // namespace shardscope::ui
