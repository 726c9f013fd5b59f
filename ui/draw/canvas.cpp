#include "ui/draw/canvas.hpp"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace shardscope::ui {
namespace {

constexpr std::string_view kEllipsis = "…";

/// Bytes of the longest prefix (whole code points) that is at most `room` wide.
std::size_t prefix_within(const ImFont& font, std::string_view text, float room) {
  const char* rest = nullptr;
  font.CalcTextSizeA(font.FontSize, room, 0, text.data(), text.data() + text.size(), &rest);
  return static_cast<std::size_t>(rest - text.data());
}

}  // namespace

float Canvas::device(float logical) const {
  return std::round(logical * scale_);
}

float Canvas::thickness(float logical) const {
  return std::max(1.0F, std::round(logical * scale_));
}

bool Canvas::full() const {
  constexpr unsigned kMost = 60'000;  // room for the largest single piece: a line of text
  return (list_->Flags & ImDrawListFlags_AllowVtxOffset) == 0 && list_->_VtxCurrentIdx > kMost;
}

void Canvas::fill(const Rect& rect, Color color, float rounding) {
  if (rect.empty() || full()) return;
  const float x0 = device(rect.x0);
  const float y0 = device(rect.y0);
  list_->AddRectFilled({x0, y0},
                       {std::max(device(rect.x1), x0 + 1), std::max(device(rect.y1), y0 + 1)},
                       color, rounding * scale_);
}

void Canvas::frame(const Rect& rect, Color color, float rounding, float width) {
  if (rect.empty() || full()) return;
  const float t = thickness(width);
  // Strokes are centred on their path: half a thickness inside the edge keeps them crisp.
  list_->AddRect({device(rect.x0) + t / 2 - 0.5F, device(rect.y0) + t / 2 - 0.5F},
                 {device(rect.x1) - t / 2 + 0.5F, device(rect.y1) - t / 2 + 0.5F}, color,
                 rounding * scale_, 0, t);
}

void Canvas::horizontal(float x0, float x1, float y, Color color, float width) {
  if (full()) return;
  const float top = device(y);
  list_->AddRectFilled({device(x0), top}, {device(x1), top + thickness(width)}, color);
}

void Canvas::vertical(float x, float y0, float y1, Color color, float width) {
  if (full()) return;
  const float left = device(x);
  list_->AddRectFilled({left, device(y0)}, {left + thickness(width), device(y1)}, color);
}

void Canvas::dotted_vertical(float x, float y0, float y1, Color color, float dash, float gap) {
  for (float y = y0; y < y1; y += dash + gap) vertical(x, y, std::min(y + dash, y1), color);
}

void Canvas::dashed_horizontal(float x0, float x1, float y, Color color, float dash, float gap) {
  for (float x = x0; x < x1; x += dash + gap) horizontal(x, std::min(x + dash, x1), y, color);
}

void Canvas::dashed_frame(const Rect& rect, Color color, float dash, float gap) {
  dashed_horizontal(rect.x0, rect.x1, rect.y0, color, dash, gap);
  dashed_horizontal(rect.x0, rect.x1, rect.y1 - 1, color, dash, gap);
  dotted_vertical(rect.x0, rect.y0, rect.y1, color, dash, gap);
  dotted_vertical(rect.x1 - 1, rect.y0, rect.y1, color, dash, gap);
}

void Canvas::line(Point a, Point b, Color color, float width) {
  if (full()) return;
  list_->AddLine({a.x * scale_, a.y * scale_}, {b.x * scale_, b.y * scale_}, color, width * scale_);
}

void Canvas::polyline(const Point* points, std::size_t count, Color color, float width) {
  if (full()) return;
  std::vector<ImVec2> device_points(count);
  for (std::size_t i = 0; i < count; ++i) {
    device_points[i] = {points[i].x * scale_, points[i].y * scale_};
  }
  list_->AddPolyline(device_points.data(), static_cast<int>(count), color, 0, width * scale_);
}

void Canvas::band(const Point* upper, const Point* lower, std::size_t count, Color color) {
  // Softened edges of neighbours would overlap and show as stripes.
  const ImDrawListFlags flags = list_->Flags;
  list_->Flags &= ~ImDrawListFlags_AntiAliasedFill;
  for (std::size_t i = 0; i + 1 < count && !full(); ++i) {
    list_->AddQuadFilled({upper[i].x * scale_, upper[i].y * scale_},
                         {upper[i + 1].x * scale_, upper[i + 1].y * scale_},
                         {lower[i + 1].x * scale_, lower[i + 1].y * scale_},
                         {lower[i].x * scale_, lower[i].y * scale_}, color);
  }
  list_->Flags = flags;
}

