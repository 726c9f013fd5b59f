#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/draw/symbols.hpp"
#include "ui/model/numbers.hpp"
#include "ui/model/words.hpp"
#include "ui/panels/map_rows.hpp"
#include "ui/panels/pane_tables.hpp"
#include "ui/panels/panels.hpp"
#include "ui/panels/titles.hpp"
#include "ui/panels/tune_actions.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

constexpr std::array<std::string_view, 2> kViews = {"Map", "Matrix"};
constexpr std::array<std::string_view, 4> kWidths = {"Time", "Memory", "Bytes", "Rows"};
constexpr std::array<std::string_view, 2> kColours = {"Cluster", "Table"};
constexpr float kLabelWidth = 86;
constexpr float kFigureWidth = 126;
constexpr float kLargestPitch = 82;
constexpr float kSmallestPitch = 3;

void draw_tools(Ui& ui, Desktop& desktop, const Rect& tools) {
  TuneState& tune = desktop.tune;
  const float y = tools.y0 + 6;
  const float middle = y + 11;
  float x = tools.x0 + 12;
  ui.draw.text(Font::small, x, middle, ui.colors.tertiary, "Width");
  x = segmented(ui, "map/width", x + 38, y, kWidths, tune.width) + 18;
  if (tools.x1 - x < 200) return;
  ui.draw.text(Font::small, x, middle, ui.colors.tertiary, "Colour");
  x = segmented(ui, "map/colour", x + 44, y, kColours, tune.colour) + 20;
  if (tools.x1 - x > 240) {
    for (const ClusterType cluster : {ClusterType::RB, ClusterType::UB, ClusterType::DP}) {
      x += cluster_chip(ui, x, middle, cluster) + 10;
    }
    ui.draw.text(Font::small, x + 4, middle, ui.colors.tertiary, "tone = table");
    x += 74;
  }
  const History& history = desktop.document->history();
  const std::string words = "Reference marks ★ " + layout_title(history, history.reference());
  if (ui.draw.width(Font::small, words) < tools.x1 - 12 - x) {
    ui.draw.text_right(Font::small, tools.x1 - 12, middle, ui.colors.secondary, words);
  }
}

std::string axis_title(int width) {
  constexpr std::array kTitles = {"ms / iteration", "memory", "sent / iteration", "rows"};
  return kTitles[static_cast<std::size_t>(width)];
}

std::string tick_text(int width, double value, double step) {
  switch (static_cast<MapWidth>(width)) {
    case MapWidth::time:
      return axis_text(value * 1e3, step * 1e3);
    case MapWidth::memory:
      return bytes_text(value);
    case MapWidth::bytes:
      return bytes_text(value);
    case MapWidth::rows:
      return count_text(value);
  }
  return {};
}

MapScale scale_of(Desktop& desktop, const Rect& rows) {
  TuneState& tune = desktop.tune;
  const Document& document = *desktop.document;
  MapScale scale;
  scale.rows = rows;
  scale.lane_x0 = rows.x0 + kLabelWidth;
  scale.lane_x1 = rows.x1 - kFigureWidth;
  double top = tune.map.largest(document);
  if (tune.width == 0) {
    // One scale for before and after: nothing jumps while dragging.
    for (const Evaluation* one : {&document.current(), &document.reference()}) {
      top = std::max(top, one->max_load_s);
    }
  }
  if (!(top > 0)) top = 1;
  scale.step = nice_step(top * 1.02 / tune.zoom, 5);
  scale.top = std::ceil(top * 1.02 / tune.zoom / scale.step) * scale.step;
  double most = document.shown().memory_limit * 1.47;
  for (const double bytes : document.shown().memory_bytes) most = std::max(most, bytes * 1.03);
  scale.memory_top = std::max(1.0, most);
  return scale;
}

void draw_axis(Ui& ui, const Desktop& desktop, const MapScale& scale, const Rect& axis,
               float bottom) {
  ui.draw.fill(axis, ui.colors.header);
  ui.draw.text(Font::small, axis.x0 + 12, axis.center_y(), ui.colors.tertiary,
               axis_title(desktop.tune.width));
  for (double value = scale.step; value <= scale.top * 1.0001; value += scale.step) {
    const float x = scale.x_of(value);
    ui.draw.text_center(Font::mono_small, x, axis.center_y(), ui.colors.tertiary,
                        tick_text(desktop.tune.width, value, scale.step));
    ui.draw.vertical(x, scale.rows.y0, bottom, ui.colors.line);
  }
}

