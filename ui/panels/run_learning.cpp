#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/model/map_blocks.hpp"
#include "ui/model/numbers.hpp"
#include "ui/panels/pane_tables.hpp"
#include "ui/panels/run_parts.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

struct CurvePlot {
  Rect plot;
  CurveRange range;
  double samples = 1;

  [[nodiscard]] float x(std::int64_t at) const {
    return plot.x0 + plot.width() * static_cast<float>(static_cast<double>(at) / samples);
  }
  [[nodiscard]] float y(double value) const {
    return plot.y1 -
           plot.height() * static_cast<float>((value - range.low) / (range.high - range.low));
  }
};

void draw_axis(Ui& ui, const CurvePlot& plot, std::string_view title) {
  ui.draw.text(Font::small, plot.plot.x0, plot.plot.y0 - 11, ui.colors.secondary, title);
  const double step = nice_step(plot.range.high - plot.range.low, 4);
  for (double value = std::ceil(plot.range.low / step) * step; value <= plot.range.high;
       value += step) {
    ui.draw.horizontal(plot.plot.x0, plot.plot.x1, plot.y(value), ui.colors.line);
    ui.draw.text_right(Font::mono_small, plot.plot.x0 - 6, plot.y(value), ui.colors.tertiary,
                       axis_text(value, step));
  }
}

void draw_curve(Ui& ui, const CurvePlot& plot, const LearningCurve& curve,
                double LearningPoint::*figure, Color color, std::string_view name, float& label_x) {
  std::vector<Point> line;
  double last = std::nan("");
  for (const LearningPoint& point : curve.points()) {
    if (!std::isfinite(point.*figure)) continue;
    line.push_back({plot.x(point.samples), plot.y(point.*figure)});
    last = point.*figure;
  }
  if (line.empty()) return;
  ui.draw.polyline(line.data(), line.size(), color, 2);
  for (const Point& point : line) ui.draw.fill(box(point.x - 1.5F, point.y - 1.5F, 3, 3), color);
  const std::string words = fmt::format("{} {:.4f}", name, last);
  const float width = ui.draw.width(Font::small, words);
  label_x -= width + 18;
  const float y = plot.plot.y0 - 11;
  ui.draw.fill(box(label_x, y - 1, 10, 2), color);
  ui.draw.text(Font::small, label_x + 14, y, ui.colors.text, words);
}

void draw_moves(Ui& ui, const CurvePlot& plot, const LearningCurve& curve) {
  for (const LearningMove& move : curve.moves()) {
    const float x = plot.x(move.samples);
    ui.draw.dotted_vertical(x, plot.plot.y0, plot.plot.y1, ui.colors.text);
    if (ui.hovers({x - 4, plot.plot.y0, x + 4, plot.plot.y1})) {
      ui.tooltip(fmt::format("from here on under {}", move.layout));
    }
  }
}

/// The point nearest to the mouse.
void tell_point(Ui& ui, const CurvePlot& plot, const LearningCurve& curve) {
  if (!ui.hovers(plot.plot)) return;
  const LearningPoint* nearest = nullptr;
  float least = 24;
  for (const LearningPoint& point : curve.points()) {
    const float away = std::abs(plot.x(point.samples) - ui.in.mouse.x);
    if (away > least) continue;
    least = away;
    nearest = &point;
  }
  if (nearest == nullptr) return;
  ui.tooltip(fmt::format(
      "iteration {}, {} samples\ntraining loss {:.5f}\nheld-out loss {:.5f}\nheld-out AUC {:.5f}",
      grouped_text(nearest->iteration), count_text(static_cast<double>(nearest->samples)),
      nearest->train_loss, nearest->loss, nearest->auc));
}

}  // namespace

void draw_learning(Ui& ui, Desktop& desktop, Rect area) {
  ui.draw.fill(area, ui.colors.pane);
  ui.pane("Learning", area, [&desktop] { return learning_table(desktop); });
  pane_header(ui, area.take_top(kHeaderHeight), "Learning",
              "by samples seen; dotted = the job moved to another layout");
  ui.name("run/learning", area);
  const RunState& run = desktop.run;
  if (!run.shown || run.shown->curve.empty()) {
    ui.draw.text(Font::body, area.x0 + 24, area.y0 + 40, ui.colors.tertiary,
                 "The first point stands here after the first evaluation.");
    return;
  }
  const LearningCurve& curve = run.shown->curve;
  const Rect body{area.x0 + 62, area.y0 + 30, area.x1 - 18, area.y1 - 26};
  if (body.height() < 60 || body.width() < 80) return;
  const auto samples =
      static_cast<double>(std::max<std::int64_t>(1, curve.points().back().samples));
  const float half = (body.height() - 34) / 2;
  CurvePlot auc{{body.x0, body.y0, body.x1, body.y0 + half}, curve.aucs(), samples};
  CurvePlot loss{{body.x0, body.y1 - half, body.x1, body.y1}, curve.losses(), samples};
  ui.draw.clip(area);
  draw_axis(ui, auc, "AUC");
  draw_axis(ui, loss, "Loss");
  float label = body.x1 + 8;
  draw_curve(ui, auc, curve, &LearningPoint::auc, ui.colors.accent, "held out", label);
  label = body.x1 + 8;
  draw_curve(ui, loss, curve, &LearningPoint::train_loss, ui.colors.reference, "training", label);
  draw_curve(ui, loss, curve, &LearningPoint::loss, ui.colors.accent, "held out", label);
  for (const CurvePlot* plot : {&auc, &loss}) {
    draw_moves(ui, *plot, curve);
    tell_point(ui, *plot, curve);
  }
  const double step = nice_step(samples, 4);
  for (double at = 0; at <= samples; at += step) {
    ui.draw.text_center(Font::mono_small, loss.x(static_cast<std::int64_t>(at)), loss.plot.y1 + 12,
                        ui.colors.tertiary, count_text(at));
  }
  ui.draw.unclip();
}

}  // namespace shardscope::ui
