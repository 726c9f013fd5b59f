// Cuts of a table as bars: drag a bound, double-click where another cut shall be.

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "ui/model/numbers.hpp"
#include "ui/model/table_edits.hpp"
#include "ui/model/words.hpp"
#include "ui/panels/inspector_parts.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

constexpr float kBarLeft = 96;
constexpr float kBarHeight = 9;
constexpr float kReach = 5;  ///< of a bound, pixels to each side

struct CutBar {
  Rect rect;
  std::vector<double> cuts;  ///< from 0 to `whole`
  double whole = 1;
  bool rows = false;
  bool bounds = false;  ///< the cuts can be moved

  [[nodiscard]] float x(double cut) const {
    return rect.x0 + rect.width() * static_cast<float>(cut / whole);
  }
  [[nodiscard]] double at(float x) const {
    return std::clamp((x - rect.x0) / rect.width(), 0.0F, 1.0F) * whole;
  }
};

CutBar rows_bar(const Table& table, const TablePlacement& placement, const Rect& rect) {
  CutBar bar{rect,
             {},
             static_cast<double>(table.rows),
             true,
             placement.mapping == RowMapping::block && !placement.row_cuts.empty()};
  if (bar.bounds) {
    bar.cuts.assign(placement.row_cuts.begin(), placement.row_cuts.end());
  } else {
    for (std::int32_t j = 0; j <= placement.row_shards; ++j) {
      bar.cuts.push_back(bar.whole * j / placement.row_shards);
    }
  }
  return bar;
}

CutBar columns_bar(const Table& table, const TablePlacement& placement, const Rect& rect) {
  CutBar bar{rect, {}, static_cast<double>(table.dim), false, true};
  bar.cuts.assign(placement.column_cuts.begin(), placement.column_cuts.end());
  return bar;
}

/// The inner cut under the mouse, from 1; 0: none.
int cut_at(const CutBar& bar, float x) {
  for (std::size_t c = 1; c + 1 < bar.cuts.size(); ++c) {
    if (std::abs(bar.x(bar.cuts[c]) - x) <= kReach) return static_cast<int>(c);
  }
  return 0;
}

std::int64_t bound_at(const CutBar& bar, float x) {
  const double value = bar.at(x);
  if (bar.rows) return std::llround(value);
  return std::llround(value / kColumnGranule) * kColumnGranule;
}

Result<Edit> moved_cut(const Document& document, std::int32_t table, bool rows, int index,
                       std::int64_t bound) {
  const TablePlacement& now = document.layout().tables[static_cast<std::size_t>(table)];
  const auto cut = static_cast<std::size_t>(index);
  auto placement = rows ? move_row_cut(now, cut, bound)
                        : move_column_cut(now, cut, static_cast<std::int32_t>(bound));
  if (!placement) return fail(placement.error());
  return Edit{table, std::move(*placement),
              fmt::format("Bound of {} at {} {}",
                          document.workload().tables[static_cast<std::size_t>(table)].name,
                          rows ? "row" : "column", grouped_text(bound)),
              0};
}

/// A further cut of the shard that lies there; the new part goes to the least loaded GPU.
Result<Edit> added_cut(const Document& document, std::int32_t table, const CutBar& bar,
                       std::int64_t bound) {
  const auto index = static_cast<std::size_t>(table);
  const TablePlacement& now = document.layout().tables[index];
  std::int32_t part = 0;
  for (std::size_t c = 1; c + 1 < bar.cuts.size(); ++c) {
    if (static_cast<double>(bound) >= bar.cuts[c]) part = static_cast<std::int32_t>(c);
  }
  const ShardId shard{table, bar.rows ? part : 0, bar.rows ? 0 : part};
  const std::int32_t owner = now.owner(shard.row, shard.column);
  const std::int32_t to = lightest_gpu(document.current(), false, owner);
  auto placement = bar.rows
                       ? split_rows_at(document.workload().tables[index], now, shard, bound, to)
                       : split_columns_at(document.workload().tables[index], now, shard,
                                          static_cast<std::int32_t>(bound), to);
  if (!placement) return fail(placement.error());
  return Edit{
      table, std::move(*placement),
      fmt::format("Cut {} at {} {}, the rest to {}", to_string(shard), bar.rows ? "row" : "column",
                  grouped_text(bound), gpu_title(document.topology(), to)),
      0};
}

