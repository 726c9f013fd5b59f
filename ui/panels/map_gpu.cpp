#include <fmt/format.h>

#include <algorithm>

#include "ui/draw/symbols.hpp"
#include "ui/model/numbers.hpp"
#include "ui/model/words.hpp"
#include "ui/panels/map_rows.hpp"
#include "ui/panels/tune_actions.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

constexpr float kNameWidth = 64;   ///< of a block that shows its name
constexpr float kCostWidth = 150;  ///< and its cost
constexpr float kLeastName = 24;   ///< narrower ones show none, even if it fits
constexpr float kFoldWidth = 12;
constexpr float kFewestText = 22;

Color block_color(const Ui& ui, const TuneState& tune, const MapBlock& block) {
  const auto table = static_cast<std::size_t>(block.shard.table);
  if (tune.colour == 1) {
    // By table: every table its own hue among the stages' colours, letters stay on the chip.
    const Color base = ui.colors.stages[table % ui.colors.stages.size()];
    return tone(base, table / ui.colors.stages.size() % 2 == 0 ? 0.0F : -0.2F);
  }
  return block.count > 1 ? ui.colors.cluster(block.cluster)
                         : ui.colors.table_tone(block.cluster, table);
}

void draw_fold(Ui& ui, const MapBlock& block, const Rect& rect) {
  const Color color = ui.colors.cluster(block.cluster);
  const bool hollow = block.cluster == ClusterType::DP;
  const Color fill = hollow ? mix(ui.colors.pane, color, 0.24F) : color;
  ui.draw.fill(rect, fill);
  if (hollow) ui.draw.frame(rect, color);
  if (block.cluster == ClusterType::UB) {
    ui.draw.fill({rect.x0, rect.y1 - 3, rect.x1, rect.y1}, tone(color, -0.4F));
  }
  if (rect.height() < 26 || rect.width() < 20) return;
  const Color text = hollow ? ui.colors.text : text_on(fill);
  ui.draw.text_center(Font::strong, rect.center_x(), rect.y0 + rect.height() * 0.33F, text,
                      to_string(block.cluster));
  ui.draw.text_center(Font::mono_small, rect.center_x(), rect.y0 + rect.height() * 0.74F, text,
                      fmt::format("{}", block.count));
}

std::string value_text(int width, double value) {
  switch (static_cast<MapWidth>(width)) {
    case MapWidth::time:
      return short_ms_text(value);
    case MapWidth::memory:
      return bytes_text(value);
    case MapWidth::bytes:
      return bytes_text(value);
    case MapWidth::rows:
      return count_text(value);
  }
  return {};
}

void draw_shard(Ui& ui, const Desktop& desktop, const MapBlock& block, const Rect& rect) {
  const TuneState& tune = desktop.tune;
  const Color fill = block_color(ui, tune, block);
  ui.draw.fill(rect, fill);
  if (block.cluster == ClusterType::UB) {
    ui.draw.fill({rect.x0, rect.y1 - 3, rect.x1, rect.y1}, tone(fill, -0.4F));
  }
  const float width = rect.width();
  const std::string& name =
      desktop.document->workload().tables[static_cast<std::size_t>(block.shard.table)].name;
  const bool fits =
      width > kNameWidth || (width > kLeastName && ui.draw.width(Font::strong, name) + 8 <= width);
  if (fits && rect.height() >= kFewestText - 4) {
    const Color text = text_on(fill);
    const bool two = rect.height() >= 32;
    const float y = two ? rect.y0 + 11 : rect.center_y();
    const std::string cost = value_text(tune.width, block.value);
    const float cost_room = width > kCostWidth ? ui.draw.width(Font::mono_small, cost) + 12 : 0;
    const float left = rect.x0 + (width > kNameWidth ? 6.0F : 4.0F);
    ui.draw.text_fit(Font::strong, left, y, rect.x1 - left - 2 - cost_room, text, name);
    if (cost_room > 0) ui.draw.text_right(Font::mono_small, rect.x1 - 7, y, text, cost);
    const std::string tuple = to_string(block.shard);
    if (two && ui.draw.width(Font::mono_small, tuple) + 8 <= width) {
      ui.draw.text(Font::mono_small, left, rect.y0 + 25, mix(text, fill, 0.12F), tuple);
    }
    if (desktop.document->pinned(block.shard)) {
      ui.draw.circle({rect.x1 - 8, rect.y1 - 8}, 3, text);
    }
  }
}

