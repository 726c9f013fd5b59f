#include <imgui.h>
#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <cmath>

#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

ImVec4 vector_of(Color color) {
  return ImGui::ColorConvertU32ToFloat4(color);
}

/// Dear ImGui's single-line editor in the field's place and colours. True on Enter or, live, on
/// every change.
bool edit_text(Ui& ui, const Rect& rect, const FieldOptions& options, bool& ended) {
  UiMemory& memory = ui.memory();
  const float scale = ui.draw.scale();
  ImFont* font = ui.draw.fonts()[options.mono ? Font::mono : Font::body];
  ImGui::PushFont(font);
  ImGui::PushStyleColor(ImGuiCol_FrameBg, vector_of(ui.colors.field));
  ImGui::PushStyleColor(ImGuiCol_Text, vector_of(ui.colors.text));
  ImGui::PushStyleColor(ImGuiCol_TextSelectedBg, vector_of(ui.colors.selection));
  const float height = std::round(rect.height() * scale);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                      {8 * scale, std::floor((height - font->FontSize) / 2)});
  ImGui::SetCursorScreenPos({std::round(rect.x0 * scale), std::round(rect.y0 * scale)});
  ImGui::SetNextItemWidth(std::round(rect.width() * scale));
  if (!memory.editing_started) ImGui::SetKeyboardFocusHere();
  ImGui::PushID(static_cast<int>(memory.editing & 0x7fffffff));
  const bool entered =
      ImGui::InputText("##field", &memory.text,
                       ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
  const bool active = ImGui::IsItemActive();
  ImGuiInputTextState* state = ImGui::GetInputTextState(ImGui::GetItemID());
  if (active && !memory.editing_started && options.caret_at_end && state != nullptr) {
    state->ClearSelection();
    state->Stb.cursor = state->CurLenW;
  }
  ImGui::PopID();
  ImGui::PopStyleVar();
  ImGui::PopStyleColor(3);
  ImGui::PopFont();
  // The item becomes active a frame after it was asked to.
  ended = memory.editing_started && !active && !entered;
  if (active) memory.editing_started = true;
  return entered;
}

}  // namespace

void focus_field(UiMemory& memory, std::string_view name, std::string text) {
  memory.editing = Ui::id_of(name);
  memory.editing_started = false;
  memory.text = std::move(text);
  // An editor that is active would go on with the text it had.
  ImGui::ClearActiveID();
}

bool field_has_focus(const UiMemory& memory, std::string_view name) {
  return memory.editing == Ui::id_of(name);
}

bool field(Ui& ui, std::string_view name, const Rect& rect, std::string& text,
           const FieldOptions& options) {
  UiMemory& memory = ui.memory();
  const Touch touch = ui.region(name, rect);
  if (options.enabled && touch.clicked && !field_has_focus(memory, name)) {
    focus_field(memory, name, text);
  }
  const bool editing = options.enabled && field_has_focus(memory, name);
  bool changed = false;
  if (editing) {
    bool ended = false;
    const bool entered = edit_text(ui, rect, options, ended);
    const bool escaped = ImGui::IsKeyPressed(key::kEscape, false);
    if (options.live && !escaped && memory.text != text) {
      text = memory.text;
      changed = true;
    }
    // Leaving by a click elsewhere keeps what was typed, Esc does not.
    if ((entered || (ended && !escaped)) && !options.live && memory.text != text) {
      text = memory.text;
      changed = true;
    }
    if (entered || ended || escaped) memory.editing = 0;
  } else {
    ui.draw.fill(rect, ui.colors.field, 2);
    const Font font = options.mono ? Font::mono : Font::body;
    const Color color = text.empty()       ? ui.colors.tertiary
                        : !options.enabled ? ui.colors.secondary
                        : options.accent   ? ui.colors.accent
                                           : ui.colors.text;
    const std::string_view shown = text.empty() ? options.placeholder : std::string_view(text);
    const float room = rect.width() - 16;
    if (options.align_right && ui.draw.width(font, shown) <= room) {
      ui.draw.text_right(font, rect.x1 - 8, rect.center_y(), color, shown);
    } else {
      ui.draw.text_fit(text.empty() ? Font::body : font, rect.x0 + 8, rect.center_y(), room, color,
                       shown);
    }
  }
  ui.draw.frame(rect,
                editing         ? ui.colors.accent
                : touch.hovered ? ui.colors.tertiary
                                : ui.colors.strong_line,
                2);
  return changed;
}

}  // namespace shardscope::ui
