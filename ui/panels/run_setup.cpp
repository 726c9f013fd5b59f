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

/// Rows of the set-up, from the top; what finds no room is left out.
class SetupRows {
 public:
  SetupRows(Ui& ui, const Rect& area)
      : ui_(ui), area_(area), y_(area.y0), left_(area.x0 + std::min(128.0F, area.width() * 0.4F)) {}

  void text(const char* name, const char* label, std::string& value,
            std::string_view placeholder = {}) {
    if (!next(label)) return;
    field(ui_, std::string("run/") + name, cell(), value, {.placeholder = placeholder});
  }
  void choice(const char* name, const char* label, std::span<const Choice> list,
              std::string& value) {
    if (!next(label)) return;
    choices(ui_, std::string("run/") + name, cell(), list, value);
  }
  void check(const char* name, const char* label, bool& value) {
    if (!next(label)) return;
    check_box(ui_, std::string("run/") + name, {left_, y_ - 7}, value);
  }
  void title(std::string_view words, std::string_view right) {
    y_ += kPitch - 4;
    if (y_ + 12 > area_.y1) return;
    ui_.draw.text(Font::strong, area_.x0, y_, ui_.colors.text, words);
    ui_.draw.text_right(Font::small, area_.x1, y_, ui_.colors.tertiary, right);
  }
  [[nodiscard]] float end() const { return y_ + 14; }

 private:
  static constexpr float kPitch = 26;

  bool next(const char* label) {
    y_ += kPitch;
    if (y_ + 12 > area_.y1) return false;
    ui_.draw.text_fit(Font::small, area_.x0, y_, left_ - area_.x0 - 6, ui_.colors.secondary, label);
    return true;
  }
  [[nodiscard]] Rect cell() const { return {left_, y_ - 11, area_.x1, y_ + 11}; }

  Ui& ui_;
  Rect area_;
  float y_;
  float left_;
};

/// Where it runs: what the engine's machine cannot do is refused in the doctor's words.
void draw_device(SetupRows& rows, const Desktop& desktop, RunState& run) {
  static const EngineMachine unknown;
  const EngineMachine& machine = desktop.engine != nullptr ? desktop.engine->machine() : unknown;
  const std::string before = run.backend;
  const Choice backends[] = {{"cpu"}, {"cuda", backend_refusal(machine, "cuda")}};
  rows.choice("backend", "Backend", backends, run.backend);
  if (run.backend != before) run.comm = run.backend == "cuda" ? "loopback" : "threads";
  const bool cuda = run.backend == "cuda";
  const std::string_view first = cuda ? "loopback" : "threads";
  const std::string_view second = cuda ? "nccl" : "loopback";
  const Choice comms[] = {{first, comm_refusal(machine, run.backend, first)},
                          {second, comm_refusal(machine, run.backend, second)}};
  rows.choice("comm", "Communicator", comms, run.comm);
  if (!cuda) return;
  const Choice maths[] = {{"tf32", dense_math_refusal(machine, "tf32")},
                          {"bf16", dense_math_refusal(machine, "bf16")},
                          {"host"}};
  rows.choice("dense_math", "Dense part in", maths, run.dense_math);
  rows.check("graphs", "Stages as graphs", run.graphs);
}

float draw_fields(Ui& ui, Desktop& desktop, const Rect& area) {
  RunState& run = desktop.run;
  SetupRows rows(ui, area);
  const std::int32_t ranks = desktop.document->topology().ranks();
  rows.title("Set-up", run.backend == "cpu" ? plural(ranks, "rank") + " on CPU cores"
                       : run.comm == "nccl" ? "a GPU a rank"
                                            : plural(ranks, "rank") + " on one GPU");
  draw_device(rows, desktop, run);
  const Choice schedules[] = {{"serial"}, {"intra"}, {"inter"}};
  rows.choice("schedule", "Schedule", schedules, run.schedule);
  rows.text("wire", "Wire, GB/s", run.wire, "not throttled");
  rows.text("batch", "Global batch", run.batch, "the model's");
  rows.text("rows_cap", "Rows cap", run.rows_cap, "none");
  rows.text("budget", "Budget, s", run.budget);
  rows.text("target", "Stop when ± below, %", run.target);
  rows.check("no_dense", "Embeddings alone", run.no_dense);
  rows.title("Training", "with the dense part");
  rows.text("iterations", "Iterations", run.iterations);
  rows.text("evaluate_every", "Loss, AUC every", run.evaluate_every);
  return rows.end();
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
  side_card(ui, {area.x0 + kPadding, y, area.x1 - kPadding, y + 44}, 'A',
            layout_title(history, a) + " ★", layout_words(*history.node(a).layout),
            ui.colors.reference);
  y += 48;
  side_card(ui, {area.x0 + kPadding, y, area.x1 - kPadding, y + 44}, 'B', layout_title(history, b),
            layout_words(*history.node(b).layout), ui.colors.accent);
  y += 54;
  draw_run_buttons(ui, desktop, {area.x0 + kPadding, y, area.x1 - kPadding, y + 60});
  y += 90;
  ui.draw.horizontal(area.x0, area.x1, y, ui.colors.line);
  y = draw_fields(ui, desktop, {area.x0 + kPadding, y, area.x1 - kPadding, area.y1});
  ui.draw.horizontal(area.x0, area.x1, y, ui.colors.line);
  if (run.shown && y + 60 < area.y1) draw_recorded(ui, *run.shown, area, y + 20);
  ui.draw.unclip();
}

}  // namespace shardscope::ui