std::string block_tooltip(const Document& document, const MapBlock& block) {
  if (block.count > 1 || block.cluster == ClusterType::DP) {
    return fmt::format(
        "{} {} of {}: {} ms, {}\nToo narrow to draw one by one; zoom with "
        "Ctrl+wheel.",
        block.count, block.cluster == ClusterType::DP ? "tables" : "shards",
        shardscope::to_string(block.cluster), short_ms_text(block.value),
        bytes_text(block.memory_bytes));
  }
  const StageSeconds stages = document.costs().of(*document.shown().layout, block.shard);
  std::string text = fmt::format(
      "{} {}  load {} ms, {}",
      document.workload().tables[static_cast<std::size_t>(block.shard.table)].name,
      to_string(block.shard), ms_text(load_seconds(stages)), bytes_text(block.memory_bytes));
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (stages[s] <= 0) continue;
    const auto stage = static_cast<Stage>(s);
    text += fmt::format("\n{}  {} ms{}", shardscope::to_string(stage), ms_text(stages[s]),
                        stage == Stage::index_calculation ? ", 35 % counted" : "");
  }
  return text;
}

void touch_block(Ui& ui, Desktop& desktop, const MapBlock& block, const Rect& rect,
                 std::int32_t rank) {
  TuneState& tune = desktop.tune;
  const bool single = block.count == 1 && block.cluster != ClusterType::DP;
  if (ui.names != nullptr && single) {
    ui.name(
        fmt::format("map/shard/{},{},{}", block.shard.table, block.shard.row, block.shard.column),
        rect);
  }
  if (!ui.hovers(rect) || tune.drag.active()) return;
  tune.hovered_table = block.shard.table;
  if (ui.memory().held == 0 || ui.in.is_pressed(Button::left)) {
    ui.tooltip(block_tooltip(*desktop.document, block));
  }
  if (!single) return;
  if (ui.in.is_pressed(Button::left)) {
    select_shard(tune, block.shard, ui.in.ctrl);
    tune.drag = {.kind = MapDrag::Kind::shard,
                 .shard = block.shard,
                 .from = rank,
                 .grab = {ui.in.mouse.x - rect.x0, ui.in.mouse.y - rect.y0},
                 .start = ui.in.mouse,
                 .width = rect.width()};
  }
  if (ui.in.is_pressed(Button::right)) {
    select_shard(tune, block.shard, false);
    desktop.menu = Menu{ui.in.mouse, shard_menu(desktop, block.shard)};
  }
}

void draw_load_lane(Ui& ui, Desktop& desktop, const MapScale& scale, const MapLine& line) {
  TuneState& tune = desktop.tune;
  const Document& document = *desktop.document;
  const Rect lane = scale.lane(line);
  ui.draw.fill(lane, ui.colors.lane);
  const GpuBlocks& gpu = tune.map.gpu(document, line.rank);
  const double per_pixel = scale.top / (scale.lane_x1 - scale.lane_x0);
  const float least = line.height >= kFewestText ? kFoldWidth : 3;
  double at = 0;
  for (const MapBlock& block : fold_narrow_blocks(gpu.blocks, least * per_pixel)) {
    const float x0 = scale.x_of(at);
    at += block.value;
    const float x1 = std::min(scale.x_of(at), lane.x1);
    if (x0 >= lane.x1) break;
    Rect rect{x0, lane.y0, std::max(x1 - 1, x0 + 1), lane.y1};
    const bool several = block.count > 1 || block.cluster == ClusterType::DP;
    const bool dragged = tune.drag.active() && tune.drag.kind == MapDrag::Kind::shard &&
                         block.count == 1 && block.shard == tune.drag.shard;
    if (dragged) {
      ui.draw.fill(rect, with_alpha(ui.colors.cluster(block.cluster), 60));
      ui.draw.dashed_frame(rect, ui.colors.text);
      continue;
    }
    if (several) {
      draw_fold(ui, block, rect);
    } else {
      draw_shard(ui, desktop, block, rect);
    }
    touch_block(ui, desktop, block, rect, line.rank);
    if (several) continue;
    if (tune.selection.contains(block.shard)) {
      ui.draw.frame(rect, ui.colors.text, 0, 2);
    } else if (tune.hovered_table == block.shard.table || tune.table == block.shard.table) {
      ui.draw.frame(rect, with_alpha(ui.colors.text, 170));
    }
  }
}

