#include "ui/desktop/overlay.hpp"

#include <imgui.h>

#include <algorithm>
#include <cctype>

#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

constexpr std::string_view kPaletteField = "palette/text";

Rect centered(const Rect& window, float width, float height, float top) {
  width = std::min(width, window.width() - 24);
  height = std::min(height, window.height() - top - 12);
  const float x = window.center_x() - width / 2;
  return box(x, window.y0 + top, width, height);
}

void surface(Ui& ui, const Rect& rect) {
  ui.draw.fill(rect, ui.colors.callout, 4);
  ui.draw.frame(rect, ui.colors.strong_line, 4);
}

}  // namespace

int match_score(std::string_view title, std::string_view text) {
  const auto lower = [](char letter) { return std::tolower(static_cast<unsigned char>(letter)); };
  int score = 0;
  std::size_t at = 0;
  for (const char letter : text) {
    if (letter == ' ') continue;
    const std::size_t from = at;
    while (at < title.size() && lower(title[at]) != lower(letter)) ++at;
    if (at == title.size()) return -1;
    score += static_cast<int>(at - from);
    ++at;
  }
  return score;
}

bool draw_menu(Ui& ui, Menu& menu, const Rect& window) {
  constexpr float kItem = 24;
  float width = 160;
  for (const MenuItem& item : menu.items) {
    width = std::max(
        width, ui.draw.width(Font::body, item.label) + ui.draw.width(Font::small, item.hint) + 48);
  }
  const float content = kItem * static_cast<float>(menu.items.size()) + 8;
  const float height = std::min(content, window.height() - 24);
  const Rect rect = box(std::min(menu.at.x, window.x1 - width - 4),
                        std::max(4.0F, std::min(menu.at.y, window.y1 - height - 4)), width, height);
  ui.begin_layer(rect);
  surface(ui, rect);
  scroll(ui, "menu/scroll", rect, content, menu.scroll);
  ui.draw.clip(rect);
  bool open = true;
  std::function<void()> picked;
  for (std::size_t i = 0; i < menu.items.size(); ++i) {
    const MenuItem& item = menu.items[i];
    const Rect row = box(rect.x0 + 4, rect.y0 + 4 + kItem * static_cast<float>(i) - menu.scroll,
                         width - 8, kItem);
    const Touch touch = ui.region("menu/" + item.label, row);
    if (touch.hovered && item.enabled) ui.draw.fill(row, ui.colors.selection, 3);
    const Color color = item.enabled ? ui.colors.text : ui.colors.tertiary;
    ui.draw.text(Font::body, row.x0 + 10, row.center_y(), color, item.label);
    ui.draw.text_right(Font::small, row.x1 - 10, row.center_y(), ui.colors.tertiary, item.hint);
    if (touch.clicked && item.enabled) {
      picked = item.pick;
      open = false;
    }
  }
  ui.draw.unclip();
  const bool outside = (ui.in.is_pressed(Button::left) || ui.in.is_pressed(Button::right)) &&
                       !rect.contains(ui.in.mouse);
  if ((outside && !menu.fresh) || ImGui::IsKeyPressed(key::kEscape, false)) open = false;
  menu.fresh = false;
  ui.end_layer();
  if (picked) picked();
  return open;
}

