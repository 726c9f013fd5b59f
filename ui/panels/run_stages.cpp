#include <fmt/format.h>

#include <algorithm>

#include "ui/model/numbers.hpp"
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

}  // namespace

void draw_run_stages(Ui& ui, Desktop& desktop, Rect area) {
  ui.draw.fill(area, ui.colors.pane);
  pane_header(ui, area.take_top(kHeaderHeight), "Stages",
              "ms an iteration on the slowest rank, waiting left out; traced blocks");
  const RunState& run = desktop.run;
  const Rect header = area.take_top(22);
  ui.draw.fill(header, ui.colors.header);
  const float bars = area.x0 + 148;
  const float change = area.x1 - 14, b = change - 78, a = b - 78;
  const float room = std::max(20.0F, a - 70 - bars);
  const float y = header.center_y();
  ui.draw.text(Font::small, area.x0 + 14, y, ui.colors.tertiary, "stage");
  ui.draw.text_right(Font::small, a, y, ui.colors.tertiary, "A ms");
  ui.draw.text_right(Font::small, b, y, ui.colors.tertiary, "B ms");
  ui.draw.text_right(Font::small, change, y, ui.colors.tertiary, "B − A");
  if (!run.shown || run.shown->a.stages.empty()) {
    ui.draw.text(Font::small, area.x0 + 14, area.y0 + 22, ui.colors.tertiary,
                 "Nothing traced. Runs trace one block in 8.");
    return;
  }
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
    const float thick = std::clamp(pitch * 0.26F, 3.0F, 11.0F);
    const auto bar = [&](const StageRow* row, float at, Color fill) {
      if (row == nullptr) return;
      ui.draw.fill(box(bars, at, room * static_cast<float>(row->ms_max / most), thick), fill);
      if (row->waiting_ms_mean > 0) {
        const float x = bars + room * static_cast<float>(row->ms_max / most);
        const float wait =
            std::min(room * static_cast<float>(row->waiting_ms_mean / most), bars + room - x);
        if (wait > 2) ui.draw.hatch(box(x, at, wait, thick), ui.colors.tertiary, 5, 1);
      }
    };
    bar(one, middle - thick - 1, mix(color, ui.colors.pane, 0.45F));
    bar(two, middle + 1, color);
    if (one != nullptr)
      ui.draw.text_right(Font::mono, a, middle, ui.colors.text, fmt::format("{:.3f}", one->ms_max));
    if (two != nullptr)
      ui.draw.text_right(Font::mono, b, middle, ui.colors.text, fmt::format("{:.3f}", two->ms_max));
    if (one != nullptr && two != nullptr) {
      const double delta = two->ms_max - one->ms_max;
      ui.draw.text_right(Font::mono, change, middle, delta <= 0 ? ui.colors.good : ui.colors.worse,
                         signed_ms_text(delta / 1e3));
    }
    ui.draw.horizontal(area.x0 + 12, area.x1 - 12, top + pitch - 1, ui.colors.line);
    top += pitch;
  }
}

void draw_run_ranks(Ui& ui, Desktop& desktop, Rect area) {
  ui.draw.fill(area, ui.colors.pane);
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
    ui.draw.text(Font::small, body.x0, y + pitch / 2, ui.colors.secondary,
                 fmt::format("GPU {}", run.shown->a.ranks[i].rank));
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
