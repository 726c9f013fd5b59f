#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/draw/symbols.hpp"
#include "ui/model/numbers.hpp"
#include "ui/model/words.hpp"
#include "ui/panels/pane_tables.hpp"
#include "ui/panels/panels.hpp"
#include "ui/panels/scale_parts.hpp"
#include "ui/panels/tune_actions.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

constexpr std::array<std::string_view, 2> kMatrixViews = {"Map", "Matrix"};
constexpr std::array<std::string_view, 3> kValues = {"Cost", "Memory", "Bytes"};
constexpr std::array<std::string_view, 2> kShows = {"Current", "Proposed"};
constexpr float kMatrixLabels = 196;
constexpr float kRight = 90;
constexpr float kLeastGroup = 46;
constexpr float kMostRow = 9;
constexpr float kLoadsHeight = 230;

/// Columns of GPUs, with a gap between nodes.
struct MatrixColumns {
  float x0 = 0;
  float width = 1;
  float gap = 6;
  std::int32_t per_node = 8;
  std::int32_t gpus = 8;

  MatrixColumns(const Rect& area, const Topology& topology)
      : per_node(topology.gpus_per_host), gpus(topology.ranks()) {
    x0 = area.x0 + kMatrixLabels;
    const float room = area.x1 - kRight - x0;
    gap =
        topology.hosts > 1 ? std::min(8.0F, room * 0.15F / static_cast<float>(topology.hosts)) : 0;
    width = (room - gap * static_cast<float>(topology.hosts - 1)) / static_cast<float>(gpus);
  }
  [[nodiscard]] float x(std::int32_t gpu) const {
    return x0 + width * static_cast<float>(gpu) + gap * static_cast<float>(gpu / per_node);
  }
  [[nodiscard]] std::int32_t at(float mouse) const {
    for (std::int32_t gpu = 0; gpu < gpus; ++gpu) {
      if (mouse >= x(gpu) && mouse < x(gpu) + width) return gpu;
    }
    return -1;
  }
};

std::string value_words(int value, double amount) {
  if (value == 0) return short_ms_text(amount) + " ms";
  if (value == 1) return bytes_text(amount);
  return bytes_text(amount);
}

void draw_matrix_tools(Ui& ui, Desktop& desktop, const Rect& tools) {
  ScaleState& scale = desktop.scale;
  const float y = tools.y0 + 6;
  float x = tools.x0 + kPadding;
  ui.draw.text(Font::small, x, y + 11, ui.colors.tertiary, "Show");
  int show = scale.show;
  x = segmented(ui, "scale/show", x + 36, y, kShows, show) + 16;
  if (show == 0 || scale.proposed != nullptr) scale.show = show;
  field(ui, "scale/find", box(x, y, 190, kFieldHeight), scale.find,
        {.placeholder = "Find table …", .mono = false, .live = true});
  x += 210;
  if (tools.x1 - x < 260) return;
  ui.draw.text(Font::mono_small, x, y + 11, ui.colors.tertiary, "0");
  constexpr int kSteps = 60;
  for (int i = 0; i < kSteps; ++i) {
    ui.draw.fill(box(x + 14 + 2.5F * static_cast<float>(i), y + 7, 2.5F, 9),
                 ui.colors.heat_at(i / (kSteps - 1.0)));
  }
  ui.draw.text(Font::mono_small, x + 14 + 2.5F * kSteps + 8, y + 11, ui.colors.tertiary,
               value_words(scale.value, scale.matrix.largest()));
}

bool found(const Document& document, const MatrixGroup& group, const std::string& text) {
  if (text.empty()) return true;
  return std::any_of(group.rows.begin(), group.rows.end(), [&](const MatrixRow& row) {
    return document.workload().tables[static_cast<std::size_t>(row.table)].name.find(text) !=
           std::string::npos;
  });
}

