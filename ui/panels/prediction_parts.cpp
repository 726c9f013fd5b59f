#include "ui/panels/prediction_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/model/glossary.hpp"
#include "ui/model/numbers.hpp"
#include "ui/panels/titles.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

Color color_of_change(const Ui& ui, double change, double unit) {
  if (std::abs(change) < unit) return ui.colors.tertiary;
  return change < 0 ? ui.colors.good : ui.colors.worse;
}

struct Figure {
  std::string_view label;
  std::string value;
  std::string_view unit;
  std::string below;
  Color below_color;
  std::string_view term;  ///< of the glossary
};

void draw_figure(Ui& ui, float x, float y, float room, const Figure& figure) {
  const Font font =
      ui.draw.width(Font::large, figure.value) + 24 > room ? Font::digits : Font::large;
  ui.draw.text_fit(Font::small, x, y, room, ui.colors.tertiary, figure.label);
  const float width = ui.draw.text_fit(font, x, y + 26, room, ui.colors.text, figure.value);
  if (room - width > 16) {
    ui.draw.text_fit(Font::small, x + width + 8, y + 29, room - width - 8, ui.colors.tertiary,
                     figure.unit);
  }
  ui.draw.text_fit(Font::mono_small, x, y + 49, room, figure.below_color, figure.below);
  if (ui.hovers(box(x, y - 8, room, 64))) {
    ui.tooltip(fmt::format("{} {} {}\n{}\n{}", figure.label, figure.value, figure.unit,
                           figure.below, explain_term(figure.term)));
  }
}

void traffic_bar(Ui& ui, const Rect& area, float y, std::string_view label, double bytes,
                 double most, Color color) {
  ui.draw.text_fit(Font::small, area.x0, y, 78, ui.colors.secondary, label);
  const Rect lane{area.x0 + 80, y - 6, area.x1 - 70, y + 6};
  ui.draw.fill(lane, ui.colors.lane);
  if (most > 0) {
    Rect bar = lane;
    bar.x1 = lane.x0 + lane.width() * static_cast<float>(bytes / most);
    ui.draw.fill(bar, color);
  }
  ui.draw.text(Font::mono, lane.x1 + 8, y, ui.colors.text, bytes_text(bytes));
}

}  // namespace

void draw_stage_table(Ui& ui, Desktop& desktop, const Rect& area) {
  TuneState& tune = desktop.tune;
  const Evaluation& shown = desktop.document->shown();
  const Evaluation& reference = desktop.document->reference();
  ui.draw.horizontal(area.x0, area.x1, area.y0, ui.colors.line);
  const float y = area.y0 + 14;
  const float label = area.x0 + kPadding;
  ui.draw.text(Font::small, label, y, ui.colors.tertiary, "stage");
  ui.draw.text(Font::small, label, y + 18, ui.colors.tertiary, "this / reference, ms");
  ui.draw.text(Font::small, label, y + 36, ui.colors.tertiary, "change");
  struct Column {
    std::optional<Stage> stage;
    double now = 0;
    double star = 0;
  };
  std::vector<Column> columns;
  for (int s = 0; s < kStages; ++s) {
    const auto stage = static_cast<Stage>(s);
    const double now = tune.figures == 0 ? shown.path_seconds(stage) : shown.busy_seconds(stage);
    const double star =
        tune.figures == 0 ? reference.path_seconds(stage) : reference.busy_seconds(stage);
    if (now > 5e-7 || star > 5e-7) columns.push_back({stage, now, star});
  }
  if (tune.figures == 0) {
    columns.push_back({std::nullopt, shown.waiting_seconds(), reference.waiting_seconds()});
  }
  const float pitch =
      (area.width() - 150) / static_cast<float>(std::max<std::size_t>(8, columns.size()));
  float x = area.x0 + 150;
  for (const Column& column : columns) {
    const Rect rect{x - 4, area.y0 + 4, x + pitch - 8, area.y1 - 2};
    if (column.stage && ui.hovers(rect)) tune.hovered_stage = column.stage;
    if (column.stage && tune.hovered_stage == column.stage) {
      ui.draw.fill(rect, ui.colors.control, 2);
    }
    const Color color = column.stage ? ui.colors.stage(*column.stage) : ui.colors.idle;
    ui.draw.fill(box(x, y - 5, 9, 9), color);
    const char* name = column.stage ? shardscope::to_string(*column.stage) : "launch, wait";
    ui.draw.text_fit(Font::small, x + 14, y, pitch - 18, ui.colors.secondary, name);
    if (ui.hovers(rect)) {
      ui.tooltip(fmt::format("{}\n{} ms, reference {} ms\n{}", name, ms_text(column.now),
                             ms_text(column.star), explain_term(name)));
    }
    const std::string now = ms_text(column.now);
    ui.draw.text(Font::mono_strong, x, y + 18, ui.colors.text, now);
    const float after = x + ui.draw.width(Font::mono_strong, now) + 6;
    const std::string star = "/ " + ms_text(column.star);
    if (after + ui.draw.width(Font::mono, star) + 6 < x + pitch) {
      ui.draw.text(Font::mono, after, y + 18, ui.colors.tertiary, star);
    }
    const double change = column.now - column.star;
    ui.draw.text(Font::mono, x, y + 36, color_of_change(ui, change, 5e-7), signed_ms_text(change));
    x += pitch;
  }
}

