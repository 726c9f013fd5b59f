#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "ui/draw/symbols.hpp"
#include "ui/model/numbers.hpp"
#include "ui/model/words.hpp"
#include "ui/panels/map_rows.hpp"
#include "ui/panels/tune_actions.hpp"

namespace shardscope::ui {
namespace {

constexpr float kMovesAfter = 4;  ///< pixels; less is a click

const MapLine* line_at(const std::vector<MapLine>& lines, const Rect& rows, Point mouse) {
  if (!rows.contains(mouse)) return nullptr;
  for (const MapLine& line : lines) {
    if (!line.heading && mouse.y >= line.y && mouse.y < line.y + line.height) return &line;
  }
  return nullptr;
}

/// A shard of the same table under the mouse, to merge with: where it stood before the drag.
std::optional<ShardId> sibling_at(Desktop& desktop, const MapScale& scale, const MapLine& line,
                                  Point mouse) {
  const Rect lane = scale.lane(line);
  if (!lane.contains(mouse)) return std::nullopt;
  MapModel& before = desktop.tune.map_before;
  before.update(desktop.document->current().layout, static_cast<MapWidth>(desktop.tune.width));
  double at = 0;
  for (const MapBlock& block : before.gpu(*desktop.document, line.rank).blocks) {
    const float x0 = scale.x_of(at);
    at += block.value;
    if (mouse.x >= x0 && mouse.x < scale.x_of(at) && block.shard != desktop.tune.drag.shard &&
        block.shard.table == desktop.tune.drag.shard.table && block.cluster != ClusterType::DP) {
      return block.shard;
    }
  }
  return std::nullopt;
}

void read_digits(MapDrag& drag) {
  for (int digit = 0; digit < 10; ++digit) {
    if (ImGui::IsKeyPressed('0' + digit, false) && drag.digits.size() < 12) {
      drag.digits += static_cast<char>('0' + digit);
    }
  }
  if (ImGui::IsKeyPressed(key::kBackspace) && !drag.digits.empty()) drag.digits.pop_back();
}

void update_target(Ui& ui, Desktop& desktop, const MapScale& scale,
                   const std::vector<MapLine>& lines) {
  MapDrag& drag = desktop.tune.drag;
  const MapLine* line = line_at(lines, scale.rows, ui.in.mouse);
  if (line == nullptr) {
    if (drag.target != -2) {
      drag.target = -1;
      desktop.document->clear_preview();
    }
    return;
  }
  drag.target = line->rank;
  std::optional<ShardId> sibling;
  if (!ui.in.alt && drag.kind == MapDrag::Kind::shard) {
    sibling = sibling_at(desktop, scale, *line, ui.in.mouse);
  }
  const bool home = drag.kind == MapDrag::Kind::shard && line->rank == drag.from && !ui.in.alt &&
                    !ui.in.shift && !sibling;
  if (home) {
    drag.refusal.clear();
    desktop.document->clear_preview();
    return;
  }
  const Result<Edit> edit =
      dragged_edit(*desktop.document, drag, line->rank, ui.in.shift,
                   ui.in.alt || !drag.digits.empty(), sibling ? &*sibling : nullptr);
  if (!edit) {
    drag.refusal = to_string(edit.error());
    desktop.document->clear_preview();
    return;
  }
  drag.refusal.clear();
  desktop.document->preview(*edit);
}

void drop(Desktop& desktop) {
  Document& document = *desktop.document;
  MapDrag& drag = desktop.tune.drag;
  if (document.previewing()) {
    const bool worse = document.shown().errors > document.current().errors;
    if (desktop.settings.strict && worse) {
      desktop.tell(NoticeKind::warning,
                   document.preview_text() + " would break a rule; Strict refuses it.");
      document.clear_preview();
    } else {
      const std::string text = document.preview_text();
      Layout layout = *document.shown().layout;
      document.apply(std::move(layout), text);
    }
  } else if (!drag.refusal.empty()) {
    desktop.tell(NoticeKind::warning, drag.refusal);
  }
  drag = {};
}

void draw_carried(Ui& ui, const Desktop& desktop, const MapScale& scale) {
  const MapDrag& drag = desktop.tune.drag;
  const Document& document = *desktop.document;
  const auto table = static_cast<std::size_t>(drag.shard.table);
  const TablePlacement& placement = document.layout().tables[table];
  const float width = drag.kind == MapDrag::Kind::shard ? std::max(72.0F, drag.width) : 120;
  const float height = std::min(35.0F, std::max(18.0F, scale.pitch * 0.44F));
  const Point grab{std::min(drag.grab.x, width - 8), std::min(drag.grab.y, height - 4)};
  const Rect rect = box(ui.in.mouse.x - grab.x, ui.in.mouse.y - grab.y, width, height);
  const Color fill = ui.colors.table_tone(placement.cluster, table);
  ui.draw.fill(rect.moved(3, 3), with_alpha(0xff000000, 90));
  ui.draw.fill(rect, fill);
  ui.draw.frame(rect, ui.colors.text, 0, 2);
  ui.draw.text_fit(Font::strong, rect.x0 + 8, rect.y0 + 12, width - 14, text_on(fill),
                   document.workload().tables[table].name);
  if (height >= 30) {
    ui.draw.text_fit(Font::mono_small, rect.x0 + 8, rect.y0 + 27, width - 14, text_on(fill),
                     drag.kind == MapDrag::Kind::shard ? to_string(drag.shard) : "whole table");
  }
}

}  // namespace

Result<Edit> dragged_edit(const Document& document, const MapDrag& drag, std::int32_t target,
                          bool replicate, bool split, const ShardId* sibling) {
  if (replicate) return edit_cluster(document, drag.shard.table, ClusterType::DP, target);
  const auto table = static_cast<std::size_t>(drag.shard.table);
  if (drag.kind == MapDrag::Kind::table) {
    if (document.layout().tables[table].cluster == ClusterType::DP) {
      return edit_cluster(document, drag.shard.table, ClusterType::RB, target);
    }
    return edit_merge_all(document, drag.shard.table, target);
  }
  if (sibling != nullptr) return edit_merge(document, *sibling, drag.shard);
  if (!split) return edit_move(document, drag.shard, target);
  if (drag.digits.empty()) return edit_split_rows(document, drag.shard, 2, target);
  // Typed digits are a row bound.
  auto cut = split_rows_at(document.workload().tables[table], document.layout().tables[table],
                           drag.shard, std::stoll(drag.digits), target);
  if (!cut) return fail(cut.error());
  return Edit{drag.shard.table, std::move(*cut),
              fmt::format("Split {} at row {}, the rest to {}", to_string(drag.shard), drag.digits,
                          gpu_title(document.topology(), target)),
              shard_bytes(document.workload(), document.layout(), drag.shard) / 2};
}

void draw_drag_badge(Ui& ui, const Document& document, const Point& at, const Rect& bounds,
                     double moved_bytes, const std::string& words) {
  const Evaluation& before = document.current();
  const Evaluation& after = document.shown();
  const double change = after.iteration_s - before.iteration_s;
  const bool better = change < 0;
  const bool priced = before.priced && after.priced;
  const Color color = !priced       ? ui.colors.error
                      : change == 0 ? ui.colors.secondary
                      : better      ? ui.colors.good
                                    : ui.colors.worse;
  const std::string second =
      priced ? fmt::format("{} → {} ms · {} → {}", ms_text(before.iteration_s),
                           ms_text(after.iteration_s), rate_text(before.samples_per_s).value,
                           rate_text(after.samples_per_s).value + " " +
                               rate_text(after.samples_per_s).unit.substr(0, 1) + "/s")
             : std::string(after.violations.empty() ? "" : after.violations.front().message);
  const std::string_view word = gpu_word(document.topology());
  const std::string third =
      before.critical_rank == after.critical_rank
          ? fmt::format("critical {} {} · moves {}", word, after.critical_rank,
                        bytes_text(moved_bytes))
          : fmt::format("critical {} {} → {} · moves {}", word, before.critical_rank,
                        after.critical_rank, bytes_text(moved_bytes));
  const float width = std::min(420.0F, std::max({ui.draw.width(Font::mono_small, second),
                                                 ui.draw.width(Font::mono_small, third),
                                                 ui.draw.width(Font::body, words), 200.0F}) +
                                           24);
  const float height = 64;
  const float x = std::clamp(at.x, bounds.x0 + 4, std::max(bounds.x0 + 4, bounds.x1 - width - 4));
  const float y = at.y + height > bounds.y1 ? at.y - height - 60 : at.y;
  const Rect rect = box(x, y, width, height);
  ui.draw.fill(rect, ui.colors.callout, 3);
  ui.draw.frame(rect, color, 3);
  const float line = rect.y0 + 16;
  if (priced) {
    if (better) draw_caret_down(ui.draw, {rect.x0 + 17, line}, color, 9);
    if (!better && change != 0) draw_caret_up(ui.draw, {rect.x0 + 17, line}, color, 9);
    ui.draw.text(Font::mono_strong, rect.x0 + 28, line, color, signed_ms_text(change) + " ms");
    ui.draw.text_right(
        Font::mono, rect.x1 - 12, line, color,
        signed_percent_text(before.iteration_s > 0 ? change / before.iteration_s : 0));
  } else {
    draw_cross(ui.draw, {rect.x0 + 17, line}, color);
    ui.draw.text_fit(Font::strong, rect.x0 + 28, line, width - 40, color, words);
  }
  ui.draw.text_fit(Font::mono_small, rect.x0 + 12, rect.y0 + 36, width - 20, ui.colors.secondary,
                   second);
  if (priced) {
    ui.draw.text_fit(Font::mono_small, rect.x0 + 12, rect.y0 + 52, width - 20, ui.colors.secondary,
                     third);
  }
}

void follow_drag(Ui& ui, Desktop& desktop, const MapScale& scale, const std::vector<MapLine>& lines,
                 const Rect& pane) {
  TuneState& tune = desktop.tune;
  MapDrag& drag = tune.drag;
  if (drag.kind == MapDrag::Kind::none) return;
  if (ImGui::IsKeyPressed(key::kEscape, false)) {
    drag = {};
    desktop.document->clear_preview();
    return;
  }
  if (!ui.in.is_down(Button::left)) {
    if (drag.active()) {
      drop(desktop);
    } else {
      drag = {};
    }
    return;
  }
  const float dx = ui.in.mouse.x - drag.start.x, dy = ui.in.mouse.y - drag.start.y;
  if (dx * dx + dy * dy > kMovesAfter * kMovesAfter) drag.moving = true;
  if (!drag.active()) return;
  read_digits(drag);
  if (drag.target != -2) update_target(ui, desktop, scale, lines);
  if (drag.target == -2) drag.target = -1;
  draw_carried(ui, desktop, scale);
  const Point below{ui.in.mouse.x - 80, ui.in.mouse.y + 26};
  if (!drag.refusal.empty()) {
    ui.tooltip(drag.refusal);
  } else if (desktop.document->previewing()) {
    const double moved =
        drag.kind == MapDrag::Kind::shard
            ? shard_bytes(desktop.document->workload(), desktop.document->layout(), drag.shard)
            : table_bytes(
                  desktop.document->workload().tables[static_cast<std::size_t>(drag.shard.table)]);
    draw_drag_badge(ui, *desktop.document, below, pane, moved, desktop.document->preview_text());
  }
}

}  // namespace shardscope::ui
