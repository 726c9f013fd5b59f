#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "profiler/median.hpp"
#include "ui/desktop/calibrate.hpp"
#include "ui/model/glossary.hpp"
#include "ui/model/numbers.hpp"
#include "ui/model/words.hpp"
#include "ui/panels/pane_tables.hpp"
#include "ui/panels/run_parts.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

constexpr float kRow = 44;

const StageRow* stage_row(const std::vector<StageRow>& rows, Stage stage) {
  for (const StageRow& row : rows) {
    if (row.stage == stage) return &row;
  }
  return nullptr;
}

/// Right edges of the columns: A measured, predicted, error, B likewise, the difference.
struct StageColumns {
  std::array<float, 6> at{};
  float change = 0;
  float bars = 0;
  float room = 20;
  bool predictions = true;

  explicit StageColumns(const Rect& area) {
    bars = area.x0 + 148;
    change = area.x1 - 14;
    predictions = area.width() > 640;
    const float pitch = predictions ? 62 : 74;
    float x = change - 66;
    for (std::size_t i = at.size(); i-- > 0;) {
      if (!predictions && i % 3 != 0) continue;
      at[i] = x;
      x -= pitch;
    }
    room = std::max(20.0F, x - bars - 12);
  }
};

void draw_columns(Ui& ui, const StageColumns& at, const Rect& header) {
  const float y = header.center_y();
  ui.draw.fill(header, ui.colors.header);
  ui.draw.text(Font::small, header.x0 + 14, y, ui.colors.tertiary, "stage");
  ui.draw.text_fit(Font::small, at.bars, y, at.room, ui.colors.tertiary,
                   at.predictions && at.room > 170 ? "bar measured, notch predicted"
                   : at.predictions                ? "notch: predicted"
                                                   : "measured");
  constexpr std::array<std::string_view, 6> kLabels = {"A meas.", "A pred.", "error",
                                                       "B meas.", "B pred.", "error"};
  for (std::size_t i = 0; i < kLabels.size(); ++i) {
    if (!at.predictions && i % 3 != 0) continue;
    ui.draw.text_right(Font::small, at.at[i], y, ui.colors.tertiary, kLabels[i]);
  }
  ui.draw.text_right(Font::small, at.change, y, ui.colors.tertiary, "B − A");
}

/// Measured, predicted and the error of one side of a stage.
void draw_side_numbers(Ui& ui, const RunSide& side, const StageRow* row, Stage stage,
                       const StageColumns& at, std::size_t first, float y) {
  if (row == nullptr) return;
  ui.draw.text_right(Font::mono_strong, at.at[first], y, ui.colors.text,
                     fmt::format("{:.3f}", row->ms_max));
  if (!at.predictions || !side.predicted) return;
  const double predicted = side.predicted->stage_ms[static_cast<std::size_t>(stage)];
  if (predicted <= 0) return;
  ui.draw.text_right(Font::mono, at.at[first + 1], y, ui.colors.secondary,
                     fmt::format("{:.3f}", predicted));
  if (const auto error = prediction_error(predicted, row->ms_max)) {
    ui.draw.text_right(Font::mono, at.at[first + 2], y,
                       std::abs(*error) > kLargeError ? ui.colors.warning : ui.colors.secondary,
                       error_text(*error));
  }
}

