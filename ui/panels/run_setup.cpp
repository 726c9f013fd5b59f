#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/draw/symbols.hpp"
#include "ui/model/numbers.hpp"
#include "ui/panels/run_parts.hpp"
#include "ui/panels/titles.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

void side_card(Ui& ui, const Rect& rect, char letter, const std::string& title,
               const std::string& below, Color color) {
  ui.draw.fill(rect, letter == 'B' ? ui.colors.selection : ui.colors.header);
  ui.draw.fill({rect.x0, rect.y0, rect.x0 + 3, rect.y1}, color);
  const Rect mark = box(rect.x0 + 12, rect.center_y() - 11, 22, 22);
  ui.draw.fill(mark, color, 2);
  ui.draw.text_center(Font::strong, mark.center_x(), mark.center_y(), text_on(color),
                      std::string(1, letter));
  ui.draw.text_fit(Font::title, mark.x1 + 10, rect.y0 + 15, rect.x1 - mark.x1 - 20, ui.colors.text,
                   title);
  ui.draw.text_fit(Font::small, mark.x1 + 10, rect.y0 + 33, rect.x1 - mark.x1 - 20,
                   ui.colors.secondary, below);
}

std::string layout_words(const Layout& layout) {
  std::array<int, kClusterTypes> count{};
  std::size_t shards = 0;
  for (const TablePlacement& table : layout.tables) {
    ++count[static_cast<std::size_t>(table.cluster)];
    shards += table.owners.size();
  }
  return fmt::format("{} RB · {} UB · {} DP, {} shards", count[1], count[2], count[0], shards);
}

void labelled(Ui& ui, const Rect& area, float y, const char* name, const char* label,
              std::string& value, std::string_view placeholder = {}) {
  ui.draw.text(Font::small, area.x0 + kPadding, y, ui.colors.secondary, label);
  const float left = area.x0 + std::min(150.0F, area.width() * 0.46F);
  field(ui, std::string("run/") + name, {left, y - 11, area.x1 - kPadding, y + 11}, value,
        {.placeholder = placeholder});
}

void draw_recorded(Ui& ui, const RecordedRuns& runs, const Rect& area, float y) {
  ui.draw.text(Font::strong, area.x0 + kPadding, y, ui.colors.text, "Last run");
  mode_badge(ui, area.x1 - 100, y, runs.a.mode);
  y += 24;
  const auto line = [&](std::string_view what, const std::string& value) {
    if (y + 8 > area.y1) return;
    ui.draw.text(Font::small, area.x0 + kPadding, y, ui.colors.tertiary, what);
    ui.draw.text_right(Font::mono_small, area.x1 - kPadding, y, ui.colors.text, value);
    y += 19;
  };
  line("backend", runs.record.backend + "/" + runs.record.comm);
  line("ranks", fmt::format("{}", runs.record.ranks));
  line("batch", grouped_text(runs.record.global_batch));
  line("rows cap", runs.record.rows_cap > 0 ? grouped_text(runs.record.rows_cap) : "none");
  line("schedule", runs.record.schedule);
  line("iterations A / B", fmt::format("{} / {}", runs.a.series.iterations(),
                                       runs.b ? runs.b->series.iterations() : 0));
  if (runs.comparison) {
    line("pairs of blocks", fmt::format("{}", runs.comparison->blocks));
    line("ended by", runs.comparison->reason);
  }
  line("tracing overhead", std::isnan(runs.record.tracing_overhead)
                               ? "unknown"
                               : fmt::format("{:+.1f} %", runs.record.tracing_overhead * 100));
  line("dropped records", grouped_text(runs.record.dropped));
}

}  // namespace

void draw_run_setup(Ui& ui, Desktop& desktop, Rect area) {
  RunState& run = desktop.run;
  const History& history = desktop.document->history();
  ui.draw.fill(area, ui.colors.pane);
  ui.draw.clip(area);
  ui.pane("Comparison", area);
  pane_header(ui, area.take_top(kHeaderHeight), "Comparison",
              "A is the reference ★, B the current layout");
  float y = area.y0 + 10;
  const int a = history.reference(), b = history.current();
  side_card(ui, {area.x0 + kPadding, y, area.x1 - kPadding, y + 48}, 'A',
            layout_title(history, a) + " ★", layout_words(*history.node(a).layout),
            ui.colors.reference);
  y += 54;
  side_card(ui, {area.x0 + kPadding, y, area.x1 - kPadding, y + 48}, 'B', layout_title(history, b),
            layout_words(*history.node(b).layout), ui.colors.accent);
  y += 66;
  ui.draw.text(Font::strong, area.x0 + kPadding, y, ui.colors.text, "Set-up");
  ui.draw.text_right(
      Font::small, area.x1 - kPadding, y, ui.colors.tertiary,
      plural(desktop.document->topology().ranks(), "rank") + " on this machine's CPU");
  y += 26;
  labelled(ui, area, y, "comm", "Communicator", run.comm, "threads | loopback");
  labelled(ui, area, y += 27, "wire", "Wire, GB/s", run.wire, "not throttled");
  labelled(ui, area, y += 27, "schedule", "Schedule", run.schedule, "serial | intra | inter");
  labelled(ui, area, y += 27, "batch", "Global batch", run.batch, "the model's");
  labelled(ui, area, y += 27, "rows_cap", "Rows cap", run.rows_cap, "none");
  labelled(ui, area, y += 27, "budget", "Budget, s", run.budget);
  labelled(ui, area, y += 27, "target", "Stop when ± below, %", run.target);
  y += 28;
  bool& no_dense = run.no_dense;
  check_box(ui, "run/no_dense", {area.x0 + 150, y - 7}, no_dense);
  ui.draw.text(Font::small, area.x0 + kPadding, y, ui.colors.secondary, "Embeddings alone");
  y += 22;
  draw_run_buttons(ui, desktop, {area.x0 + kPadding, y, area.x1 - kPadding, y + 26});
  y += 62;
  ui.draw.horizontal(area.x0, area.x1, y, ui.colors.line);
  if (run.shown && y + 60 < area.y1) draw_recorded(ui, *run.shown, area, y + 20);
  ui.draw.unclip();
}

}  // namespace shardscope::ui
