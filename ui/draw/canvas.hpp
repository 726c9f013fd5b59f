#pragma once
// Drawing in logical pixels over an ImDrawList: filled and framed rectangles, 1 px lines, hatching,
// clipped text. Everything lands on whole device pixels.

#include <string>
#include <string_view>

#include "ui/draw/rect.hpp"
#include "ui/theme/fonts.hpp"
#include "ui/theme/palette.hpp"

struct ImDrawList;

namespace shardscope::ui {

enum class Align : std::uint8_t { left, center, right };

class Canvas {
 public:
  /// The list, the fonts and their atlas must outlive the canvas.
  Canvas(ImDrawList* list, const Fonts& fonts, float scale)
      : list_(list), fonts_(&fonts), scale_(scale) {}

  void fill(const Rect& rect, Color color, float rounding = 0);
  /// A line of one device pixel (or `thickness` logical ones) inside the rectangle's edge.
  void frame(const Rect& rect, Color color, float rounding = 0, float thickness = 1);
  void dashed_frame(const Rect& rect, Color color, float dash = 4, float gap = 3);
  void horizontal(float x0, float x1, float y, Color color, float thickness = 1);
  void vertical(float x, float y0, float y1, Color color, float thickness = 1);
  void dotted_vertical(float x, float y0, float y1, Color color, float dash = 2, float gap = 3);
  void dashed_horizontal(float x0, float x1, float y, Color color, float dash = 5, float gap = 4);
  void line(Point a, Point b, Color color, float thickness = 1);
  void polyline(const Point* points, std::size_t count, Color color, float thickness);
  /// Vertical strips between two curves over the same x.
  void band(const Point* upper, const Point* lower, std::size_t count, Color color);
  void triangle(Point a, Point b, Point c, Color color);
  void circle(Point center, float radius, Color color);
  /// Slanted lines `pitch` apart, clipped to the rectangle.
  void hatch(const Rect& rect, Color color, float pitch = 6, float thickness = 1.5F);

  void clip(const Rect& rect);
  void unclip();

  [[nodiscard]] float width(Font font, std::string_view text) const;
  /// `y` is the middle of the capitals.
  void text(Font font, float x, float y, Color color, std::string_view text);
  void text_right(Font font, float x, float y, Color color, std::string_view text);
  void text_center(Font font, float x, float y, Color color, std::string_view text);
  /// Ends in an ellipsis where it is wider than `room`. Returns the width drawn.
  float text_fit(Font font, float x, float y, float room, Color color, std::string_view text);
  /// Broken between words into at most `lines` lines `pitch` apart; returns the lines used.
  int paragraph(Font font, float x, float y, float room, float pitch, int lines, Color color,
                std::string_view text);

  /// Whether the list can take no more: a renderer of OpenGL below 3.2 has 16-bit indices and no
  /// vertex offset. What is drawn then is left out rather than ending the program.
  [[nodiscard]] bool full() const;

  [[nodiscard]] float scale() const { return scale_; }
  [[nodiscard]] const Fonts& fonts() const { return *fonts_; }
  [[nodiscard]] ImDrawList* list() const { return list_; }

 private:
  [[nodiscard]] float device(float logical) const;
  [[nodiscard]] float thickness(float logical) const;

  ImDrawList* list_;
  const Fonts* fonts_;
  float scale_;
};

}  // namespace shardscope::ui