/// Where the dragged shard stood, on the row it came from.
void draw_origin(Ui& ui, const Desktop& desktop, const MapScale& scale, const MapLine& line) {
  const MapDrag& drag = desktop.tune.drag;
  const Document& document = *desktop.document;
  if (!drag.active() || drag.from != line.rank || !document.previewing()) return;
  const auto rank = static_cast<std::size_t>(line.rank);
  if (document.shown().load_s.empty() || document.current().load_s.empty()) return;
  const double now = document.shown().load_s[rank];
  const double before = document.current().load_s[rank];
  if (before <= now) return;
  const Rect lane = scale.lane(line);
  const Rect gone{scale.x_of(now) + 1, lane.y0, std::min(scale.x_of(before), lane.x1), lane.y1};
  ui.draw.dashed_frame(gone, ui.colors.strong_line);
  if (gone.width() < kNameWidth) return;
  const Table& table = document.workload().tables[static_cast<std::size_t>(drag.shard.table)];
  ui.draw.text_fit(Font::small, gone.x0 + 6, gone.y0 + 11, gone.width() - 10, ui.colors.tertiary,
                   table.name);
  if (gone.height() < 32) return;
  ui.draw.text_fit(Font::small, gone.x0 + 6, gone.y0 + 25, gone.width() - 10, ui.colors.tertiary,
                   "was here");
}

void draw_memory_lane(Ui& ui, Desktop& desktop, const MapScale& scale, const MapLine& line) {
  const Rect lane = scale.memory_lane(line);
  const Document& document = *desktop.document;
  const Evaluation& shown = document.shown();
  const auto rank = static_cast<std::size_t>(line.rank);
  if (lane.empty() || rank >= shown.memory_bytes.size()) return;
  ui.draw.fill(lane, ui.colors.lane);
  double at = 0;
  const auto piece = [&](double bytes, Color color, const std::string& label) {
    const float x0 = scale.memory_x(at);
    at += bytes;
    const Rect rect{x0, lane.y0, std::max(scale.memory_x(at) - 1, x0), lane.y1};
    if (rect.empty()) return;
    ui.draw.fill(rect, color);
    if (!label.empty() && rect.width() > kNameWidth && lane.height() >= 10) {
      ui.draw.text_fit(Font::small, rect.x0 + 6, rect.center_y(), rect.width() - 8, text_on(color),
                       label);
    }
  };
  piece(shown.dense_bytes[rank], ui.colors.idle, "");
  piece(shown.buffer_bytes[rank], ui.colors.strong_line, "");
  std::vector<MapBlock> blocks = desktop.tune.map.gpu(document, line.rank).blocks;
  std::stable_sort(blocks.begin(), blocks.end(), [](const MapBlock& a, const MapBlock& b) {
    return a.memory_bytes > b.memory_bytes;
  });
  for (const MapBlock& block : blocks) {
    if (block.cluster == ClusterType::DP) {
      piece(block.memory_bytes, ui.colors.cluster(block.cluster), "");
      continue;
    }
    const Table& table = document.workload().tables[static_cast<std::size_t>(block.shard.table)];
    piece(block.memory_bytes,
          ui.colors.table_tone(block.cluster, static_cast<std::size_t>(block.shard.table)),
          fmt::format("{} {}", table.name, bytes_text(block.memory_bytes)));
  }
  const double used = shown.memory_bytes[rank];
  const float limit = scale.memory_x(shown.memory_limit);
  if (used > shown.memory_limit) {
    const Rect over{limit, lane.y0 - 1, scale.memory_x(used), lane.y1 + 1};
    ui.draw.fill(over, with_alpha(ui.colors.error, 70));
    ui.draw.hatch(over, ui.colors.error);
    ui.draw.frame(over, ui.colors.error);
  }
  ui.draw.vertical(limit, lane.y0 - 2, lane.y1 + 5, ui.colors.error, 2);
}

