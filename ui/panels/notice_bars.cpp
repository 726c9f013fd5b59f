#include <fmt/format.h>

#include <filesystem>

#include "ui/draw/symbols.hpp"
#include "ui/panels/panels.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

struct BarColors {
  Color fill;
  Color line;
};

BarColors bar_colors(const Palette& colors, NoticeKind kind) {
  switch (kind) {
    case NoticeKind::error:
      return {colors.error_fill, colors.error};
    case NoticeKind::warning:
      return {colors.warning_fill, colors.warning};
    case NoticeKind::note:
      break;
  }
  return {colors.header, colors.strong_line};
}

}  // namespace

bool draw_notice(Ui& ui, const Notice& notice, std::size_t index, const Rect& bar,
                 std::function<void()>& action) {
  const BarColors colors = bar_colors(ui.colors, notice.kind);
  ui.draw.fill(bar, colors.fill);
  ui.draw.frame(bar, colors.line);
  const Point mark{bar.x0 + 18, bar.center_y()};
  if (notice.kind == NoticeKind::error) draw_cross(ui.draw, mark, colors.line);
  if (notice.kind == NoticeKind::warning) draw_warning(ui.draw, mark, colors.line, colors.fill);
  if (notice.kind == NoticeKind::note) draw_tick(ui.draw, mark, ui.colors.good);
  float x = bar.x1 - 12;
  const auto place = [&](std::string_view label) {
    const float width = button_width(ui, label);
    x -= width;
    const Rect rect = box(x, bar.y0 + 4, width, bar.height() - 8);
    x -= 8;
    return rect;
  };
  bool open = !button(ui, fmt::format("notice/{}/close", index), place("Put away"), "Put away", {});
  for (std::size_t i = notice.actions.size(); i-- > 0;) {
    const Notice::Action& one = notice.actions[i];
    if (button(ui, fmt::format("notice/{}/{}", index, one.label), place(one.label), one.label,
               {.style = i == 0 ? ButtonStyle::primary : ButtonStyle::plain})) {
      action = one.run;
      open = false;
    }
  }
  const Rect words{bar.x0 + 34, bar.y0, x, bar.y1};
  ui.draw.text_fit(Font::body, words.x0, words.center_y(), words.width(), ui.colors.text,
                   notice.text);
  if (ui.hovers(words) && ui.draw.width(Font::body, notice.text) > words.width()) {
    ui.tooltip(notice.text);
  }
  return open;
}

void draw_import_bar(Ui& ui, Desktop& desktop, const Rect& bar) {
  ImportJob& job = *desktop.importing;
  const double share = std::clamp(job.share(), 0.0, 1.0);
  ui.draw.fill(bar, ui.colors.header);
  ui.draw.fill({bar.x0, bar.y0, bar.x0 + bar.width() * static_cast<float>(share), bar.y1},
               ui.colors.selection);
  ui.draw.horizontal(bar.x0, bar.x1, bar.y1 - 1, ui.colors.strong_line);
  const std::string file = std::filesystem::path(job.request().paths.front()).filename().string();
  ui.draw.text_fit(Font::body, bar.x0 + 34, bar.center_y(), bar.width() - 160, ui.colors.text,
                   job.cancelled() ? fmt::format("Cancelling {} …", file)
                                   : fmt::format("Opening {} … {:.0f} %", file, share * 100));
  const Rect cancel = box(bar.x1 - 90, bar.y0 + 4, 78, bar.height() - 8);
  if (button(ui, "import/cancel", cancel, "Cancel", {.enabled = !job.cancelled()})) job.cancel();
}

}  // namespace shardscope::ui
