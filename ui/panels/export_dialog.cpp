#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <fstream>

#include "ui/draw/symbols.hpp"
#include "ui/panels/panels.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

void write_file(ExportState& state) {
  std::ofstream out(state.path, std::ios::binary);
  out << state.text.text;
  out.close();
  state.written =
      out ? "Written to " + state.path
          : "Cannot be written: " + state.path + ". Choose a folder that you may write.";
}

void draw_text(Ui& ui, ExportState& state, Rect area) {
  ui.draw.fill(area, ui.colors.field);
  ui.draw.frame(area, ui.colors.line);
  constexpr float kPitch = 15;
  const std::string& text = state.text.text;
  const auto lines = static_cast<float>(std::count(text.begin(), text.end(), '\n') + 1);
  scroll(ui, "export/scroll", area, lines * kPitch + 12, state.scroll);
  ui.draw.clip(area);
  float y = area.y0 + 12 - state.scroll;
  for (std::size_t begin = 0; begin < text.size() && y < area.y1 + kPitch; y += kPitch) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (y > area.y0 - kPitch) {
      ui.draw.text_fit(Font::mono_small, area.x0 + 10, y, area.width() - 28, ui.colors.secondary,
                       std::string_view(text).substr(begin, end - begin));
    }
    begin = end + 1;
  }
  ui.draw.unclip();
}

float draw_remarks(Ui& ui, const ExportState& state, const Rect& area, float y) {
  const auto remark = [&](const std::string& words, bool refused) {
    if (refused) {
      draw_cross(ui.draw, {area.x0 + 8, y}, ui.colors.error);
    } else {
      draw_warning(ui.draw, {area.x0 + 8, y}, ui.colors.warning, ui.colors.callout);
    }
    const int used = ui.draw.paragraph(Font::small, area.x0 + 24, y, area.width() - 24, 15, 3,
                                       ui.colors.text, words);
    y += 15 * static_cast<float>(used) + 5;
  };
  if (!state.text.refusal.empty()) remark(state.text.refusal, true);
  for (std::size_t i = 0; i < std::min<std::size_t>(4, state.text.changes.size()); ++i) {
    remark(state.text.changes[i], false);
  }
  return y;
}

}  // namespace

void draw_export_dialog(Ui& ui, Desktop& desktop, const Rect& window) {
  ExportState& state = desktop.export_state;
  const Document& document = *desktop.document;
  const int node = document.history().current();
  if (state.made_for != node || state.made_format != state.format) {
    state.text = export_layout(document.workload(), document.topology(), document.layout(),
                               static_cast<ExportFormat>(state.format));
    state.made_for = node;
    state.made_format = state.format;
    state.path = state.text.file_name;
    state.written.clear();
    state.scroll = 0;
  }
  const float width = std::min(980.0F, window.width() - 40);
  const float height = std::min(700.0F, window.height() - 60);
  const Rect rect = begin_dialog(ui, "export", window, width, height);
  Rect inner = rect.inset(18, 14);
  const Rect title = inner.take_top(28);
  ui.draw.text(Font::title, title.x0, title.center_y(), ui.colors.text,
               "Export " + document.layout().name);
  std::array<std::string_view, kExportFormats> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = title_of(static_cast<ExportFormat>(i));
  const Rect formats = inner.take_top(34);
  segmented(ui, "export/format", formats.x0, formats.y0 + 4, names, state.format);
  const Rect actions = inner.take_bottom(34);
  const float y = draw_remarks(ui, state, inner, inner.y0 + 12);
  inner.y0 = y + 2;
  const bool there = !state.text.text.empty();
  if (there) draw_text(ui, state, {inner.x0, inner.y0, inner.x1, inner.y1 - 6});
  const float middle = actions.center_y() + 3;
  field(ui, "export/path", {actions.x0, middle - 11, actions.x0 + width * 0.42F, middle + 11},
        state.path, {});
  ui.draw.text_fit(Font::small, actions.x0 + width * 0.42F + 10, middle,
                   actions.x1 - 250 - actions.x0 - width * 0.42F - 16, ui.colors.secondary,
                   state.written);
  if (button(ui, "export/copy", box(actions.x1 - 240, middle - 12, 70, 24), "Copy",
             {.enabled = there})) {
    ImGui::SetClipboardText(state.text.text.c_str());
    state.written = "Copied.";
  }
  if (button(ui, "export/write", box(actions.x1 - 162, middle - 12, 78, 24), "Write",
             {.style = ButtonStyle::primary, .enabled = there && !state.path.empty()})) {
    write_file(state);
  }
  const bool close =
      button(ui, "export/close", box(actions.x1 - 76, middle - 12, 76, 24), "Close", {});
  ui.end_layer();
  const bool escaped = ui.memory().editing == 0 && ImGui::IsKeyPressed(key::kEscape, false);
  if (close || escaped) desktop.exporting = false;
}

}  // namespace shardscope::ui
