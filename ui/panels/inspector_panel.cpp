#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "layout/names.hpp"
#include "planner/table_facts.hpp"
#include "ui/model/numbers.hpp"
#include "ui/model/words.hpp"
#include "ui/panels/inspector_parts.hpp"
#include "ui/panels/panels.hpp"
#include "ui/panels/titles.hpp"
#include "ui/panels/tune_actions.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

constexpr float kFieldsAt = 96;
constexpr float kFieldPitch = 26;

/// What the inspector looks at: the shown layout's placement, previews included.
struct Inspected {
  std::int32_t table;
  ShardId shard;
  const Table& facts;
  const TablePlacement& placement;
  bool has_shard;
};

void label(Ui& ui, const Rect& area, float y, std::string_view text) {
  ui.draw.text(Font::small, area.x0 + kPadding, y, ui.colors.tertiary, text);
}

std::string selected_owner(const TablePlacement& placement, const ShardId& shard) {
  return fmt::format("{}", placement.owner(shard.row, shard.column));
}

void edit_line(Ui& ui, Desktop& desktop, const Inspected& it, const Rect& area, float y) {
  TuneState& tune = desktop.tune;
  label(ui, area, y, "Edit as text");
  std::string text = shard_text(it.facts, it.placement, it.shard);
  const Rect rect{area.x0 + kFieldsAt, y - 11, area.x1 - kPadding, y + 11};
  if (!field(ui, "inspector/text", rect, text, {.enabled = it.has_shard})) return;
  const auto index = static_cast<std::size_t>(it.table);
  auto changed = apply_shard_text(it.facts, desktop.document->layout().tables[index], it.shard,
                                  text, desktop.document->topology().ranks());
  if (!changed) {
    desktop.tell(NoticeKind::warning, to_string(changed.error()));
    return;
  }
  tune.shard_line.clear();
  desktop.document->apply(Edit{it.table, std::move(*changed), "Edit " + to_string(it.shard), 0});
}

void read_only(Ui& ui, std::string_view name, const Rect& rect, const std::string& value) {
  std::string text = value;
  field(ui, name, rect, text, {.align_right = true, .enabled = false});
}

/// An upper bound: typing another one cuts the shard there.
void bound_field(Ui& ui, Desktop& desktop, const Inspected& it, std::string_view name,
                 const Rect& rect, std::int64_t value, bool rows) {
  std::string text = grouped_text(value);
  if (!field(ui, name, rect, text, {.align_right = true, .enabled = it.has_shard})) return;
  std::erase(text, ',');
  std::int64_t bound = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bound);
  if (error != std::errc() || end != text.data() + text.size()) {
    desktop.tell(NoticeKind::warning, "A bound is a whole number: " + text);
    return;
  }
  const Document& document = *desktop.document;
  const std::int32_t owner = it.placement.owner(it.shard.row, it.shard.column);
  const std::int32_t to = lightest_gpu(document.current(), false, owner);
  const TablePlacement& placement = document.layout().tables[static_cast<std::size_t>(it.table)];
  Result<TablePlacement> cut =
      rows
          ? split_rows_at(it.facts, placement, it.shard, bound, to)
          : split_columns_at(it.facts, placement, it.shard,
                             static_cast<std::int32_t>(std::min<std::int64_t>(bound, 1 << 30)), to);
  if (!cut) {
    desktop.tell(NoticeKind::warning, to_string(cut.error()));
    return;
  }
  desktop.document->apply(
      Edit{it.table, std::move(*cut),
           fmt::format("Cut {} at {} {}", to_string(it.shard), rows ? "row" : "column", bound), 0});
}

void owner_field(Ui& ui, Desktop& desktop, const Inspected& it, const Rect& rect) {
  const Document& document = *desktop.document;
  const std::string_view word = gpu_word(document.topology());
  std::string text = fmt::format("{} {}", word, selected_owner(it.placement, it.shard));
  const std::string before = text;
  if (!field(ui, "inspector/owner", rect, text, {.align_right = true, .accent = true})) return;
  const std::size_t digits = text.find_first_of("0123456789");
  const int gpu = digits == std::string::npos ? -1 : std::atoi(text.c_str() + digits);
  if (gpu < 0 || gpu >= document.topology().ranks()) {
    desktop.tell(NoticeKind::warning, fmt::format("There is no {}: {} 0 to {}.", text, word,
                                                  document.topology().ranks() - 1));
    return;
  }
  desktop.apply(edit_move(document, it.shard, gpu));
}

