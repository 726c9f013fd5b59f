#include <fmt/format.h>

#include <array>
#include <cmath>

#include "planner/table_facts.hpp"
#include "ui/model/numbers.hpp"
#include "ui/panels/panels.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

std::string law_text(const Workload& workload, std::int32_t table) {
  for (const Feature& feature : workload.features) {
    if (feature.table != table) continue;
    switch (feature.ids.kind) {
      case IdDistributionKind::zipf:
        return fmt::format("Zipf α {:g}", feature.ids.alpha);
      case IdDistributionKind::uniform:
        return "uniform";
      case IdDistributionKind::heavy_hitters:
        return "heavy hitters";
      case IdDistributionKind::reuse_histogram:
        return "reuse histogram";
      case IdDistributionKind::recorded:
        return "recorded";
    }
  }
  return {};
}

}  // namespace

void draw_reuse_plot(Ui& ui, const Desktop& desktop, const Rect& area) {
  if (area.empty()) return;
  ui.draw.horizontal(area.x0, area.x1, area.y0, ui.colors.line);
  const std::int32_t table = desktop.tune.table;
  if (table < 0) {
    ui.draw.text_center(Font::small, area.center_x(), area.center_y(), ui.colors.tertiary,
                        "Select a table to see how its ids repeat.");
    return;
  }
  const auto index = static_cast<std::size_t>(table);
  const Document& document = *desktop.document;
  const TableFacts& facts = document.costs().facts(index);
  ui.draw.text(Font::small, area.x0 + kPadding, area.y0 + 14, ui.colors.secondary,
               document.workload().tables[index].name + " · share of ids by the hottest rows");
  ui.draw.text_right(Font::small, area.x1 - kPadding, area.y0 + 14, ui.colors.tertiary,
                     law_text(document.workload(), table));
  const Rect plot = {area.x0 + kPadding, area.y0 + 26, area.x1 - kPadding, area.y1 - 12};
  ui.draw.fill(plot, ui.colors.lane);
  // Rows on a logarithmic axis from 1 to all, the share of ids they take upwards.
  constexpr std::size_t kPoints = 64;
  std::array<Point, kPoints> upper;
  std::array<Point, kPoints> lower;
  const double decades = std::log(std::max(2.0, facts.rows));
  const auto x_of = [&](double rows) {
    return plot.x0 + plot.width() * static_cast<float>(std::log(std::max(1.0, rows)) / decades);
  };
  for (std::size_t i = 0; i < kPoints; ++i) {
    const double rows = std::exp(decades * static_cast<double>(i) / (kPoints - 1));
    upper[i] = {x_of(rows),
                plot.y1 - (plot.height() - 4) * static_cast<float>(facts.top_mass(rows))};
    lower[i] = {upper[i].x, plot.y1};
  }
  const Color color = ui.colors.cluster(document.shown().layout->tables[index].cluster);
  ui.draw.band(upper.data(), lower.data(), kPoints, with_alpha(color, 70));
  ui.draw.polyline(upper.data(), kPoints, color, 1.5F);
  const float unique = x_of(facts.batch_unique);
  ui.draw.dotted_vertical(unique, plot.y0, plot.y1, ui.colors.secondary);
  const std::string words = fmt::format("{} unique of {} keys", count_text(facts.batch_unique),
                                        count_text(facts.batch_keys));
  const float width = ui.draw.width(Font::small, words);
  const float at = unique + 6 + width < plot.x1 ? unique + 6 : unique - 6 - width;
  ui.draw.text(Font::small, at, plot.y1 - 10, ui.colors.secondary, words);
}

}  // namespace shardscope::ui
