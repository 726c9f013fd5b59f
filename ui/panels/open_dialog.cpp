#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "ui/desktop/open_file.hpp"
#include "ui/draw/symbols.hpp"
#include "ui/model/numbers.hpp"
#include "ui/panels/panels.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

constexpr std::string_view kPathField = "open/path";
constexpr float kPlaces = 190;
constexpr int kPage = 12;

std::string changed_text(std::int64_t utc_s) {
  if (utc_s <= 0) return {};
  return local_time_text(utc_s, "%d %b %Y %H:%M");
}

/// The field and what is listed are one: setting the text lists its folder.
void set_text(Ui& ui, OpenState& state, std::string text) {
  state.text = text;
  state.chosen = -1;
  state.scroll = 0;
  focus_field(ui.memory(), kPathField, std::move(text));
}

void list_typed_folder(OpenState& state, const TypedPath& typed) {
  if (typed.folder == state.listed) return;
  state.listed = typed.folder;
  state.kinds.clear();
  state.chosen = -1;
  state.scroll = 0;
  auto entries = list_folder(typed.folder);
  state.error = entries ? std::string() : to_string(entries.error());
  state.entries = entries ? std::move(*entries) : std::vector<FolderEntry>{};
}

std::vector<const FolderEntry*> matching(const OpenState& state, const std::string& name) {
  std::vector<const FolderEntry*> found;
  for (const FolderEntry& entry : state.entries) {
    if (begins_with(entry.name, name)) found.push_back(&entry);
  }
  return found;
}

void draw_places(Ui& ui, Desktop& desktop, Rect area) {
  OpenState& state = desktop.opening;
  const char* home = std::getenv("HOME");
  const std::string root = home != nullptr ? home : "/";
  std::error_code ignored;
  std::vector<std::pair<std::string, std::string>> places = {{"Home", root + "/"}};
  if (std::filesystem::is_directory(root + "/shardscope", ignored)) {
    places.emplace_back("Sessions", root + "/shardscope/");
  }
  places.emplace_back("Started in", std::filesystem::current_path(ignored).string() + "/");
  places.emplace_back("Root", "/");
  ui.draw.text(Font::small, area.x0, area.take_top(22).center_y(), ui.colors.tertiary, "places");
  for (const auto& [label, path] : places) {
    const Rect row = area.take_top(24);
    const Touch touch = ui.region("open/place/" + label, row);
    if (touch.hovered) {
      ui.draw.fill(row, ui.colors.control, 3);
      ui.tooltip(path);
    }
    ui.draw.text(Font::body, row.x0 + 8, row.center_y(), ui.colors.text, label);
    if (touch.clicked) set_text(ui, state, path);
  }
  area.take_top(10);
  ui.draw.text(Font::small, area.x0, area.take_top(22).center_y(), ui.colors.tertiary, "recent");
  for (const std::string& path : desktop.settings.recent) {
    const Rect row = area.take_top(24);
    if (row.height() < 24) break;
    const Touch touch = ui.region("open/recent/" + path, row);
    if (touch.hovered) {
      ui.draw.fill(row, ui.colors.control, 3);
      ui.tooltip(path);
    }
    ui.draw.text_fit(Font::body, row.x0 + 8, row.center_y(), row.width() - 12, ui.colors.secondary,
                     std::filesystem::path(path).stem().string());
    if (touch.clicked) set_text(ui, state, path);
  }
}

void draw_entry(Ui& ui, OpenState& state, const FolderEntry& entry, const Rect& row) {
  const float y = row.center_y();
  if (entry.folder) draw_caret_right(ui.draw, {row.x0 + 10, y}, ui.colors.tertiary);
  const float w = row.width();
  ui.draw.text_fit(entry.folder ? Font::strong : Font::body, row.x0 + 22, y, w * 0.5F - 30,
                   ui.colors.text, entry.name);
  if (ui.hovers(row) && ui.draw.width(Font::body, entry.name) > w * 0.5F - 30) {
    ui.tooltip(entry.name);
  }
  if (!entry.folder) {
    const std::string path = state.listed + entry.name;
    const auto known = state.kinds.find(path);
    const std::string& kind = known != state.kinds.end()
                                  ? known->second
                                  : state.kinds.emplace(path, kind_words(path)).first->second;
    ui.draw.text_fit(Font::small, row.x0 + w * 0.5F, y, w * 0.2F,
                     kind.empty() ? ui.colors.tertiary : ui.colors.secondary,
                     kind.empty() ? "—" : kind);
    ui.draw.text_right(Font::mono_small, row.x0 + w * 0.8F, y, ui.colors.secondary,
                       bytes_text(static_cast<double>(entry.bytes)));
  }
  ui.draw.text_right(Font::mono_small, row.x1 - 14, y, ui.colors.tertiary,
                     changed_text(entry.changed_utc_s));
}

