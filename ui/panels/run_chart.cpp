#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/draw/symbols.hpp"
#include "ui/model/map_blocks.hpp"
#include "ui/model/numbers.hpp"
#include "ui/panels/pane_tables.hpp"
#include "ui/panels/run_parts.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

/// All marks and figures of one chart in one unit.
struct RateUnit {
  double size = 1;
  const char* letter = "";

  explicit RateUnit(double largest) {
    if (largest >= 1e6) {
      size = 1e6;
      letter = " M";
    } else if (largest >= 1e4) {
      size = 1e3;
      letter = " K";
    }
  }
  [[nodiscard]] std::string mark(double per_second, double step) const {
    return axis_text(per_second / size, step / size) + letter;
  }
  [[nodiscard]] std::string figure(double per_second) const {
    const double value = per_second / size;
    const int decimals = value >= 1000 ? 0 : value >= 100 ? 1 : 2;
    return fmt::format("{:.{}f}{}", value, decimals, letter);
  }
};

struct ChartScale {
  Rect plot;
  double top_s = 1;
  double low = 0;
  double high = 1;
  RateUnit unit{1};
  [[nodiscard]] float x(double s) const {
    return plot.x0 + plot.width() * static_cast<float>(s / top_s);
  }
  [[nodiscard]] float y(double value) const {
    return plot.y1 - plot.height() * static_cast<float>((value - low) / (high - low));
  }
};

/// Values on the axis. The first intervals, of two or three blocks, may leave it, and so may the
/// blocks that a busy machine threw far off (they then stand at the edge).
void extend(const RunSide& side, double& low, double& high, double& end) {
  constexpr int kSettled = 4;
  constexpr double kOdd = 0.04;
  int counted = 0;
  std::vector<double> rates;
  for (const BlockPoint& block : side.series.blocks()) {
    end = std::max(end, block.end_s);
    if (block.warm_up) continue;
    rates.push_back(block.throughput);
    if (++counted < kSettled || block.low <= 0) continue;
    low = std::min(low, block.low);
    high = std::max(high, block.high);
  }
  if (rates.empty()) return;
  std::sort(rates.begin(), rates.end());
  const auto odd = static_cast<std::size_t>(kOdd * static_cast<double>(rates.size()));
  low = std::min(low, rates[odd]);
  high = std::max(high, rates[rates.size() - 1 - odd]);
}

/// What the model says of that side, samples/s; 0 where it says nothing, or something so far off
/// that a line would squeeze what was measured.
double predicted_rate(const RunSide& side, std::int64_t batch) {
  if (!side.predicted || side.predicted->iteration_ms <= 0) return 0;
  const double rate = static_cast<double>(batch) * 1e3 / side.predicted->iteration_ms;
  const double measured = side.series.throughput();
  return rate > measured * 0.6 && rate < measured * 1.6 ? rate : 0;
}

void draw_predicted(Ui& ui, const ChartScale& scale, double rate, Color color, char letter) {
  if (rate <= 0) return;
  const float y = scale.y(rate);
  ui.draw.dashed_horizontal(scale.plot.x0, scale.plot.x1, y, color);
  ui.draw.text(Font::small, scale.plot.x0 + 8, y - 9, ui.colors.secondary,
               fmt::format("predicted {}  {}", letter, scale.unit.figure(rate)));
}

void draw_side(Ui& ui, const RunSide& side, const ChartScale& scale, Color color, char letter) {
  std::vector<Point> line, upper, lower;
  for (const BlockPoint& block : side.series.blocks()) {
    if (block.warm_up || block.traced) continue;
    const float x = scale.x(block.end_s);
    line.push_back({x, scale.y(block.running)});
    upper.push_back({x, scale.y(block.high)});
    lower.push_back({x, scale.y(block.low)});
    const float y = std::clamp(scale.y(block.throughput), scale.plot.y0 + 2, scale.plot.y1 - 2);
    ui.draw.fill(box(x - 1.5F, y - 1.5F, 3, 3), with_alpha(color, 200));
  }
  if (line.empty()) return;
  ui.draw.band(upper.data(), lower.data(), line.size(), with_alpha(color, 50));
  ui.draw.polyline(line.data(), line.size(), color, 2);
  const Rect mark = box(scale.plot.x1 + 10, line.back().y - 9, 18, 18);
  ui.draw.fill(mark, color, 2);
  ui.draw.text_center(Font::strong, mark.center_x(), mark.center_y(), text_on(color),
                      std::string(1, letter));
  ui.draw.text(Font::mono_strong, mark.x1 + 7, mark.center_y(), ui.colors.text,
               scale.unit.figure(side.series.throughput()));
}