/// The sentence below the table: how good the model was.
void draw_verdict(Ui& ui, Desktop& desktop, const Rect& area) {
  const RecordedRuns& runs = *desktop.run.shown;
  std::vector<double> errors;
  const char* worst_name = "";
  double worst = 0;
  for (const RunSide* side : {&runs.a, runs.b ? &*runs.b : nullptr}) {
    if (side == nullptr || !side->predicted) continue;
    for (const StageRow& row : side->stages) {
      const auto error = prediction_error(
          side->predicted->stage_ms[static_cast<std::size_t>(row.stage)], row.ms_max);
      if (!error) continue;
      errors.push_back(std::abs(*error));
      if (std::abs(*error) < std::abs(worst)) continue;
      worst = *error;
      worst_name = shardscope::to_string(row.stage);
    }
  }
  if (errors.empty()) return;
  const bool unmeasured = runs.record.backend == "cpu" && host_unmeasured(desktop);
  const std::string words =
      fmt::format("Predicted / measured − 1 by stage: median {:.0f} %, largest {} ({}). {}",
                  median(errors) * 100, error_text(worst), worst_name,
                  unmeasured ? "Shared cores and a host that nobody measured show here."
                             : "Ranks that share cores show here.");
  ui.draw.horizontal(area.x0, area.x1, area.y0, ui.colors.line);
  const float used = unmeasured ? button_width(ui, "Calibrate now") + 12 : 0;
  ui.draw.paragraph(Font::small, area.x0 + 14, area.y0 + 16, area.width() - 28 - used, 16, 2,
                    ui.colors.secondary, words);
  if (!unmeasured) return;
  const LiveJob* job = desktop.engine != nullptr ? desktop.engine->job() : nullptr;
  const Rect rect{area.x1 - 2 - used, area.y0 + 12, area.x1 - 14, area.y0 + 36};
  if (button(ui, "run/calibrate", rect, "Calibrate now",
             {.enabled = job == nullptr,
              .tooltip = "Measures this host's CPU for about half a minute;\nthe next runs are "
                         "predicted with that"})) {
    start_calibration(desktop);
  }
}

}  // namespace

std::string error_text(double error) {
  if (std::abs(error) >= 9.995) return error > 0 ? ">+999 %" : "<−999 %";
  return fmt::format("{}{:.{}f} %", error < 0 ? "−" : "+", std::abs(error) * 100,
                     std::abs(error) < 0.9995 ? 1 : 0);
}

void draw_run_stages(Ui& ui, Desktop& desktop, Rect area) {
  ui.draw.fill(area, ui.colors.pane);
  ui.pane("Stages", area, [&desktop] { return run_stages_table(desktop); });
  pane_header(ui, area.take_top(kHeaderHeight), "Stages",
              "ms an iteration on the slowest rank, waiting left out; traced blocks");
  const RunState& run = desktop.run;
  const StageColumns at(area);
  draw_columns(ui, at, area.take_top(22));
  if (!run.shown || run.shown->a.stages.empty()) {
    ui.draw.text(Font::small, area.x0 + 14, area.y0 + 22, ui.colors.tertiary,
                 "Nothing traced. Runs trace one block in 8.");
    return;
  }
  if (area.height() > 200) draw_verdict(ui, desktop, area.take_bottom(48));
  const std::vector<StageRow>& left = run.shown->a.stages;
  const std::vector<StageRow> none;
  const std::vector<StageRow>& right = run.shown->b ? run.shown->b->stages : none;
  double most = 1e-9;
  for (const std::vector<StageRow>* rows : {&left, &right}) {
    for (const StageRow& row : *rows) most = std::max(most, row.ms_max);
  }
  float top = area.y0 + 4;
  const float pitch = std::clamp((area.height() - 8) / kStages, 20.0F, kRow);
  for (int s = 0; s < kStages; ++s) {
    const auto stage = static_cast<Stage>(s);
    const StageRow* one = stage_row(left, stage);
    const StageRow* two = stage_row(right, stage);
    if (one == nullptr && two == nullptr) continue;
    const float middle = top + pitch / 2;
    if (top + pitch > area.y1 + 2) break;
    const Color color = ui.colors.stage(stage);
    ui.draw.fill(box(area.x0 + 14, middle - 4, 9, 9), color);
    ui.draw.text(Font::small, area.x0 + 29, middle, ui.colors.text, shardscope::to_string(stage));
    if (ui.hovers({area.x0, top, area.x0 + 148, top + pitch})) {
      ui.tooltip(fmt::format("{}\n{}", shardscope::to_string(stage),
                             explain_term(shardscope::to_string(stage))));
    }
    const float thick = std::clamp(pitch * 0.26F, 3.0F, 11.0F);
    const auto bar = [&](const RunSide& side, const StageRow* row, float y, Color fill) {
      if (row == nullptr) return;
      const float x = at.bars + at.room * static_cast<float>(row->ms_max / most);
      ui.draw.fill({at.bars, y, x, y + thick}, fill);
      const float wait = std::min(at.room * static_cast<float>(row->waiting_ms_mean / most),
                                  at.bars + at.room - x);
      if (wait > 2) ui.draw.hatch(box(x, y, wait, thick), ui.colors.tertiary, 5, 1);
      if (!side.predicted || !at.predictions) return;
      const double predicted = side.predicted->stage_ms[static_cast<std::size_t>(stage)];
      const float notch = at.bars + at.room * static_cast<float>(std::min(1.02, predicted / most));
      if (predicted > 0) ui.draw.vertical(notch, y - 2, y + thick + 2, ui.colors.text, 2);
    };
    bar(run.shown->a, one, middle - thick - 1, mix(color, ui.colors.pane, 0.45F));
    if (run.shown->b) bar(*run.shown->b, two, middle + 1, color);
    draw_side_numbers(ui, run.shown->a, one, stage, at, 0, middle);
    if (run.shown->b) draw_side_numbers(ui, *run.shown->b, two, stage, at, 3, middle);
    if (one != nullptr && two != nullptr) {
      const double delta = two->ms_max - one->ms_max;
      ui.draw.text_right(Font::mono, at.change, middle,
                         delta <= 0 ? ui.colors.good : ui.colors.worse,
                         signed_ms_text(delta / 1e3));
    }
    ui.draw.horizontal(area.x0 + 12, area.x1 - 12, top + pitch - 1, ui.colors.line);
    top += pitch;
  }
}