/// The entry that was picked by a double click, or nothing.
const FolderEntry* draw_entries(Ui& ui, OpenState& state,
                                const std::vector<const FolderEntry*>& found, const Rect& area) {
  ui.draw.fill(area, ui.colors.field);
  ui.draw.frame(area, ui.colors.line);
  const FolderEntry* picked = nullptr;
  if (!state.error.empty() || found.empty()) {
    ui.draw.text_center(Font::body, area.center_x(), area.y0 + 40, ui.colors.tertiary,
                        state.error.empty() ? "Nothing here begins so." : state.error);
    return nullptr;
  }
  const Rect inner = area.inset(1, 1);
  scroll(ui, "open/scroll", inner, kGroupHeight * static_cast<float>(found.size()), state.scroll);
  ui.draw.clip(inner);
  const auto first = static_cast<std::size_t>(std::max(0.0F, state.scroll / kGroupHeight));
  for (std::size_t i = first; i < found.size(); ++i) {
    const Rect row = box(inner.x0, inner.y0 + kGroupHeight * static_cast<float>(i) - state.scroll,
                         inner.width(), kGroupHeight);
    if (row.y0 > inner.y1) break;
    const Touch touch = ui.region("open/entry/" + found[i]->name, row.common(inner));
    const bool on = static_cast<int>(i) == state.chosen;
    if (on || touch.hovered) ui.draw.fill(row, on ? ui.colors.selection : ui.colors.header);
    draw_entry(ui, state, *found[i], row);
    if (touch.clicked) state.chosen = static_cast<int>(i);
    if (touch.double_clicked) picked = found[i];
  }
  ui.draw.unclip();
  return picked;
}

/// Arrow keys move through the list while the field has the keyboard; Tab completes what is typed.
void list_keys(Ui& ui, OpenState& state, const std::vector<const FolderEntry*>& found,
               const TypedPath& typed, float page_height) {
  const int last = static_cast<int>(found.size()) - 1;
  const int before = state.chosen;
  if (ImGui::IsKeyPressed(key::kDown)) ++state.chosen;
  if (ImGui::IsKeyPressed(key::kUp)) --state.chosen;
  if (ImGui::IsKeyPressed(key::kPageDown)) state.chosen += kPage;
  if (ImGui::IsKeyPressed(key::kPageUp)) state.chosen -= kPage;
  state.chosen = std::clamp(state.chosen, -1, last);
  if (state.chosen != before && state.chosen >= 0) {
    const float top = kGroupHeight * static_cast<float>(state.chosen);
    const float low = std::min(top, top + kGroupHeight - page_height);
    state.scroll = std::clamp(state.scroll, low, top);
  }
  if (ImGui::IsKeyPressed(key::kTab, false)) {
    set_text(ui, state, typed.folder + completed(state.entries, typed.name));
  }
}

/// Enters a folder, or opens a file and ends the dialog.
void pick(Ui& ui, Desktop& desktop, const std::string& path) {
  OpenState& state = desktop.opening;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    set_text(ui, state, path.ends_with('/') ? path : path + "/");
    return;
  }
  if (Status opened = open_path(desktop, path); !opened) {
    state.error = to_string(opened.error());
    state.entries.clear();
    state.listed.clear();
    return;
  }
  desktop.settings.folder = state.listed;
  state.shown = false;
  ui.memory().editing = 0;
}

}  // namespace

void show_open_dialog(Desktop& desktop, UiMemory& memory) {
  OpenState& state = desktop.opening;
  std::error_code ignored;
  state.base = std::filesystem::current_path(ignored).string();
  const bool there = std::filesystem::is_directory(desktop.settings.folder, ignored);
  state.text = there ? desktop.settings.folder : state.base + "/";
  state.listed.clear();
  state.error.clear();
  state.shown = true;
  focus_field(memory, kPathField, state.text);
}

void draw_open_dialog(Ui& ui, Desktop& desktop, const Rect& window) {
  OpenState& state = desktop.opening;
  const float width = std::min(1040.0F, window.width() - 40);
  const float height = std::min(680.0F, window.height() - 60);
  const Rect rect = begin_dialog(ui, "open", window, width, height);
  Rect inner = rect.inset(18, 14);
  const Rect title = inner.take_top(28);
  ui.draw.text(Font::title, title.x0, title.center_y(), ui.colors.text, "Open");
  ui.draw.text_right(Font::small, title.x1, title.center_y(), ui.colors.tertiary,
                     "sessions, models, layouts, traces, plans · Tab completes · Esc closes");
  const bool entered = ImGui::IsKeyPressed(key::kEnter, false);
  const bool escaped = ImGui::IsKeyPressed(key::kEscape, false);
  const Rect path = inner.take_top(30);
  field(ui, kPathField, {path.x0, path.y0 + 2, path.x1, path.y0 + 26}, state.text,
        {.placeholder = "path", .live = true, .caret_at_end = true});
  const TypedPath typed = typed_path(state.text, state.base);
  list_typed_folder(state, typed);
  const auto found = matching(state, typed.name);
  inner.take_top(6);
  const Rect actions = inner.take_bottom(36);
  if (width > 700) draw_places(ui, desktop, inner.take_left(kPlaces - 14)), inner.take_left(14);
  list_keys(ui, state, found, typed, inner.height());
  const FolderEntry* picked = draw_entries(ui, state, found, inner);
  const bool chosen = state.chosen >= 0 && state.chosen < static_cast<int>(found.size());
  const std::string target =
      picked != nullptr ? typed.folder + picked->name
      : chosen          ? typed.folder + found[static_cast<std::size_t>(state.chosen)]->name
                        : typed.folder + typed.name;
  const float y = actions.y1 - 24;
  const bool open = button(ui, "open/open", box(actions.x1 - 90, y, 90, 24), "Open",
                           {.style = ButtonStyle::primary});
  const bool cancel = button(ui, "open/cancel", box(actions.x1 - 178, y, 80, 24), "Cancel", {});
  ui.draw.text_fit(Font::mono_small, actions.x0, y + 12, actions.width() - 200, ui.colors.tertiary,
                   target);
  ui.end_layer();
  if (cancel || escaped) {
    state.shown = false;
    ui.memory().editing = 0;
  } else if (picked != nullptr || open || entered) {
    pick(ui, desktop, target);
  }
}

}  // namespace shardscope::ui