void fields(Ui& ui, Desktop& desktop, const Inspected& it, const Rect& area, float y) {
  const float x = area.x0 + kFieldsAt;
  const float room = area.x1 - kPadding - x;
  const float third = std::min(60.0F, (room - 90) / 3);
  label(ui, area, y, "i  j  k");
  const std::array<std::int32_t, 3> tuple = {it.shard.table, it.shard.row, it.shard.column};
  for (std::size_t n = 0; n < 3; ++n) {
    const float left = x + static_cast<float>(n) * (third + 6);
    read_only(ui, fmt::format("inspector/ijk{}", n), box(left, y - 11, third, 22),
              fmt::format("{}", tuple[n]));
  }
  ui.draw.text(Font::small, x + 3 * third + 24, y, ui.colors.tertiary,
               fmt::format("{} × {} cuts", it.placement.row_shards, it.placement.column_shards()));
  const float half = std::min(92.0F, (room - 110) / 2);
  const auto range = [&](const char* name, std::int64_t begin, std::int64_t end, bool rows) {
    y += kFieldPitch;
    label(ui, area, y, name);
    const std::string id = std::string("inspector/") + (rows ? "rows" : "columns");
    read_only(ui, id + "/from", box(x, y - 11, half, 22), grouped_text(begin));
    ui.draw.text(Font::small, x + half + 6, y, ui.colors.tertiary, "to");
    bound_field(ui, desktop, it, id + "/to", box(x + half + 22, y - 11, half, 22), end, rows);
    ui.draw.text_fit(Font::small, x + 2 * half + 32, y, area.x1 - 8 - (x + 2 * half + 32),
                     ui.colors.tertiary,
                     rows ? shardscope::to_string(it.placement.mapping)
                          : fmt::format("granule {}", kColumnGranule));
  };
  const RowRange rows = row_range(it.facts, it.placement, it.shard.row);
  range("Rows", rows.begin, rows.end, true);
  const std::int32_t begin = it.placement.column_begin(it.shard.column);
  range("Columns", begin, begin + it.placement.width(it.shard.column), false);
  y += kFieldPitch;
  label(ui, area, y, "Owner");
  owner_field(ui, desktop, it, box(x, y - 11, half, 22));
  if (desktop.document->previewing() && desktop.tune.drag.from >= 0) {
    ui.draw.text(Font::small, x + half + 8, y, ui.colors.secondary,
                 "was " + gpu_title(desktop.document->topology(), desktop.tune.drag.from));
  }
  bool pinned = desktop.document->pinned(it.shard);
  if (check_box(ui, "inspector/pinned", {area.x1 - 74, y - 7}, pinned)) {
    desktop.document->pin(it.shard, pinned);
  }
  ui.draw.text(Font::small, area.x1 - 55, y, ui.colors.secondary, "pinned");
}

void buttons(Ui& ui, Desktop& desktop, const Rect& area, float y) {
  struct Action {
    const char* label;
    const char* title;
  };
  constexpr std::array<Action, 5> kActions = {{{"Split rows", "Split rows"},
                                               {"Split columns", "Split columns"},
                                               {"Merge", "Merge the table's shards"},
                                               {"To UB", "Table to UB"},
                                               {"Replicate", "Table to DP (replicate)"}}};
  std::vector<Command> commands;
  add_tune_commands(commands, desktop, ui.memory());
  float total = 0;
  for (const Action& action : kActions) total += ui.draw.width(Font::strong, action.label) + 16;
  const float gap = std::max(2.0F, (area.width() - 2 * kPadding - total) / 4);
  float x = area.x0 + kPadding;
  for (const Action& action : kActions) {
    const float width = ui.draw.width(Font::strong, action.label) + 16;
    const auto command = std::find_if(commands.begin(), commands.end(),
                                      [&](const Command& c) { return c.title == action.title; });
    const bool clicked =
        button(ui, std::string("inspector/") + action.label, box(x, y - 11, width, 22),
               action.label, {.enabled = command->enabled, .tooltip = command->keys});
    x += width + gap;
    if (clicked) {
      command->run();
      return;
    }
  }
}

}  // namespace

