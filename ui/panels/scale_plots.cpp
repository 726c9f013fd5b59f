#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/model/map_blocks.hpp"
#include "ui/model/numbers.hpp"
#include "ui/panels/scale_parts.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {

void draw_histogram(Ui& ui, const Rect& area, std::string_view title, const std::string& words,
                    const std::vector<double>& current, const std::vector<double>* proposed,
                    std::string (*amount)(double)) {
  constexpr std::size_t kBins = 40;
  ui.draw.text(Font::small, area.x0, area.y0 + 9, ui.colors.text, title);
  ui.draw.text_right(Font::small, area.x1, area.y0 + 9, ui.colors.secondary, words);
  const Rect plot{area.x0, area.y0 + 22, area.x1, area.y1 - 18};
  ui.draw.fill(plot, ui.colors.lane);
  double low = 1e300, high = -1e300;
  const auto extend = [&](const std::vector<double>& list) {
    for (const double value : list) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  };
  extend(current);
  if (proposed != nullptr) extend(*proposed);
  if (current.empty()) return;
  if (high <= low) high = low + std::max(1e-9, std::abs(low) * 0.1);
  const auto bins_of = [&](const std::vector<double>& list) {
    std::vector<int> bins(kBins);
    for (const double value : list) {
      const double share = (value - low) / (high - low);
      ++bins[std::min(kBins - 1, static_cast<std::size_t>(share * kBins))];
    }
    return bins;
  };
  const std::vector<int> now = bins_of(current);
  const std::vector<int> then = proposed != nullptr ? bins_of(*proposed) : now;
  const int most = std::max(*std::max_element(now.begin(), now.end()),
                            *std::max_element(then.begin(), then.end()));
  const float pitch = plot.width() / kBins;
  for (std::size_t b = 0; b < kBins; ++b) {
    const float x = plot.x0 + pitch * static_cast<float>(b);
    const auto bar = [&](int count) {
      const float height =
          (plot.height() - 2) * static_cast<float>(count) / static_cast<float>(most);
      return Rect{x + 1, plot.y1 - height, x + pitch - 1, plot.y1};
    };
    if (then[b] > 0) ui.draw.fill(bar(then[b]), ui.colors.accent);
    if (proposed != nullptr && now[b] > 0) ui.draw.frame(bar(now[b]), ui.colors.text);
  }
  const float y = area.y1 - 7;
  ui.draw.text(Font::mono_small, plot.x0, y, ui.colors.tertiary, amount(low));
  ui.draw.text_right(Font::mono_small, plot.x1, y, ui.colors.tertiary, amount(high));
  if (!ui.hovers(plot)) return;
  const auto bin = std::min(
      kBins - 1, static_cast<std::size_t>(std::max(0.0F, (ui.in.mouse.x - plot.x0) / pitch)));
  const double width = (high - low) / kBins;
  std::string text =
      fmt::format("{} to {}: {}", amount(low + width * static_cast<double>(bin)),
                  amount(low + width * static_cast<double>(bin + 1)), plural(now[bin], "GPU"));
  if (proposed != nullptr) text += " now, " + plural(then[bin], "GPU") + " proposed";
  ui.tooltip(std::move(text));
}

void draw_search(Ui& ui, const Desktop& desktop, const Rect& area) {
  const ScaleState& scale = desktop.scale;
  const Rect plot{area.x0 + 40, area.y0 + 6, area.x1 - 86, area.y1 - 18};
  ui.draw.fill(plot, ui.colors.lane);
  const double now = desktop.document->current().iteration_s;
  const double bound = scale.bound_s > 0 ? scale.bound_s : desktop.document->bound().value_or(0);
  std::vector<PlanPoint> points;
  double limit = 1e-3;
  if (scale.job != nullptr) {
    points = scale.job->points();
    limit = std::max(limit, scale.job->progress().elapsed_s);
    if (!scale.job->finished()) limit = std::max(limit, scale.job->request().time_limit_s);
  }
  double high = now, low = bound > 0 ? bound : now * 0.9;
  for (const PlanPoint& point : points) {
    high = std::max(high, point.best_s);
    low = std::min(low, point.best_s);
  }
  const double step = nice_step((high - low) * 1.1, 4);
  low = std::floor(low / step) * step;
  high = std::max(low + step, std::ceil(high / step) * step);
  const auto y_of = [&](double seconds) {
    return plot.y1 - plot.height() * static_cast<float>((seconds - low) / (high - low));
  };
  const auto x_of = [&](double seconds) {
    return plot.x0 + plot.width() * static_cast<float>(std::min(1.0, seconds / limit));
  };
  for (double tick = low; tick <= high * 1.00001; tick += step) {
    ui.draw.horizontal(plot.x0, plot.x1, y_of(tick), ui.colors.line);
    ui.draw.text_right(Font::mono_small, plot.x0 - 6, y_of(tick), ui.colors.tertiary,
                       axis_text(tick * 1e3, step * 1e3));
  }
  std::vector<Point> line;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i > 0) line.push_back({x_of(points[i].elapsed_s), y_of(points[i - 1].best_s)});
    line.push_back({x_of(points[i].elapsed_s), y_of(points[i].best_s)});
  }
  if (!line.empty()) {
    line.push_back({x_of(scale.job->progress().elapsed_s), line.back().y});
    ui.draw.polyline(line.data(), line.size(), ui.colors.accent, 2);
  }
  const auto mark = [&](float y, Color color, const std::string& words) {
    ui.draw.text(Font::mono_small, plot.x1 + 8, y, color, words);
  };
  mark(y_of(now), ui.colors.secondary, "now " + short_ms_text(now));
  if (!points.empty()) {
    mark(std::max(y_of(points.back().best_s), y_of(now) + 13), ui.colors.accent,
         "best " + short_ms_text(points.back().best_s));
  }
  if (bound > 0) {
    ui.draw.dashed_horizontal(plot.x0, plot.x1, y_of(bound), ui.colors.text);
    mark(y_of(bound), ui.colors.text, "bound " + short_ms_text(bound));
  }
  if (scale.job == nullptr) {
    ui.draw.text_center(Font::small, plot.center_x(), area.y1 - 7, ui.colors.tertiary,
                        "Plan draws here how the best layout improves");
    return;
  }
  ui.draw.text(Font::mono_small, plot.x0, area.y1 - 7, ui.colors.tertiary, "0 s");
  ui.draw.text_right(Font::mono_small, plot.x1, area.y1 - 7, ui.colors.tertiary,
                     fmt::format("{:.1f} s", limit));
}

}  // namespace shardscope::ui