void draw_command_palette(Ui& ui, CommandPalette& palette, const std::vector<Command>& commands,
                          const Rect& window) {
  constexpr std::size_t kShown = 12;
  std::vector<std::pair<int, const Command*>> found;
  for (const Command& command : commands) {
    const int score = match_score(command.title, palette.text);
    if (score >= 0) found.emplace_back(score, &command);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (found.size() > kShown) found.resize(kShown);
  const Rect rect = centered(window, 560, 52 + 26.0F * static_cast<float>(found.size()), 90);
  ui.begin_layer(window);
  surface(ui, rect);
  const Rect line = box(rect.x0 + 10, rect.y0 + 10, rect.width() - 20, 26);
  field(ui, kPaletteField, line, palette.text,
        {.placeholder = "What do you want to do?", .mono = false, .live = true});
  const int last = static_cast<int>(found.size()) - 1;
  if (ImGui::IsKeyPressed(key::kDown)) ++palette.chosen;
  if (ImGui::IsKeyPressed(key::kUp)) --palette.chosen;
  palette.chosen = std::clamp(palette.chosen, 0, std::max(0, last));
  const Command* picked = nullptr;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Command& command = *found[i].second;
    const Rect row =
        box(rect.x0 + 6, rect.y0 + 44 + 26 * static_cast<float>(i), rect.width() - 12, 26);
    const Touch touch = ui.region("palette/" + command.title, row);
    if (touch.hovered && ui.in.moved != Point{}) palette.chosen = static_cast<int>(i);
    if (palette.chosen == static_cast<int>(i)) ui.draw.fill(row, ui.colors.selection, 3);
    ui.draw.text(Font::body, row.x0 + 10, row.center_y(),
                 command.enabled ? ui.colors.text : ui.colors.tertiary, command.title);
    ui.draw.text_right(Font::mono_small, row.x1 - 10, row.center_y(), ui.colors.tertiary,
                       command.keys);
    if (touch.clicked) picked = &command;
  }
  const bool entered = ImGui::IsKeyPressed(key::kEnter, false);
  if (entered && !found.empty()) picked = found[static_cast<std::size_t>(palette.chosen)].second;
  const bool outside = ui.in.is_pressed(Button::left) && !rect.contains(ui.in.mouse);
  ui.end_layer();
  if (picked != nullptr || entered || outside || ImGui::IsKeyPressed(key::kEscape, false)) {
    palette = {};
    ui.memory().editing = 0;
    if (picked != nullptr && picked->enabled) picked->run();
  }
}

bool draw_keys(Ui& ui, const std::vector<Command>& commands, const Rect& window) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Command& command : commands) {
    if (!command.keys.empty()) lines.emplace_back(command.keys, command.title);
  }
  for (const auto& [keys, what] : std::initializer_list<std::pair<const char*, const char*>>{
           {"Wheel", "zoom GPUs (map), zoom at the cursor (timeline)"},
           {"Ctrl+Wheel", "zoom widths (map)"},
           {"Drag", "move a shard; select a range (timeline)"},
           {"Shift+Drag", "replicate (map); pan (timeline)"},
           {"Alt+Drag", "split while dragging; digits set the bound"},
           {"Digits, G", "to that GPU"},
           {"W A S D", "zoom and pan the timeline"}}) {
    lines.emplace_back(keys, what);
  }
  constexpr float kPitch = 19;
  constexpr float kColumn = 470;
  const int columns = window.width() > 2 * kColumn + 60 ? 2 : 1;
  const auto rows =
      (lines.size() + static_cast<std::size_t>(columns) - 1) / static_cast<std::size_t>(columns);
  const Rect rect = centered(window, kColumn * static_cast<float>(columns) + 24,
                             52 + kPitch * static_cast<float>(rows), 56);
  ui.begin_layer(window);
  ui.draw.fill(window, with_alpha(ui.colors.window, 150));
  surface(ui, rect);
  ui.name("keys", rect);
  ui.draw.text(Font::title, rect.x0 + 20, rect.y0 + 22, ui.colors.text, "Keys");
  ui.draw.text_right(Font::small, rect.x1 - 20, rect.y0 + 22, ui.colors.tertiary,
                     "F1 or Esc closes");
  ui.draw.clip(rect);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const float x = rect.x0 + 20 + kColumn * static_cast<float>(i / rows);
    const float y = rect.y0 + 50 + kPitch * static_cast<float>(i % rows);
    ui.draw.text_right(Font::mono_small, x + 130, y, ui.colors.accent, lines[i].first);
    ui.draw.text_fit(Font::small, x + 144, y, kColumn - 160, ui.colors.secondary, lines[i].second);
  }
  ui.draw.unclip();
  ui.end_layer();
  return !(ImGui::IsKeyPressed(key::kEscape, false) || ui.in.is_pressed(Button::left));
}

void run_by_key(Ui& ui, const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    if (command.code == 0 || !command.enabled) continue;
    if (ui.key(command.code, command.modifiers)) {
      command.run();
      return;
    }
  }
}

}  // namespace shardscope::ui