void hover_cell(Ui& ui, Desktop& desktop, const MatrixGroup& group, const MatrixColumns& columns,
                const Rect& rect) {
  if (!ui.hovers(rect)) return;
  const std::int32_t gpu = columns.at(ui.in.mouse.x);
  const float share = (ui.in.mouse.y - rect.y0) / rect.height();
  const auto index =
      std::min(group.rows.size() - 1,
               static_cast<std::size_t>(share * static_cast<float>(group.rows.size())));
  const MatrixRow& row = group.rows[index];
  const Document& document = *desktop.document;
  const Table& table = document.workload().tables[static_cast<std::size_t>(row.table)];
  ui.draw.horizontal(rect.x0, rect.x1, ui.in.mouse.y, with_alpha(ui.colors.text, 60));
  std::string text = fmt::format(
      "{} {}\n{}", table.name, shardscope::to_string(group.cluster),
      placement_words(desktop.document->layout().tables[static_cast<std::size_t>(row.table)]));
  if (gpu >= 0) {
    text += fmt::format("\nhost {}, {}", document.topology().host_of(gpu),
                        gpu_title(document.topology(), gpu));
    for (const MatrixCell& cell : row.cells) {
      if (cell.gpu == gpu || cell.gpu < 0) {
        text += ": " + value_words(desktop.scale.value, cell.value);
      }
    }
  }
  if (desktop.scale.proposed != nullptr) {
    text += "\nproposed: " +
            placement_words(desktop.scale.proposed->tables[static_cast<std::size_t>(row.table)]);
  }
  ui.tooltip(text);
  if (ui.in.is_pressed(Button::left)) {
    select_table(desktop.tune, document, row.table);
    if (ui.in.double_click) desktop.choose(Workspace::tune);
  }
}

void draw_cells(Ui& ui, const MatrixGroup& group, const MatrixColumns& columns, const Rect& rect,
                double largest) {
  const auto lines =
      std::min(group.rows.size(), static_cast<std::size_t>(std::max(1.0F, rect.height())));
  const std::vector<float> values = fold_rows(group, lines, columns.gpus);
  const float height = rect.height() / static_cast<float>(lines);
  const float inset = height >= 5 ? 1.0F : 0.0F;
  const float cell = columns.width >= 4 ? columns.width - 1 : columns.width;
  for (std::size_t line = 0; line < lines; ++line) {
    const float y = rect.y0 + height * static_cast<float>(line);
    const float* row = values.data() + line * static_cast<std::size_t>(columns.gpus);
    for (std::int32_t gpu = 0; gpu < columns.gpus;) {
      if (row[gpu] <= 0) {
        ++gpu;
        continue;
      }
      // Neighbours of one value are one rectangle where no gap would show.
      std::int32_t end = gpu + 1;
      while (columns.width < 4 && end < columns.gpus && row[end] == row[gpu] &&
             end % columns.per_node != 0) {
        ++end;
      }
      const float x1 = columns.x(end - 1) + cell;
      ui.draw.fill({columns.x(gpu), y, x1, y + std::max(1.0F, height - inset)},
                   ui.colors.heat_at(largest > 0 ? row[gpu] / largest : 0));
      gpu = end;
    }
  }
}

float group_height(const MatrixGroup& group, bool folded) {
  if (folded) return kLeastGroup * 0.5F;
  const float all = kMostRow * static_cast<float>(group.rows.size());
  return std::clamp(all, kLeastGroup, 260.0F);
}

void draw_group(Ui& ui, Desktop& desktop, const MatrixGroup& group, const MatrixColumns& columns,
                const Rect& row) {
  ScaleState& scale = desktop.scale;
  const bool folded = scale.folded.contains(group.label);
  const Rect label{row.x0, row.y0, row.x0 + kMatrixLabels - 6, row.y1};
  if (ui.region("scale/group/" + std::string(to_string(group.cluster)) + group.label, label)
          .clicked) {
    if (folded) {
      scale.folded.erase(group.label);
    } else {
      scale.folded.insert(group.label);
    }
  }
  const float y = row.y0 + 10;
  if (folded) {
    draw_caret_right(ui.draw, {row.x0 + 16, y}, ui.colors.tertiary);
  } else {
    draw_caret_down(ui.draw, {row.x0 + 16, y}, ui.colors.tertiary);
  }
  cluster_chip(ui, row.x0 + 26, y, group.cluster);
  const std::size_t dot = group.label.find(" · ");
  ui.draw.text_fit(Font::body, row.x0 + 56, y, kMatrixLabels - 62, ui.colors.text,
                   group.label.substr(0, dot));
  if (!folded) {
    ui.draw.text_fit(Font::small, row.x0 + 56, y + 17, kMatrixLabels - 62, ui.colors.tertiary,
                     plural(static_cast<std::int64_t>(group.rows.size()), "table") +
                         (dot == std::string::npos ? "" : group.label.substr(dot)));
  }
  Rect cells{columns.x0, row.y0, columns.x(columns.gpus - 1) + columns.width, row.y1 - 4};
  for (std::int32_t gpu = 0; gpu < columns.gpus; gpu += columns.per_node) {
    const float x1 = columns.x(std::min(gpu + columns.per_node, columns.gpus) - 1) + columns.width;
    ui.draw.fill({columns.x(gpu), cells.y0, x1, cells.y1}, ui.colors.lane);
  }
  draw_cells(ui, group, columns, cells, scale.matrix.largest());
  ui.draw.text_right(Font::mono, row.x1 - 30, y, ui.colors.text, short_ms_text(group.cost_s));
  hover_cell(ui, desktop, group, columns, cells);
}

