#include "ui/input/ui.hpp"

#include <imgui.h>

#include <algorithm>

namespace shardscope::ui {

std::uint64_t Ui::id_of(std::string_view name) {
  std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
  for (const char letter : name) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211ULL;
  }
  return hash;
}

const Pane* UiMemory::meant_pane() const {
  const Pane* under = nullptr;
  for (const Pane& one : panes) {
    if (one.name == pane) return &one;
    if (one.rect.contains(mouse)) under = &one;
  }
  return under;
}

void UiMemory::step_pane(int step) {
  if (panes.empty()) return;
  const auto count = static_cast<std::ptrdiff_t>(panes.size());
  const auto now = std::find_if(panes.begin(), panes.end(),
                                [this](const Pane& one) { return one.name == pane; });
  const std::ptrdiff_t at = now == panes.end() ? (step > 0 ? 0 : count - 1)
                                               : (now - panes.begin() + step + count) % count;
  pane = panes[static_cast<std::size_t>(at)].name;
}

bool Ui::pane_has_keyboard(Point point) const {
  return std::any_of(memory_.panes.begin(), memory_.panes.end(), [&](const Pane& one) {
    return one.name == memory_.pane && one.rect.contains(point);
  });
}

bool Ui::hovers(const Rect& rect) const {
  if (!rect.contains(in.mouse)) return false;
  return std::none_of(covers_before_.begin(), covers_before_.end(), [&](const auto& cover) {
    return cover.layer > layer_ && cover.rect.contains(in.mouse);
  });
}

Touch Ui::region(std::string_view name, const Rect& rect) {
  if (names != nullptr) names->insert_or_assign(std::string(name), rect);
  const std::uint64_t id = id_of(name);
  Touch touch;
  touch.hovered = hovers(rect) && (memory_.held == 0 || memory_.held == id);
  if (touch.hovered && in.is_pressed(Button::left)) {
    memory_.held = id;
    touch.pressed = true;
    touch.double_clicked = in.double_click;
  }
  touch.held = memory_.held == id;
  if (touch.held && in.is_released(Button::left)) {
    touch.clicked = touch.hovered;
    memory_.held = 0;
  }
  touch.right_clicked = touch.hovered && in.is_pressed(Button::right);
  return touch;
}

bool Ui::key(int code, std::uint8_t modifiers, bool repeat) const {
  if (in.modifiers() != modifiers) return false;
  if (in.typing && (modifiers & (kCtrl | kAlt)) == 0 && code < key::kF1) return false;
  return ImGui::IsKeyPressed(code, repeat);
}

void Ui::begin_layer(const Rect& rect) {
  memory_.covers.push_back({++layer_, rect});
}

void Ui::end_layer() {
  --layer_;
}

}  // namespace shardscope::ui