void draw_reference_mark(Ui& ui, const Document& document, const MapScale& scale,
                         const MapLine& line) {
  const auto rank = static_cast<std::size_t>(line.rank);
  const std::vector<double>& loads = document.reference().load_s;
  if (rank >= loads.size() || document.reference().layout == document.shown().layout) return;
  const float x = scale.x_of(loads[rank]);
  if (x >= scale.lane_x1) return;
  const Rect lane = scale.lane(line);
  ui.draw.dotted_vertical(x, lane.y0, lane.y1, ui.colors.secondary);
  draw_caret_down(ui.draw, {x + 0.5F, lane.y0 - 3}, ui.colors.secondary, 7);
}

void draw_labels(Ui& ui, const Desktop& desktop, const MapScale& scale, const MapLine& line,
                 float left, float right) {
  const Document& document = *desktop.document;
  const Evaluation& shown = document.shown();
  const auto rank = static_cast<std::size_t>(line.rank);
  const Rect lane = scale.lane(line);
  const bool critical = shown.priced && shown.critical_rank == line.rank;
  const bool two = line.height >= 44;
  const float y = two ? lane.y0 + 9 : lane.center_y();
  ui.draw.text_fit(two ? Font::title : Font::body, left + 16, y, scale.lane_x0 - left - 20,
                   critical && !two ? ui.colors.worse : ui.colors.text,
                   gpu_title(document.topology(), line.rank));
  if (critical)
    ui.draw.fill({left + 4, lane.y0 - 2, left + 7, line.y + line.height - 4}, ui.colors.worse);
  const MapDrag& drag = desktop.tune.drag;
  if (two) {
    if (drag.active() && drag.target == line.rank) {
      ui.draw.text(Font::small, left + 16, y + 17, ui.colors.accent, "drop here");
    } else if (critical) {
      ui.draw.text(Font::small, left + 16, y + 17, ui.colors.worse, "critical");
    } else if (document.previewing() && document.current().critical_rank == line.rank) {
      ui.draw.text(Font::small, left + 16, y + 17, ui.colors.tertiary, "was critical");
    }
  }
  if (!shown.priced || rank >= shown.load_s.size()) return;
  const float x = scale.lane_x1 + 60;
  ui.draw.text_right(Font::mono_strong, x, y + (two ? 2.0F : 0.0F),
                     critical ? ui.colors.worse : ui.colors.text,
                     column_ms_text(shown.load_s[rank], shown.max_load_s));
  ui.draw.text(Font::small, x + 6, y + (two ? 2.0F : 0.0F), ui.colors.tertiary, "ms");
  const double change =
      document.previewing() ? shown.load_s[rank] - document.current().load_s[rank] : 0;
  if (two && std::abs(change) > shown.max_load_s * 5e-4) {
    const std::string words =
        (change < 0 ? "−" : "+") + column_ms_text(std::abs(change), shown.max_load_s);
    const Color color = change < 0 ? ui.colors.good : ui.colors.worse;
    // Below the load; beside it in low rows.
    if (line.height >= 70) {
      ui.draw.text_right(Font::mono_small, x, y + 19, color, words);
    } else {
      ui.draw.text_fit(Font::mono_small, x + 25, y + 2, right - x - 25, color, words);
    }
  }
  const Rect memory = scale.memory_lane(line);
  if (memory.empty()) return;
  const bool over = shown.memory_bytes[rank] > shown.memory_limit;
  const Color color = over ? ui.colors.error : ui.colors.secondary;
  ui.draw.text_right(Font::mono, x, memory.center_y(), color, gib_text(shown.memory_bytes[rank]));
  ui.draw.text_fit(Font::small, x + 6, memory.center_y(), right - x - 10,
                   over ? ui.colors.error : ui.colors.tertiary,
                   fmt::format("/ {} GiB", gib_text(shown.memory_limit)));
}