void draw_inspector_panel(Ui& ui, Desktop& desktop, Rect area) {
  ui.draw.fill(area, ui.colors.pane);
  ui.pane("Inspector", area);
  const TuneState& tune = desktop.tune;
  const Document& document = *desktop.document;
  Rect rest = area;
  const Rect header = rest.take_top(kHeaderHeight);
  const auto tables = static_cast<std::int32_t>(document.workload().tables.size());
  if (tune.table < 0 || tune.table >= tables) {
    pane_header(ui, header, "Inspector", "");
    ui.draw.text_center(Font::body, area.center_x(), header.y1 + 40, ui.colors.tertiary,
                        "Select a shard in the map or a table in the list.");
    return;
  }
  if (tune.tables.size() > 1) {
    draw_inspector_many(ui, desktop, area);
    return;
  }
  const auto index = static_cast<std::size_t>(tune.table);
  // While dragging, the shard's new owner shows.
  const TablePlacement& placement = document.shown().layout->tables[index];
  ShardId shard = tune.shard.value_or(ShardId{tune.table, 0, 0});
  const bool inside = placement.cluster != ClusterType::DP && shard.table == tune.table &&
                      shard.row < placement.row_shards && shard.column < placement.column_shards();
  if (!inside) shard = {tune.table, 0, 0};
  const bool has_shard = placement.cluster != ClusterType::DP;
  const Inspected it{tune.table, shard, document.workload().tables[index], placement, has_shard};
  pane_header(ui, header, "Inspector",
              tune.selection.size() > 1 ? fmt::format("{} shards selected", tune.selection.size())
              : has_shard               ? "shard of " + it.facts.name
                                        : it.facts.name + ", on every GPU");
  ui.draw.clip(rest);
  float y = rest.y0 + 20;
  cluster_chip(ui, rest.x0 + kPadding, y, placement.cluster);
  ui.draw.text(Font::title, rest.x0 + 46, y, ui.colors.text, it.facts.name);
  const float x = rest.x0 + 62 + ui.draw.width(Font::title, it.facts.name);
  ui.draw.text_fit(
      Font::small, x, y, rest.x1 - x - kPadding, ui.colors.tertiary,
      fmt::format("{} rows × {}, {}, {}", grouped_text(it.facts.rows), it.facts.dim,
                  shardscope::to_string(it.facts.dtype), optimizer_title(it.facts.optimizer)));
  y += 29;
  edit_line(ui, desktop, it, rest, y);
  y += 30;
  if (has_shard) {
    fields(ui, desktop, it, rest, y);
  } else {
    label(ui, rest, y, "Replicated: no shards, no owner. Gradients are all-reduced.");
  }
  y += 3 * kFieldPitch + 18;
  if (has_shard) draw_cuts(ui, desktop, tune.table, shard, {rest.x0, y, rest.x1, y + 24});
  y += 38;
  buttons(ui, desktop, rest, y);
  y += 18;
  ui.draw.horizontal(rest.x0, rest.x1, y, ui.colors.line);
  constexpr std::array<std::string_view, 2> kViews = {"Cost", "Exchange and codecs"};
  segmented(ui, "inspector/view", rest.x0 + kPadding, y + 6, kViews, desktop.tune.inspector);
  y += 30;
  if (desktop.tune.inspector == 1) {
    draw_exchange(ui, desktop, {tune.table}, rest, y + 20);
  } else {
    draw_shard_cost(ui, desktop, shard, has_shard, {rest.x0, y, rest.x1, y + 92});
    y += 98;
    draw_alternatives(ui, desktop, tune.table, {rest.x0, y, rest.x1, rest.y1});
  }
  ui.draw.unclip();
}

}  // namespace shardscope::ui
