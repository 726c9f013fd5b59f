#pragma once
// Small marks drawn from lines and triangles, so that they look alike whatever font is installed.

#include "ui/draw/canvas.hpp"

namespace shardscope::ui {

void draw_tick(Canvas& canvas, Point center, Color color, float size = 9);
void draw_cross(Canvas& canvas, Point center, Color color, float size = 8);
/// A warning triangle with its stroke left out.
void draw_warning(Canvas& canvas, Point center, Color color, Color inside, float size = 11);
void draw_caret_down(Canvas& canvas, Point center, Color color, float size = 7);
void draw_caret_right(Canvas& canvas, Point center, Color color, float size = 7);
void draw_caret_up(Canvas& canvas, Point center, Color color, float size = 7);
/// Counter-clockwise arrow; `mirrored` for redo.
void draw_undo(Canvas& canvas, Point center, Color color, bool mirrored);
void draw_magnifier(Canvas& canvas, Point center, Color color);
/// Two blocks and a third: the product's mark, 16 px wide.
void draw_logo(Canvas& canvas, Point top_left, const Palette& colors);

}  // namespace shardscope::ui
