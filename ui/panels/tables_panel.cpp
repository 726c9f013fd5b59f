#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/draw/symbols.hpp"
#include "ui/model/numbers.hpp"
#include "ui/panels/panels.hpp"
#include "ui/panels/titles.hpp"
#include "ui/panels/tune_actions.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

/// Right edges of the columns; the name takes what is left.
struct TableColumns {
  float name, rows, hot, uniq, gib, cost, shards;
  float cost_left;

  explicit TableColumns(const Rect& area) {
    const float end = area.x1 - kPadding;
    shards = end;
    cost = end - 76;
    cost_left = cost - 52;
    gib = cost - 58;
    uniq = gib - 46;
    hot = uniq - 44;
    rows = hot - 36;
    name = area.x0 + kPadding;
  }
};

void draw_headers(Ui& ui, TuneState& tune, const TableColumns& at, float y) {
  struct Header {
    TableColumn column;
    const char* label;
    float x0, x1;
    Align align;
  };
  const Header headers[] = {
      {TableColumn::table, "table", at.name, at.rows - 60, Align::left},
      {TableColumn::rows, "rows", at.rows - 50, at.rows, Align::right},
      {TableColumn::hot, "hot", at.hot - 30, at.hot, Align::right},
      {TableColumn::uniq, "uniq", at.uniq - 36, at.uniq, Align::right},
      {TableColumn::gib, "GiB", at.gib - 36, at.gib, Align::right},
      {TableColumn::cost, "cost ms", at.cost - 52, at.cost + 6, Align::right},
      {TableColumn::shards, "shards", at.shards - 50, at.shards, Align::right}};
  for (const Header& header : headers) {
    const bool sorted = tune.sort.column == header.column;
    if (column_header(ui, std::string("tables/sort/") + header.label, header.x0, header.x1, y,
                      header.label, header.align, sorted, tune.sort.descending)) {
      tune.sort.descending = sorted ? !tune.sort.descending : header.column != TableColumn::table;
      tune.sort.column = header.column;
    }
  }
}

struct GroupWords {
  const char* name;
  const char* what;
};

GroupWords group_words(ClusterType cluster) {
  switch (cluster) {
    case ClusterType::DP:
      return {"data-parallel", "replicated on every GPU"};
    case ClusterType::RB:
      return {"reduction-based", "partial sums travel"};
    case ClusterType::UB:
      return {"unique-based", "unique rows travel"};
  }
  return {"", ""};
}

void draw_heading(Ui& ui, TuneState& tune, ClusterType cluster, const Rect& row,
                  const TableColumns& at) {
  const std::string name = std::string("tables/group/") + to_string(cluster);
  const Touch touch = ui.region(name, row);
  bool& closed = tune.closed[static_cast<std::size_t>(cluster)];
  if (touch.clicked) closed = !closed;
  ui.draw.fill(row, ui.colors.header);
  const float y = row.center_y();
  if (closed) {
    draw_caret_right(ui.draw, {row.x0 + 16, y}, ui.colors.tertiary);
  } else {
    draw_caret_down(ui.draw, {row.x0 + 16, y}, ui.colors.tertiary);
  }
  cluster_chip(ui, row.x0 + 26, y, cluster);
  const GroupWords words = group_words(cluster);
  const TableGroup& group = tune.list.group(cluster);
  ui.draw.text(Font::strong, row.x0 + 56, y, ui.colors.text, words.name);
  const float x = row.x0 + 66 + ui.draw.width(Font::strong, words.name);
  ui.draw.text_fit(Font::small, x, y, at.cost - 40 - x, ui.colors.tertiary, words.what);
  ui.draw.text_right(Font::mono_strong, at.cost, y, ui.colors.text, short_ms_text(group.cost_s));
  ui.draw.text_right(Font::small, at.shards, y, ui.colors.tertiary, plural(group.tables, "table"));
}

std::string uniq_text(double share) {
  const double percent = share * 100;
  if (percent < 0.05) return "<.1%";
  return fmt::format("{:.{}f}%", percent, percent < 9.95 ? 1 : 0);
}

void draw_table_row(Ui& ui, Desktop& desktop, const TableRow& table, const Rect& row,
                    const TableColumns& at, const std::vector<TableLine>& lines) {
  TuneState& tune = desktop.tune;
  const Touch touch = ui.region("tables/row/" + table.name, row);
  const bool selected =
      tune.tables.contains(table.table) || (tune.tables.empty() && tune.table == table.table);
  if (selected) {
    ui.draw.fill(row, ui.colors.selection);
    ui.draw.fill({row.x0, row.y0, row.x0 + 3, row.y1}, ui.colors.accent);
  } else if (touch.hovered) {
    ui.draw.fill(row, ui.colors.control);
  }
  if (touch.hovered) tune.hovered_table = table.table;
  if (touch.pressed && (ui.in.ctrl || ui.in.shift)) {
    select_more_tables(tune, table.table, ui.in.shift, lines);
  } else if (touch.pressed) {
    select_table(tune, *desktop.document, table.table);
    tune.drag = {.kind = MapDrag::Kind::table, .shard = {table.table, 0, 0}, .start = ui.in.mouse};
  }
  const float y = row.center_y();
  const Color dim = ui.colors.secondary;
  // Square root: the small ones stay visible.
  const double largest = tune.list.largest_cost_s();
  const float bar = largest > 0 ? 56 * static_cast<float>(std::sqrt(table.cost_s / largest)) : 0;
  ui.draw.fill({at.cost + 4 - bar, row.y0 + 1, at.cost + 4, row.y1 - 1},
               with_alpha(ui.colors.cluster(table.cluster), 80));
  ui.draw.text_fit(selected ? Font::strong : Font::body, at.name, y, at.rows - 52 - at.name,
                   ui.colors.text, table.name);
  if (touch.hovered && ui.draw.width(Font::body, table.name) > at.rows - 52 - at.name) {
    ui.tooltip(table.name);
  }
  ui.draw.text_right(Font::mono, at.rows, y, ui.colors.text, count_text(table.rows));
  ui.draw.text_right(Font::mono, at.hot, y, ui.colors.text,
                     count_text(std::round(table.hot * 10) / 10));
  ui.draw.text_right(Font::mono, at.uniq, y, dim, uniq_text(table.uniq));
  ui.draw.text_right(Font::mono, at.gib, y, dim, gib_text(table.bytes));
  ui.draw.text_right(Font::mono, at.cost, y, ui.colors.text, short_ms_text(table.cost_s));
  ui.draw.text_right(Font::mono, at.shards, y, dim, table.where);
}

