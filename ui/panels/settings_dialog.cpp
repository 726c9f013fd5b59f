#include <imgui.h>

#include <array>
#include <cmath>

#include "ui/panels/panels.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

constexpr float kLine = 36;
constexpr float kChoicesAt = 170;

/// A line with choices; `values` are what they stand for.
template <std::size_t N>
void choice(Ui& ui, Rect& area, std::string_view name, std::string_view label,
            const std::array<std::string_view, N>& words, const std::array<float, N>& values,
            float& value) {
  const Rect line = area.take_top(kLine);
  ui.draw.text(Font::body, line.x0, line.center_y(), ui.colors.secondary, label);
  int chosen = -1;
  for (std::size_t i = 0; i < N; ++i) {
    if (std::abs(values[i] - value) < 1e-3F) chosen = static_cast<int>(i);
  }
  const int before = chosen;
  segmented(ui, name, line.x0 + kChoicesAt, line.center_y() - 12, words, chosen);
  if (chosen != before) value = values[static_cast<std::size_t>(chosen)];
}

void switch_line(Ui& ui, Rect& area, std::string_view name, std::string_view label,
                 std::string_view words, bool& on) {
  const Rect line = area.take_top(kLine);
  ui.draw.text(Font::body, line.x0, line.center_y(), ui.colors.secondary, label);
  check_box(ui, name, {line.x0 + kChoicesAt, line.center_y() - 7}, on);
  ui.draw.text_fit(Font::body, line.x0 + kChoicesAt + 24, line.center_y(),
                   line.width() - kChoicesAt - 24, ui.colors.text, words);
}

}  // namespace

void draw_settings_dialog(Ui& ui, Desktop& desktop, const Rect& window) {
  Settings& settings = desktop.settings;
  const float width = std::min(640.0F, window.width() - 20);
  const float height = std::min(400.0F, window.height() - 20);
  const Rect rect = begin_dialog(ui, "settings", window, width, height);
  Rect inner = rect.inset(20, 14);
  const Rect title = inner.take_top(32);
  ui.draw.text(Font::title, title.x0, title.center_y(), ui.colors.text, "Settings");
  ui.draw.text_right(Font::small, title.x1, title.center_y(), ui.colors.tertiary,
                     "kept in ~/.config/shardscope");
  const Rect actions = inner.take_bottom(34);
  ui.draw.clip(inner);
  float theme = settings.theme == Theme::light ? 1.0F : 0.0F;
  choice<2>(ui, inner, "settings/theme", "Theme", {"Dark", "Light"}, {0, 1}, theme);
  settings.theme = theme > 0 ? Theme::light : Theme::dark;
  choice<6>(ui, inner, "settings/scale", "Size of everything",
            {"Display's", "100 %", "125 %", "150 %", "175 %", "200 %"},
            {0, 1, 1.25F, 1.5F, 1.75F, 2}, settings.scale);
  choice<4>(ui, inner, "settings/text", "Size of text", {"90 %", "100 %", "110 %", "120 %"},
            {0.9F, 1, 1.1F, 1.2F}, settings.text_scale);
  choice<3>(ui, inner, "settings/idle", "Draw a frame", {"On change", "Every second", "Always"},
            {0, 1, 2}, settings.idle);
  switch_line(ui, inner, "settings/strict", "Drops", "refuse those that make the layout invalid",
              settings.strict);
  switch_line(ui, inner, "settings/frame", "Status bar", "show how long a frame takes to build",
              settings.show_frame_ms);
  ui.draw.unclip();
  const bool close =
      button(ui, "settings/close", box(actions.x1 - 80, actions.y1 - 26, 80, 24), "Close", {});
  ui.end_layer();
  if (close || ImGui::IsKeyPressed(key::kEscape, false)) desktop.settings_shown = false;
}

}  // namespace shardscope::ui