void draw_matrix_headers(Ui& ui, Desktop& desktop, const MatrixColumns& columns,
                         const Rect& header) {
  ui.draw.fill(header, ui.colors.header);
  const Document& document = *desktop.document;
  ui.draw.text(Font::small, header.x0 + kPadding, header.center_y(), ui.colors.secondary,
               fmt::format("{} tables × {} GPUs", document.workload().tables.size(), columns.gpus));
  const bool by_node = columns.width < 24;
  const std::int32_t step = by_node ? columns.per_node : 1;
  const std::int32_t critical = document.current().critical_rank;
  for (std::int32_t gpu = 0; gpu < columns.gpus; gpu += step) {
    const float x1 = columns.x(std::min(gpu + step, columns.gpus) - 1) + columns.width;
    const Rect rect{columns.x(gpu), header.y0, x1, header.y1};
    const bool here = critical >= gpu && critical < gpu + step;
    const Touch touch = ui.region(fmt::format("scale/column/{}", gpu), rect);
    if (touch.hovered || here) {
      ui.draw.fill({rect.x0, rect.y1 - 2, rect.x1, rect.y1},
                   here ? ui.colors.worse : ui.colors.accent);
    }
    if (rect.width() > 18) {
      ui.draw.text_center(
          Font::small, rect.center_x(), rect.center_y(),
          here ? ui.colors.worse : ui.colors.secondary,
          by_node ? fmt::format("h{}", gpu / columns.per_node) : fmt::format("G{}", gpu));
    }
    if (touch.clicked) {
      desktop.tune.map_scroll = 82.0F * static_cast<float>(gpu);
      desktop.choose(Workspace::tune);
    }
  }
  ui.draw.text_right(Font::small, header.x1 - 30, header.center_y(), ui.colors.tertiary, "ms");
}

void draw_loads(Ui& ui, Desktop& desktop, const MatrixColumns& columns, Rect area) {
  const ScaleState& scale = desktop.scale;
  const std::vector<double>& now = desktop.document->current().load_s;
  const bool proposal = scale.proposed_evaluation && !scale.proposed_evaluation->load_s.empty();
  const std::vector<double>& bars = proposal ? scale.proposed_evaluation->load_s : now;
  ui.draw.horizontal(area.x0, area.x1, area.y0, ui.colors.line);
  ui.draw.text(Font::strong, area.x0 + kPadding, area.y0 + 18, ui.colors.text,
               "Load of each GPU, ms");
  ui.draw.fill(box(area.x0 + kPadding, area.y0 + 34, 9, 9), ui.colors.accent);
  ui.draw.text(Font::small, area.x0 + kPadding + 15, area.y0 + 38, ui.colors.secondary,
               proposal ? "proposed" : "current");
  if (proposal) {
    ui.draw.frame(box(area.x0 + kPadding, area.y0 + 51, 9, 9), ui.colors.text);
    ui.draw.text(Font::small, area.x0 + kPadding + 15, area.y0 + 55, ui.colors.secondary,
                 "current");
  }
  double most = 1e-9, sum = 0, highest = 0;
  for (const std::vector<double>* list : {&now, &bars}) {
    for (const double load : *list) most = std::max(most, load);
  }
  for (const double load : bars) {
    sum += load;
    highest = std::max(highest, load);
  }
  const double step = nice_step(most * 1.05, 4);
  const double top = std::ceil(most * 1.05 / step) * step;
  const Rect plot{columns.x0, area.y0 + 32, columns.x(columns.gpus - 1) + columns.width,
                  area.y1 - 22};
  const auto y_of = [&](double load) {
    return plot.y1 - plot.height() * static_cast<float>(load / top);
  };
  for (double tick = 0; tick <= top * 1.0001; tick += step) {
    ui.draw.horizontal(plot.x0, plot.x1, y_of(tick), ui.colors.line);
    ui.draw.text_right(Font::mono_small, plot.x0 - 8, y_of(tick), ui.colors.tertiary,
                       axis_text(tick * 1e3, step * 1e3));
  }
  const float inset = columns.width >= 5 ? 1.0F : 0.0F;
  for (std::int32_t gpu = 0; gpu < columns.gpus; ++gpu) {
    const auto index = static_cast<std::size_t>(gpu);
    if (index >= bars.size() || index >= now.size()) break;
    const Rect column{columns.x(gpu), plot.y0, columns.x(gpu) + columns.width - inset, plot.y1};
    const bool worst = bars[index] >= highest * 0.9999;
    ui.draw.fill({column.x0, y_of(bars[index]), column.x1, plot.y1},
                 worst ? ui.colors.worse : ui.colors.accent);
    if (proposal) {
      ui.draw.frame({column.x0, y_of(now[index]), column.x1, plot.y1},
                    with_alpha(ui.colors.text, 150));
    }
    if (ui.hovers(column)) {
      ui.tooltip(fmt::format("{}\ncurrent {} ms{}", gpu_title(desktop.document->topology(), gpu),
                             ms_text(now[index]),
                             proposal ? "\nproposed " + ms_text(bars[index]) + " ms" : ""));
    }
  }
  const double mean = sum / static_cast<double>(std::max<std::size_t>(1, bars.size()));
  ui.draw.dashed_horizontal(plot.x0, plot.x1, y_of(mean), ui.colors.text, 2, 3);
  float mean_y = y_of(mean);
  if (mean_y - y_of(highest) < 14) mean_y = y_of(highest) + 14;
  ui.draw.text(Font::mono_small, plot.x1 + 8, y_of(highest), ui.colors.worse,
               fmt::format("max {}", short_ms_text(highest)));
  ui.draw.text(Font::mono_small, plot.x1 + 8, mean_y, ui.colors.text,
               fmt::format("mean {}", short_ms_text(mean)));
  ui.draw.text(Font::mono_small, plot.x0, area.y1 - 10, ui.colors.tertiary,
               gpu_title(desktop.document->topology(), 0));
  ui.draw.text_right(Font::mono_small, plot.x1, area.y1 - 10, ui.colors.tertiary,
                     gpu_title(desktop.document->topology(), columns.gpus - 1));
}

}  // namespace