void draw_filter(Ui& ui, TuneState& tune, Rect tools) {
  constexpr std::array<std::string_view, 2> kGroupings = {"By cluster", "Flat"};
  const float width = segmented_width(ui, kGroupings);
  const Rect text = {tools.x0 + kPadding, tools.y0 + 8, tools.x1 - kPadding - width - 8,
                     tools.y0 + 8 + kFieldHeight};
  Rect limited = text;
  limited.x1 = std::min(limited.x1, limited.x0 + 216);
  if (field(ui, "tables/filter", limited, tune.filter_text,
            {.placeholder = "Filter: name, rows>1M, RB …", .mono = false, .live = true})) {
    Result<TableFilter> parsed = TableFilter::parse(tune.filter_text);
    tune.filter_error = parsed ? std::string() : to_string(parsed.error());
    if (parsed) tune.filter = std::move(*parsed);
  }
  if (!tune.filter_error.empty()) {
    ui.draw.frame(limited, ui.colors.warning, 2);
    if (ui.hovers(limited)) ui.tooltip(tune.filter_error);
  }
  segmented(ui, "tables/grouping", limited.x1 + 8, text.y0, kGroupings, tune.grouping);
}

/// Drop of a dragged row on another group's lines changes its cluster.
void drop_on_group(Ui& ui, Desktop& desktop, const Rect& list, ClusterType cluster,
                   const Rect& row) {
  TuneState& tune = desktop.tune;
  if (tune.drag.kind != MapDrag::Kind::table || !tune.drag.active()) return;
  const std::int32_t table = tune.drag.shard.table;
  if (!row.contains(ui.in.mouse) || !list.contains(ui.in.mouse)) return;
  if (desktop.document->layout().tables[static_cast<std::size_t>(table)].cluster == cluster) return;
  const Result<Edit> edit = edit_cluster(*desktop.document, table, cluster,
                                         lightest_gpu(desktop.document->current(), false, -1));
  if (!edit) {
    tune.drag.refusal = to_string(edit.error());
    return;
  }
  ui.draw.frame(row, ui.colors.accent);
  tune.drag.target = -2;
  desktop.document->preview(*edit);
}

}  // namespace

void draw_tables_panel(Ui& ui, Desktop& desktop, Rect area) {
  TuneState& tune = desktop.tune;
  ui.draw.fill(area, ui.colors.pane);
  ui.pane("Tables", area, [&desktop] { return desktop.tune.list.text(); });
  pane_header(ui, area.take_top(kHeaderHeight), "Tables",
              tables_sentence(desktop.document->workload()));
  draw_filter(ui, tune, area.take_top(kToolHeight + 4));
  const TableColumns at(area);
  const Rect header = area.take_top(22);
  ui.draw.fill(header, ui.colors.header);
  draw_headers(ui, tune, at, header.center_y());
  Rect plot = area.take_bottom(area.height() > 360 ? 104.0F : 0.0F);
  draw_reuse_plot(ui, desktop, plot);

  const auto& lines = tune.list.lines(tune.sort, tune.filter, tune.grouping == 0, tune.closed);
  float content = 0;
  for (const TableLine& line : lines) content += line.heading ? kGroupHeight : kRowHeight;
  ui.name("tables/list", area);
  scroll(ui, "tables/scroll", area, content, tune.tables_scroll);
  ui.draw.clip(area);
  float y = area.y0 - tune.tables_scroll;
  for (const TableLine& line : lines) {
    const float height = line.heading ? kGroupHeight : kRowHeight;
    const Rect row = box(area.x0, y, area.width(), height);
    y += height;
    if (row.y1 <= area.y0 || row.y0 >= area.y1) continue;
    if (line.heading) {
      draw_heading(ui, tune, line.cluster, row, at);
    } else {
      draw_table_row(ui, desktop, tune.list.rows()[line.row], row, at, lines);
    }
    drop_on_group(ui, desktop, area, line.cluster, row);
  }
  ui.draw.unclip();
  if (lines.empty()) {
    ui.draw.text_center(Font::body, area.center_x(), area.y0 + 30, ui.colors.tertiary,
                        "No table matches the filter.");
  }
}

}  // namespace shardscope::ui