std::string node_sentence(const Document& document, std::int32_t node) {
  const Topology& topology = document.topology();
  const Evaluation& shown = document.shown();
  double sum = 0, most = 0;
  for (std::int32_t g = 0; g < topology.gpus_per_host; ++g) {
    const auto rank = static_cast<std::size_t>(node * topology.gpus_per_host + g);
    if (rank >= shown.load_s.size()) continue;
    sum += shown.load_s[rank];
    most = std::max(most, shown.load_s[rank]);
  }
  const double mean = sum / topology.gpus_per_host;
  const double rate = topology.intra.large_bytes_per_s();
  return fmt::format("{} · {} {:.0f} GB/s effective · mean load {} ms · max / mean {:.2f}",
                     plural(topology.gpus_per_host, std::string(gpu_word(topology))),
                     intra_title(topology), rate / 1e9, short_ms_text(mean),
                     mean > 0 ? most / mean : 1);
}

void draw_node(Ui& ui, Desktop& desktop, const MapScale& scale, const MapLine& line) {
  TuneState& tune = desktop.tune;
  const Rect row{scale.rows.x0, line.y, scale.rows.x1, line.y + line.height};
  const bool folded = tune.folded_nodes.contains(line.node);
  const Touch touch = ui.region(fmt::format("map/node/{}", line.node), row);
  if (touch.clicked) {
    if (folded) {
      tune.folded_nodes.erase(line.node);
    } else {
      tune.folded_nodes.insert(line.node);
    }
  }
  ui.draw.fill(row, ui.colors.header);
  const float y = row.center_y();
  if (folded) {
    draw_caret_right(ui.draw, {row.x0 + 17, y}, ui.colors.tertiary);
  } else {
    draw_caret_down(ui.draw, {row.x0 + 17, y}, ui.colors.tertiary);
  }
  const std::string name = fmt::format("host {}", line.node);
  ui.draw.text(Font::strong, row.x0 + 30, y, ui.colors.text, name);
  const float x = row.x0 + 42 + ui.draw.width(Font::strong, name);
  ui.draw.text_fit(Font::small, x, y, row.x1 - x - 12, ui.colors.tertiary,
                   node_sentence(*desktop.document, line.node));
}

void draw_legend(Ui& ui, const Desktop& desktop, const MapScale& scale, const Rect& legend) {
  const Evaluation& shown = desktop.document->shown();
  const float y = legend.center_y();
  float x = legend.x0 + 16;
  draw_caret_down(ui.draw, {x + 3, y}, ui.colors.secondary, 7);
  ui.draw.text(Font::small, x + 14, y, ui.colors.tertiary, "reference load");
  x += 104;
  for (const auto& [color, word] :
       {std::pair{ui.colors.idle, "dense"}, std::pair{ui.colors.strong_line, "buffers"}}) {
    ui.draw.fill(box(x, y - 4, 8, 8), color);
    ui.draw.text(Font::small, x + 14, y, ui.colors.tertiary, word);
    x += 24 + ui.draw.width(Font::small, word);
  }
  if (!shown.priced) return;
  const Topology& topology = desktop.document->topology();
  const float limit = scale.memory_x(shown.memory_limit);
  const auto reserve = static_cast<double>(topology.reserve_bytes);
  std::string words = fmt::format("memory limit {} GiB", gib_text(shown.memory_limit));
  if (reserve > 0) {
    words += fmt::format(" = {} − {} reserve", gib_text(topology.gpu.memory_bytes.value),
                         gib_text(reserve));
  }
  const float width = ui.draw.width(Font::small, words);
  if (limit - 8 - width > x) {
    ui.draw.text_right(Font::small, limit - 8, y, ui.colors.error, words);
    ui.draw.vertical(limit, y - 7, y + 8, ui.colors.error, 2);
  }
  if (desktop.tune.width == 0) {
    const float balance = std::max(scale.x_of(shown.mean_load_s) + 5, limit + 14);
    ui.draw.text_fit(Font::small, balance, y, legend.x1 - balance, ui.colors.secondary,
                     fmt::format("mean load {} ms", short_ms_text(shown.mean_load_s)));
  }
}

void zoom_by_wheel(Ui& ui, TuneState& tune, const Rect& rows) {
  if (!ui.hovers(rows) || ui.in.wheel == 0) return;
  if (ui.in.ctrl) tune.zoom = std::clamp(tune.zoom * std::pow(1.15, ui.in.wheel), 1.0, 1000.0);
  if (ui.in.shift) {
    tune.row_pitch =
        std::clamp(tune.row_pitch * std::pow(1.15F, ui.in.wheel), kSmallestPitch, 160.0F);
  }
}