void draw_scale(Ui& ui, Desktop& desktop, Rect area) {
  ScaleState& scale = desktop.scale;
  follow_plan(desktop);
  Rect right =
      area.take_right(area.width() > 1000 ? desktop.settings.planner_width : area.width() * 0.4F);
  gutter(ui, "scale/gutter/planner", area.take_right(1), true, -1, desktop.settings.planner_width,
         360, 800);
  draw_planner_pane(ui, desktop, right);
  ui.draw.fill(area, ui.colors.pane);
  ui.pane("Matrix", area, [&desktop] { return loads_table(desktop); });
  const Rect header = area.take_top(kHeaderHeight);
  const float values = segmented_width(ui, kValues);
  pane_header(ui, header, "Matrix",
              "rows are tables, columns are GPUs; colour = the value of the shard",
              values + segmented_width(ui, kMatrixViews) + 36);
  segmented(ui, "scale/value", header.x1 - values - 12, header.y0 + 3, kValues, scale.value);
  int view = 1;
  segmented(ui, "scale/view", header.x1 - values - 28 - segmented_width(ui, kMatrixViews),
            header.y0 + 3, kMatrixViews, view);
  if (view == 0) desktop.choose(Workspace::tune);
  const Rect tools = area.take_top(kToolHeight);
  ui.draw.clip(tools);
  draw_matrix_tools(ui, desktop, tools);
  ui.draw.unclip();
  const Rect loads = area.take_bottom(std::min(kLoadsHeight, area.height() * 0.35F));
  const MatrixColumns columns(area, desktop.document->topology());
  const bool proposed = scale.show == 1 && scale.proposed != nullptr;
  scale.matrix.update(*desktop.document,
                      proposed ? scale.proposed : desktop.document->current().layout,
                      static_cast<MatrixValue>(scale.value));
  draw_matrix_headers(ui, desktop, columns, area.take_top(22));
  float content = 8;
  for (const MatrixGroup& group : scale.matrix.groups()) {
    if (found(*desktop.document, group, scale.find)) {
      content += group_height(group, scale.folded.contains(group.label)) + 6;
    }
  }
  scroll(ui, "scale/scroll", area, content, scale.scroll);
  ui.draw.clip(area);
  float y = area.y0 + 4 - scale.scroll;
  for (const MatrixGroup& group : scale.matrix.groups()) {
    if (!found(*desktop.document, group, scale.find)) continue;
    const float height = group_height(group, scale.folded.contains(group.label));
    const Rect row{area.x0, y, area.x1, y + height};
    if (row.y1 > area.y0 && row.y0 < area.y1) draw_group(ui, desktop, group, columns, row);
    y += height + 6;
  }
  ui.draw.unclip();
  draw_loads(ui, desktop, columns, loads);
}

}  // namespace shardscope::ui
