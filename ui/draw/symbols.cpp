#include "ui/draw/symbols.hpp"

#include <array>
#include <cmath>

namespace shardscope::ui {

void draw_tick(Canvas& canvas, Point c, Color color, float size) {
  const float h = size / 2;
  const std::array<Point, 3> points = {
      {{c.x - h, c.y}, {c.x - h * 0.25F, c.y + h * 0.7F}, {c.x + h, c.y - h * 0.7F}}};
  canvas.polyline(points.data(), points.size(), color, 2);
}

void draw_cross(Canvas& canvas, Point c, Color color, float size) {
  const float h = size / 2;
  canvas.line({c.x - h, c.y - h}, {c.x + h, c.y + h}, color, 2);
  canvas.line({c.x - h, c.y + h}, {c.x + h, c.y - h}, color, 2);
}

void draw_warning(Canvas& canvas, Point c, Color color, Color inside, float size) {
  const float h = size / 2;
  canvas.triangle({c.x, c.y - h}, {c.x + h, c.y + h}, {c.x - h, c.y + h}, color);
  canvas.line({c.x, c.y - h * 0.25F}, {c.x, c.y + h * 0.3F}, inside, 1.4F);
  canvas.line({c.x, c.y + h * 0.5F}, {c.x, c.y + h * 0.8F}, inside, 1.4F);
}

void draw_caret_down(Canvas& canvas, Point c, Color color, float size) {
  const float h = size / 2;
  canvas.triangle({c.x - h, c.y - h * 0.5F}, {c.x + h, c.y - h * 0.5F}, {c.x, c.y + h * 0.6F},
                  color);
}

void draw_caret_right(Canvas& canvas, Point c, Color color, float size) {
  const float h = size / 2;
  canvas.triangle({c.x - h * 0.5F, c.y - h}, {c.x + h * 0.6F, c.y}, {c.x - h * 0.5F, c.y + h},
                  color);
}

void draw_caret_up(Canvas& canvas, Point c, Color color, float size) {
  const float h = size / 2;
  canvas.triangle({c.x - h, c.y + h * 0.5F}, {c.x, c.y - h * 0.6F}, {c.x + h, c.y + h * 0.5F},
                  color);
}

void draw_undo(Canvas& canvas, Point c, Color color, bool mirrored) {
  const float side = mirrored ? -1.0F : 1.0F;
  std::array<Point, 12> arc;
  for (std::size_t i = 0; i < arc.size(); ++i) {
    const float angle =
        -1.5708F + 3.4F * static_cast<float>(i) / static_cast<float>(arc.size() - 1);
    arc[i] = {c.x + side * (1 + 4 * std::cos(angle)), c.y + 1 + 4 * std::sin(angle)};
  }
  canvas.polyline(arc.data(), arc.size(), color, 1.4F);
  canvas.line({c.x + side * 1, c.y - 3}, {c.x - side * 4.5F, c.y - 3}, color, 1.4F);
  canvas.line({c.x - side * 4.5F, c.y - 3}, {c.x - side * 2, c.y - 5.5F}, color, 1.4F);
  canvas.line({c.x - side * 4.5F, c.y - 3}, {c.x - side * 2, c.y - 0.5F}, color, 1.4F);
}

void draw_magnifier(Canvas& canvas, Point c, Color color) {
  std::array<Point, 17> ring;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const float angle = 6.28319F * static_cast<float>(i) / static_cast<float>(ring.size() - 1);
    ring[i] = {c.x - 1 + 4 * std::cos(angle), c.y - 1 + 4 * std::sin(angle)};
  }
  canvas.polyline(ring.data(), ring.size(), color, 1.4F);
  canvas.line({c.x + 2, c.y + 2}, {c.x + 5, c.y + 5}, color, 1.6F);
}

void draw_logo(Canvas& canvas, Point p, const Palette& colors) {
  canvas.fill(box(p.x, p.y, 7, 18), colors.clusters[1]);
  canvas.fill(box(p.x + 9, p.y, 7, 10), colors.clusters[2]);
  canvas.fill(box(p.x + 9, p.y + 12, 7, 6), colors.clusters[0]);
}

}  // namespace shardscope::ui
