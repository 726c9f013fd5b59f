#include "ui/panels/inspector_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "planner/table_facts.hpp"
#include "ui/model/numbers.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {

void draw_shard_cost(Ui& ui, const Desktop& desktop, const ShardId& shard, bool has_shard,
                     const Rect& area) {
  const Document& document = *desktop.document;
  const Layout& layout = *document.shown().layout;
  const auto table = static_cast<std::size_t>(shard.table);
  const StageSeconds stages =
      has_shard ? document.costs().of(layout, shard) : document.costs().replicated(table);
  const TableFacts& facts = document.costs().facts(table);
  const double bytes = has_shard ? shard_bytes(document.workload(), layout, shard)
                                 : table_bytes(document.workload().tables[table]);
  float y = area.y0 + 14;
  ui.draw.text(Font::strong, area.x0 + kPadding, y, ui.colors.text,
               fmt::format("Cost {} ms", ms_text(load_seconds(stages))));
  ui.draw.text_right(Font::small, area.x1 - kPadding, y, ui.colors.secondary,
                     fmt::format("{} keys · {} unique · {} GiB", count_text(facts.batch_keys),
                                 count_text(facts.batch_unique), gib_text(bytes)));
  double sum = 0;
  for (const double seconds : stages) sum += seconds;
  const Rect bar{area.x0 + kPadding, y + 12, area.x1 - kPadding, y + 26};
  ui.draw.fill(bar, ui.colors.lane);
  float x = bar.x0;
  int shown = 0;
  const float column = (area.width() - 2 * kPadding + 8) / 2;
  for (std::size_t s = 0; s < stages.size() && sum > 0; ++s) {
    if (stages[s] <= 0) continue;
    const float width = bar.width() * static_cast<float>(stages[s] / sum);
    const Color color = ui.colors.stages[s];
    ui.draw.fill({x, bar.y0, std::max(x + width - 1, x + 1), bar.y1}, color);
    x += width;
    const float left = bar.x0 + column * static_cast<float>(shown % 2);
    const float row = bar.y1 + 16 + 17 * static_cast<float>(shown / 2);
    ui.draw.fill(box(left, row - 4, 9, 9), color);
    ui.draw.text_fit(Font::small, left + 15, row, column - 70, ui.colors.secondary,
                     shardscope::to_string(static_cast<Stage>(s)));
    ui.draw.text_right(Font::mono_small, left + column - 16, row, ui.colors.text,
                       ms_text(stages[s]));
    ++shown;
  }
}

void draw_alternatives(Ui& ui, Desktop& desktop, std::int32_t table, const Rect& area) {
  if (area.height() < 60) return;
  TuneState& tune = desktop.tune;
  Document& document = *desktop.document;
  // A preview shows the state after the drop; these compare with the state before it.
  if (document.previewing()) return;
  const auto& all = tune.alternatives.of(document, table);
  ui.draw.horizontal(area.x0, area.x1, area.y0, ui.colors.line);
  const float column = (area.width() - 2 * kPadding - 56) / 3;
  const std::array<std::string_view, 4> rows = {"iteration", "memory", "sent", "load"};
  for (std::size_t r = 0; r < rows.size(); ++r) {
    ui.draw.text(Font::small, area.x0 + kPadding, area.y0 + 33 + 15 * static_cast<float>(r),
                 ui.colors.tertiary, rows[r]);
  }
  for (std::size_t c = 0; c < all.size(); ++c) {
    const Alternative& one = all[c];
    const auto cluster = static_cast<ClusterType>(c);
    const Rect rect =
        box(area.x0 + kPadding + 56 + column * static_cast<float>(c), area.y0 + 4, column - 4, 84);
    const Touch touch = ui.region(std::string("inspector/as/") + to_string(cluster), rect);
    if (one.current) ui.draw.fill(rect, ui.colors.selection, 2);
    if (touch.hovered && one.edit) ui.draw.fill(rect, ui.colors.control, 2);
    if (touch.hovered) ui.tooltip(one.why_not.empty() ? one.formula : one.why_not);
    cluster_chip(ui, rect.x0 + 4, rect.y0 + 12, cluster);
    if (!one.allowed) {
      ui.draw.text_fit(Font::small, rect.x0 + 6, rect.y0 + 30, rect.width() - 8, ui.colors.tertiary,
                       "not possible");
      continue;
    }
    const double change = one.iteration_s - document.current().iteration_s;
    ui.draw.text_right(Font::small, rect.x1 - 5, rect.y0 + 12, ui.colors.tertiary,
                       one.current ? "now" : "");
    const Color color = one.current || std::abs(change) < 5e-7 ? ui.colors.secondary
                        : change < 0                           ? ui.colors.good
                                                               : ui.colors.worse;
    const std::array<std::string, 4> values = {
        one.current ? ms_text(one.iteration_s) : signed_ms_text(change),
        gib_text(one.memory_bytes) + " GiB", bytes_text(one.wire_bytes),
        short_ms_text(one.load_s) + " ms"};
    for (std::size_t r = 0; r < values.size(); ++r) {
      ui.draw.text_right(Font::mono_small, rect.x1 - 5, rect.y0 + 29 + 15 * static_cast<float>(r),
                         r == 0 ? color : ui.colors.text, values[r]);
    }
    if (touch.clicked && one.edit) {
      const Edit edit = *one.edit;
      document.apply(edit);
      return;
    }
  }
}

}  // namespace shardscope::ui