void Canvas::triangle(Point a, Point b, Point c, Color color) {
  if (full()) return;
  list_->AddTriangleFilled({a.x * scale_, a.y * scale_}, {b.x * scale_, b.y * scale_},
                           {c.x * scale_, c.y * scale_}, color);
}

void Canvas::circle(Point center, float radius, Color color) {
  if (full()) return;
  list_->AddCircleFilled({center.x * scale_, center.y * scale_}, radius * scale_, color);
}

void Canvas::hatch(const Rect& rect, Color color, float pitch, float width) {
  if (rect.empty()) return;
  const float height = rect.height();
  // Anchored to the window, so that neighbours' lines meet; cut here instead of by a clip
  // rectangle, which would cost a draw call each.
  const float first = std::floor((rect.x0 - height + rect.y1) / pitch) * pitch - rect.y1;
  // Without softened edges a line is four vertices: a timeline has ten thousands of them.
  const ImDrawListFlags flags = list_->Flags;
  list_->Flags &= ~ImDrawListFlags_AntiAliasedFill;
  const float half = width * scale_ * 0.7071F;  // of its horizontal section
  for (float x = first; x < rect.x1 && !full(); x += pitch) {
    const float from = std::max(0.0F, rect.x0 - x);
    const float to = std::min(height, rect.x1 - x);
    if (to <= from) continue;
    const ImVec2 a{(x + from) * scale_, (rect.y1 - from) * scale_};
    const ImVec2 b{(x + to) * scale_, (rect.y1 - to) * scale_};
    list_->AddQuadFilled({a.x - half, a.y}, {b.x - half, b.y}, {b.x + half, b.y}, {a.x + half, a.y},
                         color);
  }
  list_->Flags = flags;
}

void Canvas::clip(const Rect& rect) {
  list_->PushClipRect({device(rect.x0), device(rect.y0)}, {device(rect.x1), device(rect.y1)}, true);
}

void Canvas::unclip() {
  list_->PopClipRect();
}

float Canvas::width(Font font, std::string_view text) const {
  const ImFont& face = *(*fonts_)[font];
  return face.CalcTextSizeA(face.FontSize, 1e9F, 0, text.data(), text.data() + text.size()).x /
         scale_;
}

void Canvas::text(Font font, float x, float y, Color color, std::string_view text) {
  if (full()) return;
  const ImFont& face = *(*fonts_)[font];
  const float top = std::round(y * scale_ + fonts_->capital(font) / 2 - face.Ascent);
  list_->AddText(&face, face.FontSize, {device(x), top}, color, text.data(),
                 text.data() + text.size());
}

void Canvas::text_right(Font font, float x, float y, Color color, std::string_view value) {
  text(font, x - width(font, value), y, color, value);
}

void Canvas::text_center(Font font, float x, float y, Color color, std::string_view value) {
  text(font, x - width(font, value) / 2, y, color, value);
}

float Canvas::text_fit(Font font, float x, float y, float room, Color color,
                       std::string_view value) {
  const float whole = width(font, value);
  if (whole <= room) {
    text(font, x, y, color, value);
    return whole;
  }
  const float for_text = room - width(font, kEllipsis);
  if (for_text <= 0) return 0;
  const ImFont& face = *(*fonts_)[font];
  const std::string shortened =
      std::string(value.substr(0, prefix_within(face, value, for_text * scale_))) +
      std::string(kEllipsis);
  text(font, x, y, color, shortened);
  return width(font, shortened);
}

int Canvas::paragraph(Font font, float x, float y, float room, float pitch, int lines, Color color,
                      std::string_view value) {
  int used = 0;
  while (!value.empty() && used < lines) {
    const float at = y + pitch * static_cast<float>(used++);
    if (used == lines || width(font, value) <= room) {
      text_fit(font, x, at, room, color, value);
      return used;
    }
    std::size_t end = 0;
    for (std::size_t space = value.find(' '); space != std::string_view::npos;
         space = value.find(' ', space + 1)) {
      if (width(font, value.substr(0, space)) > room) break;
      end = space;
    }
    if (end == 0) {
      text_fit(font, x, at, room, color, value);
      return used;
    }
    text(font, x, at, color, value.substr(0, end));
    value.remove_prefix(end + 1);
  }
  return used;
}

}  // namespace shardscope::ui