/// What is wrong on this GPU, with the cure as a button.
void draw_cure(Ui& ui, Desktop& desktop, const MapScale& scale, const MapLine& line) {
  const Rect memory = scale.memory_lane(line);
  if (memory.empty()) return;
  const Evaluation& shown = desktop.document->shown();
  const auto broken = std::find_if(
      shown.violations.begin(), shown.violations.end(),
      [&](const Violation& v) { return v.rank == line.rank && v.severity == Severity::error; });
  if (broken == shown.violations.end()) return;
  const Rect bar{scale.lane_x0, memory.y1 + 4, scale.lane_x1, memory.y1 + 22};
  if (bar.y1 > line.y + line.height + 2) return;
  ui.draw.fill(bar, ui.colors.error_fill, 2);
  ui.draw.frame(bar, ui.colors.error, 2);
  draw_cross(ui.draw, {bar.x0 + 11, bar.center_y()}, ui.colors.error, 7);
  const auto& best = desktop.tune.suggestions.best();
  const bool cure = !desktop.document->previewing() && !best.empty() && best.front().cures;
  float room = bar.width() - 30;
  if (cure) {
    const Suggestion& first = best.front();
    const float width =
        std::min(bar.width() * 0.48F, ui.draw.width(Font::strong, first.edit.text) + 20);
    const Rect rect{bar.x1 - width, bar.y0 + 1, bar.x1 - 1, bar.y1 - 1};
    room -= width;
    if (ui.region(fmt::format("map/cure/{}", line.rank), rect).clicked) {
      const Edit edit = first.edit;
      desktop.document->apply(edit);
      return;
    }
    ui.draw.fill(rect, ui.colors.accent, 2);
    ui.draw.text_fit(Font::strong, rect.x0 + 10, rect.center_y(), rect.width() - 16,
                     ui.colors.on_accent, first.edit.text);
  }
  ui.draw.text_fit(Font::small, bar.x0 + 24, bar.center_y(), room, ui.colors.text, broken->message);
  if (ui.hovers(bar)) ui.tooltip(broken->message + "\n" + broken->cure);
}

}  // namespace

void draw_gpu_row(Ui& ui, Desktop& desktop, const MapScale& scale, const MapLine& line) {
  const Rect pane = scale.rows;
  const MapDrag& drag = desktop.tune.drag;
  if (drag.active() && drag.target == line.rank) {
    ui.draw.fill({pane.x0, line.y, pane.x1, line.y + line.height},
                 mix(ui.colors.pane, ui.colors.selection, 0.7F));
  }
  draw_load_lane(ui, desktop, scale, line);
  if (line.height >= 6) {
    draw_origin(ui, desktop, scale, line);
    draw_memory_lane(ui, desktop, scale, line);
    if (desktop.tune.width == 0) draw_reference_mark(ui, *desktop.document, scale, line);
  }
  if (line.height >= 14) draw_labels(ui, desktop, scale, line, pane.x0, pane.x1);
  draw_cure(ui, desktop, scale, line);
  if (line.height >= 44) {
    ui.draw.horizontal(pane.x0, pane.x1, line.y + line.height - 1, ui.colors.line);
  }
}

}  // namespace shardscope::ui