void draw_blocks(Ui& ui, const RecordedRuns& runs, const ChartScale& scale, float y) {
  ui.draw.text_right(Font::small, scale.plot.x0 - 8, y + 3, ui.colors.tertiary, "blocks");
  const auto ticks = [&](const RunSide& side, Color color) {
    for (const BlockPoint& block : side.series.blocks()) {
      const float x = scale.x(block.end_s);
      ui.draw.fill(box(x - 3, y, 3, 7), block.traced    ? ui.colors.stages[7]
                                        : block.warm_up ? ui.colors.idle
                                                        : color);
    }
  };
  ticks(runs.a, ui.colors.reference);
  if (runs.b) ticks(*runs.b, ui.colors.accent);
}

}  // namespace

void draw_throughput(Ui& ui, const Desktop& desktop, Rect area) {
  ui.draw.fill(area, ui.colors.pane);
  ui.pane("Throughput", area, [&desktop] { return blocks_table(desktop); });
  pane_header(ui, area.take_top(kHeaderHeight), "Throughput",
              "samples/s · dot = an untraced block, line = running mean, band = its 95 % interval");
  const RunState& run = desktop.run;
  if (!run.shown) {
    ui.draw.text_center(
        Font::body, area.center_x(), area.y0 + 60, ui.colors.tertiary,
        run.error.empty() ? "Nothing ran yet. Set up on the left, then Run." : run.error);
    return;
  }
  ChartScale scale;
  scale.plot = {area.x0 + 66, area.y0 + 14, area.x1 - 108, area.y1 - 40};
  double low = 1e300, high = 0, end = 0;
  extend(run.shown->a, low, high, end);
  if (run.shown->b) extend(*run.shown->b, low, high, end);
  const std::int64_t batch = run.shown->record.global_batch;
  const double rate_a = predicted_rate(run.shown->a, batch);
  const double rate_b = run.shown->b ? predicted_rate(*run.shown->b, batch) : 0;
  for (const double rate : {rate_a, rate_b}) {
    if (rate <= 0) continue;
    low = std::min(low, rate);
    high = std::max(high, rate);
  }
  if (high <= 0) {
    ui.draw.text_center(Font::body, area.center_x(), area.y0 + 60, ui.colors.tertiary,
                        "Warming up …");
    return;
  }
  const double room = std::max(high - low, high * 0.02) * 0.15;
  const double step = nice_step(high - low + 2 * room, 5);
  scale.low = std::max(0.0, std::floor((low - room) / step) * step);
  scale.high = std::ceil((high + room) / step) * step;
  scale.unit = RateUnit(scale.high);
  const double time_step = nice_step(end, 6);
  scale.top_s = std::max(time_step, end * 1.02);
  for (double value = scale.low; value <= scale.high * 1.0001; value += step) {
    ui.draw.horizontal(scale.plot.x0, scale.plot.x1, scale.y(value), ui.colors.line);
    ui.draw.text_right(Font::mono_small, scale.plot.x0 - 8, scale.y(value), ui.colors.tertiary,
                       scale.unit.mark(value, step));
  }
  for (double s = 0; s <= scale.top_s; s += time_step) {
    ui.draw.vertical(scale.x(s), scale.plot.y0, scale.plot.y1, ui.colors.line);
    ui.draw.text_center(Font::mono_small, scale.x(s), scale.plot.y1 + 12, ui.colors.tertiary,
                        fmt::format("{:g} s", s));
  }
  ui.draw.clip({area.x0, scale.plot.y0, area.x1, scale.plot.y1});
  draw_side(ui, run.shown->a, scale, ui.colors.reference, 'A');
  if (run.shown->b) draw_side(ui, *run.shown->b, scale, ui.colors.accent, 'B');
  draw_predicted(ui, scale, rate_a, ui.colors.reference, 'A');
  draw_predicted(ui, scale, rate_b, ui.colors.accent, 'B');
  ui.draw.unclip();
  draw_blocks(ui, *run.shown, scale, scale.plot.y1 + 24);
}