/// Rubber band over free space selects the shards it touches.
void rubber_band(Ui& ui, Desktop& desktop, const MapScale& scale,
                 const std::vector<MapLine>& lines) {
  TuneState& tune = desktop.tune;
  if (tune.drag.kind != MapDrag::Kind::none) {
    tune.band_start.reset();
    return;
  }
  if (ui.hovers(scale.rows) && ui.in.is_pressed(Button::left) && ui.memory().held == 0) {
    tune.band_start = ui.in.mouse;
  }
  if (!tune.band_start) return;
  const Point a = *tune.band_start, b = ui.in.mouse;
  const Rect band{std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.x, b.x), std::max(a.y, b.y)};
  if (ui.in.is_down(Button::left)) {
    ui.draw.fill(band, with_alpha(ui.colors.accent, 30));
    ui.draw.frame(band, ui.colors.accent);
    return;
  }
  tune.band_start.reset();
  if (!ui.in.ctrl) tune.selection.clear();
  for (const MapLine& line : lines) {
    if (line.heading || !scale.lane(line).overlaps(band)) continue;
    double at = 0;
    for (const MapBlock& block : tune.map.gpu(*desktop.document, line.rank).blocks) {
      const float x0 = scale.x_of(at);
      at += block.value;
      const bool inside = x0 < band.x1 && scale.x_of(at) > band.x0;
      if (inside && block.cluster != ClusterType::DP) select_shard(tune, block.shard, true);
    }
  }
}

}  // namespace

void draw_map_panel(Ui& ui, Desktop& desktop, Rect area) {
  TuneState& tune = desktop.tune;
  ui.draw.fill(area, ui.colors.pane);
  ui.pane("Shard map", area, [&desktop] { return shards_table(desktop); });
  const Rect header = area.take_top(kHeaderHeight);
  pane_header(ui, header, "Shard map",
              "each bar is one GPU: top, what its shards cost · below, what they weigh",
              segmented_width(ui, kViews) + 25);
  segmented(ui, "map/view", header.x1 - 25 - segmented_width(ui, kViews), header.y0 + 3, kViews,
            tune.view);
  if (tune.view == 1) {
    tune.view = 0;
    desktop.choose(Workspace::scale);
  }
  draw_tools(ui, desktop, area.take_top(kToolHeight));
  const Rect axis = area.take_top(18);
  const Rect legend = area.take_bottom(40);
  const Rect rows = area;
  tune.map.update(desktop.document->shown().layout, static_cast<MapWidth>(tune.width));
  MapScale scale = scale_of(desktop, rows);
  const Topology& topology = desktop.document->topology();
  const float room = rows.height() - 20.0F * static_cast<float>(topology.hosts);
  const float fitting =
      std::clamp(room / static_cast<float>(topology.ranks()), 22.0F, kLargestPitch);
  if (tune.row_pitch <= 0 || tune.row_pitch_for != rows.height()) tune.row_pitch = fitting;
  tune.row_pitch_for = rows.height();
  zoom_by_wheel(ui, tune, rows);
  scale.pitch = tune.row_pitch;
  float content = 0;
  std::vector<MapLine> lines =
      map_lines(topology, tune, rows.y0 - tune.map_scroll, tune.row_pitch, content);
  const float before = tune.map_scroll;
  scroll(ui, "map/scroll", rows, content, tune.map_scroll);
  for (MapLine& line : lines) line.y -= tune.map_scroll - before;

  if (tune.drag.kind == MapDrag::Kind::none) tune.hovered_table = -1;
  draw_axis(ui, desktop, scale, axis, std::min(rows.y1, rows.y0 + content));
  ui.draw.clip(rows);
  for (const MapLine& line : lines) {
    if (line.y + line.height <= rows.y0 || line.y >= rows.y1) continue;
    if (line.heading) {
      draw_node(ui, desktop, scale, line);
    } else {
      ui.name(fmt::format("map/gpu/{}", line.rank),
              {rows.x0, line.y, rows.x1, line.y + line.height});
      draw_gpu_row(ui, desktop, scale, line);
    }
  }
  if (tune.width == 0 && desktop.document->shown().priced) {
    ui.draw.dotted_vertical(scale.x_of(desktop.document->shown().mean_load_s), rows.y0 + 20,
                            std::min(rows.y1, rows.y0 + content) + 4,
                            with_alpha(ui.colors.text, 170));
  }
  ui.draw.unclip();
  draw_legend(ui, desktop, scale, legend);
  rubber_band(ui, desktop, scale, lines);
  follow_drag(ui, desktop, scale, lines, area);
}

}  // namespace shardscope::ui