void draw_run_ranks(Ui& ui, Desktop& desktop, Rect area) {
  ui.draw.fill(area, ui.colors.pane);
  ui.pane("Ranks", area, [&desktop] { return run_ranks_table(desktop); });
  pane_header(ui, area.take_top(kHeaderHeight), "Ranks",
              "at work, then waiting for others, ms an iteration");
  const RunState& run = desktop.run;
  if (!run.shown || run.shown->a.ranks.empty()) return;
  const auto sum = [](const std::vector<double>& list) {
    double all = 0;
    for (const double value : list) all += value;
    return all;
  };
  double most = 1e-9;
  for (const RunSide* side : {&run.shown->a, run.shown->b ? &*run.shown->b : nullptr}) {
    if (side == nullptr) continue;
    for (const RankStages& rank : side->ranks)
      most = std::max(most, sum(rank.ms) + sum(rank.waiting_ms));
  }
  const Rect body = area.inset(14, 8);
  const float pitch =
      std::clamp(body.height() / static_cast<float>(run.shown->a.ranks.size()), 10.0F, 36.0F);
  const float x = body.x0 + 60;
  const float room = body.width() - 60 - 130;
  float y = body.y0;
  for (std::size_t i = 0; i < run.shown->a.ranks.size() && y + pitch <= body.y1 + 2;
       ++i, y += pitch) {
    const float thick = std::min(10.0F, pitch * 0.3F);
    ui.draw.text(
        Font::small, body.x0, y + pitch / 2, ui.colors.secondary,
        fmt::format("{} {}", gpu_word(run.shown->record.backend), run.shown->a.ranks[i].rank));
    std::string words;
    const auto bar = [&](const RankStages& rank, float at, Color color) {
      const float work = room * static_cast<float>(sum(rank.ms) / most);
      const float wait = room * static_cast<float>(sum(rank.waiting_ms) / most);
      ui.draw.fill(box(x, at, work, thick), color);
      if (wait > 1) ui.draw.hatch(box(x + work, at, wait, thick), ui.colors.tertiary, 5, 1);
      words += fmt::format("{}{:.2f}", words.empty() ? "" : " / ", sum(rank.ms));
    };
    bar(run.shown->a.ranks[i], y + pitch / 2 - thick - 1, ui.colors.reference);
    if (run.shown->b && i < run.shown->b->ranks.size())
      bar(run.shown->b->ranks[i], y + pitch / 2 + 1, ui.colors.accent);
    ui.draw.text_right(Font::mono, body.x1, y + pitch / 2, ui.colors.text, words);
  }
}

}  // namespace shardscope::ui