void draw_ratio_axis(Ui& ui, const Interval& ratio, double predicted, const Rect& area) {
  double low = std::min(0.99, ratio.low), high = std::max(1.01, ratio.high);
  // A prediction far off would squeeze what was measured.
  if (predicted > low - 2 * (high - low) && predicted < high + 2 * (high - low)) {
    low = std::min(low, predicted);
    high = std::max(high, predicted);
  }
  const double margin = 0.06 * (high - low);
  low -= margin;
  high += margin;
  const auto x_of = [&](double value) {
    return area.x0 + area.width() * static_cast<float>((value - low) / (high - low));
  };
  const float y = area.y1 - 18;
  ui.draw.horizontal(area.x0, area.x1, y, ui.colors.strong_line);
  const double step = nice_step(high - low, 5);
  for (double value = std::ceil(low / step) * step; value <= high; value += step) {
    ui.draw.vertical(x_of(value), y - 3, y + 3, ui.colors.strong_line);
    ui.draw.text_center(Font::mono_small, x_of(value), y + 12, ui.colors.tertiary,
                        fmt::format("{:.2f}", value));
  }
  ui.draw.dotted_vertical(x_of(1), y - 22, y, ui.colors.text);
  ui.draw.text_center(Font::small, x_of(1), y - 27, ui.colors.secondary, "A");
  ui.draw.fill({x_of(ratio.low), y - 14, x_of(ratio.high), y - 2},
               with_alpha(ui.colors.accent, 110));
  ui.draw.vertical(x_of(ratio.estimate) - 1, y - 17, y, ui.colors.text, 3);
  if (predicted <= low || predicted >= high) return;
  const float at = x_of(predicted);
  draw_caret_down(ui.draw, {at, y - 20}, ui.colors.simulated, 8);
  ui.draw.text_center(Font::small, at, y - 31, ui.colors.simulated,
                      fmt::format("predicted {:.3f}", predicted));
}

void draw_ratio_table(Ui& ui, const Desktop& desktop, const Rect& area) {
  const RecordedRuns& runs = *desktop.run.shown;
  const float a = area.x0 + area.width() * 0.52F, b = area.x0 + area.width() * 0.76F,
              change = area.x1;
  float y = area.y0 + 8;
  ui.draw.text_right(Font::small, a, y, ui.colors.tertiary, "A");
  ui.draw.text_right(Font::small, b, y, ui.colors.tertiary, "B");
  ui.draw.text_right(Font::small, change, y, ui.colors.tertiary, "B − A");
  const auto row = [&](std::string_view name, double left, double right) {
    y += 20;
    if (y + 8 > area.y1) return;
    ui.draw.text_fit(Font::small, area.x0, y, a - area.x0 - 60, ui.colors.secondary, name);
    ui.draw.text_right(Font::mono, a, y, ui.colors.text, fmt::format("{:.3f}", left));
    ui.draw.text_right(Font::mono, b, y, ui.colors.text, fmt::format("{:.3f}", right));
    ui.draw.text_right(Font::mono, change, y, right < left ? ui.colors.good : ui.colors.worse,
                       signed_ms_text((right - left) / 1e3));
  };
  row("iteration, ms", runs.a.series.mean_ms(), runs.b->series.mean_ms());
  row("p99 iteration, ms", runs.a.series.p99_ms(), runs.b->series.p99_ms());
  const auto errors = [&](const RunSide& side) {
    return side.predicted ? prediction_error(side.predicted->iteration_ms, side.series.mean_ms())
                          : std::nullopt;
  };
  const auto left = errors(runs.a), right = errors(*runs.b);
  if ((left || right) && y + 28 < area.y1) {
    y += 20;
    ui.draw.text_fit(Font::small, area.x0, y, a - area.x0 - 60, ui.colors.secondary,
                     "prediction error");
    for (const auto& [error, x] : {std::pair{left, a}, std::pair{right, b}}) {
      if (!error) continue;
      ui.draw.text_right(Font::mono, x, y,
                         std::abs(*error) > kLargeError ? ui.colors.warning : ui.colors.text,
                         error_text(*error));
    }
  }
  if (runs.comparison && y + 46 < area.y1) {
    ui.draw.paragraph(Font::small, area.x0, y + 24, area.width(), 16, 3, ui.colors.secondary,
                      runs.comparison->sentence);
  }
}

}  // namespace shardscope::ui
