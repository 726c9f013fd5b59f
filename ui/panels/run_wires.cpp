#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ui/model/glossary.hpp"
#include "ui/model/numbers.hpp"
#include "ui/panels/pane_tables.hpp"
#include "ui/panels/run_parts.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

double sent_in(const RunSide& side, Stage stage) {
  double bytes = 0;
  for (const StageRow& row : side.stages) {
    if (row.stage == stage) bytes += row.intra_bytes + row.inter_bytes;
  }
  return bytes;
}

}  // namespace

void draw_run_wires(Ui& ui, Desktop& desktop, Rect area) {
  constexpr std::array kWires = {Stage::input_dist, Stage::network_forward, Stage::network_backward,
                                 Stage::allreduce};
  ui.draw.fill(area, ui.colors.pane);
  ui.pane("Communication", area, [&desktop] { return run_stages_table(desktop); });
  pane_header(ui, area.take_top(kHeaderHeight), "Communication",
              "sent by all ranks in an iteration, counted");
  const RunState& run = desktop.run;
  if (!run.shown || run.shown->a.stages.empty()) return;
  const RunSide& a = run.shown->a;
  const RunSide* b = run.shown->b ? &*run.shown->b : nullptr;
  double most = 1;
  for (const Stage stage : kWires) {
    most = std::max({most, sent_in(a, stage), b != nullptr ? sent_in(*b, stage) : 0});
  }
  const Rect body = area.inset(14, 6);
  const float ratio = body.x1, second = ratio - 52, first = second - 72;
  const float x = body.x0 + 118, room = std::max(10.0F, first - 68 - x);
  float y = body.y0 + 6;
  ui.draw.text_right(Font::small, first, y, ui.colors.tertiary, "A");
  if (b != nullptr) {
    ui.draw.text_right(Font::small, second, y, ui.colors.tertiary, "B");
    ui.draw.text_right(Font::small, ratio, y, ui.colors.tertiary, "B / A");
  }
  y += 20;
  for (const Stage stage : kWires) {
    const double left = sent_in(a, stage), right = b != nullptr ? sent_in(*b, stage) : 0;
    if (left <= 0 && right <= 0) continue;
    if (y + 10 > body.y1) return;
    const char* name = shardscope::to_string(stage);
    ui.draw.fill(box(body.x0, y - 5, 9, 9), ui.colors.stage(stage));
    ui.draw.text_fit(Font::small, body.x0 + 14, y, 100, ui.colors.text, name);
    if (ui.hovers({body.x0, y - 11, body.x1, y + 11})) {
      ui.tooltip(fmt::format("{}\n{}", name, explain_term(name)));
    }
    const auto width = [&](double bytes) { return room * static_cast<float>(bytes / most); };
    ui.draw.fill(box(x, y - 7, width(left), 6), ui.colors.reference);
    ui.draw.text_right(Font::mono_small, first, y, ui.colors.text, bytes_text(left));
    if (b != nullptr) {
      ui.draw.fill(box(x, y, width(right), 6), ui.colors.accent);
      ui.draw.text_right(Font::mono_small, second, y, ui.colors.text, bytes_text(right));
      if (left > 0) {
        ui.draw.text_right(Font::mono_small, ratio, y,
                           right <= left ? ui.colors.good : ui.colors.worse,
                           fmt::format("{:.2f}", right / left));
      }
    }
    y += 26;
  }
  if (y + 10 < body.y1) {
    ui.draw.text_fit(Font::small, body.x0, y, body.width(), ui.colors.tertiary,
                     run.shown->record.wire.empty()
                         ? "wires not throttled"
                         : "wires throttled to " + run.shown->record.wire + " GB/s");
  }
}

}  // namespace shardscope::ui