void draw_figures(Ui& ui, const Desktop& desktop, const Rect& area) {
  const Document& document = *desktop.document;
  const Evaluation& shown = document.shown();
  const Evaluation& reference = document.reference();
  const float left = area.x0 + 13;
  const float middle = area.x0 + area.width() * 0.336F;
  const float right = area.x0 + area.width() * 0.672F;
  const float y = area.y0 + 15;
  const double slower = shown.iteration_s - reference.iteration_s;
  const double share = reference.iteration_s > 0 ? slower / reference.iteration_s : 0;
  const Color color = color_of_change(ui, slower, 5e-7);
  const float room = area.width() * 0.336F - 14;
  draw_figure(
      ui, left, y, room,
      {"Iteration", ms_text(shown.iteration_s), "ms",
       room > 150 ? fmt::format("{} vs ★  ({})", signed_ms_text(slower), signed_percent_text(share))
                  : signed_percent_text(share) + " vs ★",
       color, "iteration"});
  const double faster = shown.samples_per_s - reference.samples_per_s;
  const double faster_share = reference.samples_per_s > 0 ? faster / reference.samples_per_s : 0;
  const Rate rate = rate_text(shown.samples_per_s);
  const double unit = shown.samples_per_s >= 1e6 ? 1e6 : 1e3;
  draw_figure(ui, middle, y, room,
              {"Throughput", rate.value, rate.unit,
               room > 150 ? fmt::format("{}{:.2f} vs ★  ({})", faster < 0 ? "−" : "+",
                                        std::abs(faster) / unit, signed_percent_text(faster_share))
                          : signed_percent_text(faster_share) + " vs ★",
               color, "throughput"});
  const std::optional<double> bound = document.bound();
  if (bound && *bound > 0) {
    draw_figure(ui, right, y, room,
                {"Gap to the bound", fmt::format("{:.1f}", (shown.iteration_s / *bound - 1) * 100),
                 "%", fmt::format("bound {} ms{}", ms_text(*bound), room > 150 ? ", proven" : ""),
                 ui.colors.secondary, "gap"});
  } else {
    draw_figure(ui, right, y, room,
                {"Gap to the bound", "…", "", "being proven", ui.colors.tertiary, "gap"});
  }
  if (area.height() < 160) return;
  const float line = area.y0 + 90;
  ui.draw.horizontal(area.x0, area.x1, line, ui.colors.line);
  float row = line + 15;
  const Rect bars{left, 0, right - 24, 0};
  ui.draw.text(Font::small, left, row, ui.colors.tertiary, "Bytes per iteration");
  const Topology& topology = document.topology();
  const double most = std::max({shown.intra_bytes, reference.intra_bytes, shown.inter_bytes,
                                reference.inter_bytes, 1.0}) *
                      1.08;
  traffic_bar(ui, bars, row + 20, intra_title(topology), shown.intra_bytes, most, ui.colors.accent);
  traffic_bar(ui, bars, row + 40, "★", reference.intra_bytes, most, ui.colors.reference);
  if (topology.domains() > 1) {
    traffic_bar(ui, bars, row + 60, inter_title(topology), shown.inter_bytes, most,
                ui.colors.accent);
    if (row + 90 < area.y1) {
      traffic_bar(ui, bars, row + 80, "★", reference.inter_bytes, most, ui.colors.reference);
    }
  } else {
    ui.draw.text(Font::small, left, row + 60, ui.colors.secondary, inter_title(topology));
    ui.draw.text(Font::small, left + 80, row + 60, ui.colors.tertiary, "none: one host");
  }
  ui.draw.text(Font::small, right, row, ui.colors.tertiary, "Imbalance, max / mean");
  const auto imbalance = [&](float at, double value, std::string_view what) {
    const std::string text = fmt::format("{:.2f}", value);
    ui.draw.text(Font::mono_strong, right, at, ui.colors.text, text);
    ui.draw.text(Font::small, right + 40, at, ui.colors.tertiary, what);
    if (ui.hovers(box(right, at - 9, area.x1 - right, 18))) {
      ui.tooltip(std::string(explain_term(fmt::format("{} imbalance", what))));
    }
  };
  imbalance(row + 20, shown.load_imbalance(), "load");
  imbalance(row + 40, shown.memory_imbalance(), "memory");
  if (shown.host_bytes > 0) {
    ui.draw.text(Font::small, right, row + 60, ui.colors.tertiary,
                 fmt::format("host RAM to build: {} GiB", gib_text(shown.host_bytes)));
  }
}

}  // namespace shardscope::ui
