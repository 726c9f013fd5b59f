#pragma once
// Rectangles of the desktop, in logical pixels (100 % scale), origin at the top left.

#include <algorithm>

namespace shardscope::ui {

struct Point {
  float x = 0;
  float y = 0;

  friend bool operator==(const Point&, const Point&) = default;
};

/// Half-open: holds its left and top edge, not its right and bottom one.
struct Rect {
  float x0 = 0;
  float y0 = 0;
  float x1 = 0;
  float y1 = 0;

  [[nodiscard]] float width() const { return x1 - x0; }
  [[nodiscard]] float height() const { return y1 - y0; }
  [[nodiscard]] float center_x() const { return (x0 + x1) / 2; }
  [[nodiscard]] float center_y() const { return (y0 + y1) / 2; }
  [[nodiscard]] bool empty() const { return x1 <= x0 || y1 <= y0; }
  [[nodiscard]] bool contains(Point p) const {
    return p.x >= x0 && p.x < x1 && p.y >= y0 && p.y < y1;
  }
  [[nodiscard]] bool overlaps(const Rect& other) const {
    return x0 < other.x1 && other.x0 < x1 && y0 < other.y1 && other.y0 < y1;
  }
  [[nodiscard]] Rect inset(float dx, float dy) const {
    return {x0 + dx, y0 + dy, x1 - dx, y1 - dy};
  }
  [[nodiscard]] Rect moved(float dx, float dy) const {
    return {x0 + dx, y0 + dy, x1 + dx, y1 + dy};
  }
  [[nodiscard]] Rect common(const Rect& other) const {
    return {std::max(x0, other.x0), std::max(y0, other.y0), std::min(x1, other.x1),
            std::min(y1, other.y1)};
  }

  /// Cuts a piece off one side and keeps the rest; never more than there is.
  Rect take_top(float amount) {
    const float cut = std::min(y1, y0 + amount);
    const Rect taken{x0, y0, x1, cut};
    y0 = cut;
    return taken;
  }
  Rect take_bottom(float amount) {
    const float cut = std::max(y0, y1 - amount);
    const Rect taken{x0, cut, x1, y1};
    y1 = cut;
    return taken;
  }
  Rect take_left(float amount) {
    const float cut = std::min(x1, x0 + amount);
    const Rect taken{x0, y0, cut, y1};
    x0 = cut;
    return taken;
  }
  Rect take_right(float amount) {
    const float cut = std::max(x0, x1 - amount);
    const Rect taken{cut, y0, x1, y1};
    x1 = cut;
    return taken;
  }

  friend bool operator==(const Rect&, const Rect&) = default;
};

[[nodiscard]] constexpr Rect box(float x, float y, float width, float height) {
  return {x, y, x + width, y + height};
}

}  // namespace shardscope::ui