void draw_bar(Ui& ui, const CutBar& bar, Color color, std::int32_t selected) {
  for (std::size_t c = 0; c + 1 < bar.cuts.size(); ++c) {
    const Rect part{bar.x(bar.cuts[c]), bar.rect.y0, bar.x(bar.cuts[c + 1]), bar.rect.y1};
    const bool on = static_cast<std::int32_t>(c) == selected;
    ui.draw.fill(part, on ? color : mix(color, ui.colors.pane, 0.55F));
    if (c > 0) {
      ui.draw.vertical(part.x0 - 1, bar.rect.y0 - 2, bar.rect.y1 + 2,
                       bar.bounds ? ui.colors.text : ui.colors.tertiary, 2);
    }
  }
}

void hand(Ui& ui, Desktop& desktop, std::int32_t table, const CutBar& bar) {
  TuneState& tune = desktop.tune;
  const std::string name = std::string("inspector/cuts/") + (bar.rows ? "rows" : "columns");
  const Touch touch = ui.region(name, bar.rect.inset(-2, -3));
  const std::int64_t bound = bound_at(bar, ui.in.mouse.x);
  if (touch.pressed && bar.bounds) {
    tune.dragged_cut = cut_at(bar, ui.in.mouse.x);
    tune.dragged_rows = bar.rows;
  }
  const bool mine = tune.dragged_cut > 0 && tune.dragged_rows == bar.rows;
  if (mine && (touch.held || touch.clicked)) {
    if (ImGui::IsKeyPressed(key::kEscape, false)) {
      tune.dragged_cut = 0;
      desktop.document->clear_preview();
      return;
    }
    const auto edit = moved_cut(*desktop.document, table, bar.rows, tune.dragged_cut, bound);
    if (edit) desktop.document->preview(*edit);
    ui.tooltip(edit ? edit->text : to_string(edit.error()));
    return;
  }
  if (mine) {
    tune.dragged_cut = 0;
    if (!desktop.document->previewing()) return;
    const std::string text = desktop.document->preview_text();
    Layout layout = *desktop.document->shown().layout;
    desktop.document->apply(std::move(layout), text);
    return;
  }
  if (touch.double_clicked) {
    desktop.apply(added_cut(*desktop.document, table, bar, bound));
    return;
  }
  if (!touch.hovered) return;
  ui.tooltip(!bar.bounds && bar.cuts.size() > 2 ? "modulo: equal classes of rows, no bounds to drag"
             : cut_at(bar, ui.in.mouse.x) > 0
                 ? "drag the bound"
                 : fmt::format("double-click cuts at {} {}", bar.rows ? "row" : "column",
                               grouped_text(bound)));
}

}  // namespace

void draw_cuts(Ui& ui, Desktop& desktop, std::int32_t table, const ShardId& shard,
               const Rect& area) {
  const auto index = static_cast<std::size_t>(table);
  // While a bound is dragged the bars show the state after it.
  const TablePlacement placement = desktop.document->shown().layout->tables[index];
  if (placement.cluster == ClusterType::DP) return;
  const Table& facts = desktop.document->workload().tables[index];
  const Color color = ui.colors.table_tone(placement.cluster, index);
  ui.draw.text(Font::small, area.x0 + kPadding, area.center_y(), ui.colors.tertiary, "Cuts");
  const float x = area.x0 + kBarLeft;
  const float width = area.x1 - kPadding - x;
  const CutBar rows = rows_bar(facts, placement, box(x, area.y0, width, kBarHeight));
  const CutBar columns =
      columns_bar(facts, placement, box(x, area.y1 - kBarHeight, width, kBarHeight));
  draw_bar(ui, rows, color, shard.row);
  draw_bar(ui, columns, color, shard.column);
  hand(ui, desktop, table, rows);
  hand(ui, desktop, table, columns);
}

}  // namespace shardscope::ui
