#pragma once
// Where the GPUs of the shard map stand on the screen, and how they are drawn and dragged.

#include <cstdint>
#include <vector>

#include "ui/desktop/desktop.hpp"

namespace shardscope::ui {

/// One line of the map: a node's heading or a GPU.
struct MapLine {
  bool heading = false;
  std::int32_t node = 0;
  std::int32_t rank = -1;
  float y = 0;  ///< top, scrolled
  float height = 0;
};

/// Horizontal and vertical scales of one frame.
struct MapScale {
  Rect rows;  ///< clip of all lines
  float lane_x0 = 0;
  float lane_x1 = 0;
  double top = 1;         ///< value at lane_x1
  double memory_top = 1;  ///< bytes at lane_x1
  double step = 1;        ///< between ticks
  float pitch = 82;

  [[nodiscard]] float x_of(double value) const {
    return lane_x0 + (lane_x1 - lane_x0) * static_cast<float>(value / top);
  }
  [[nodiscard]] float memory_x(double bytes) const {
    return lane_x0 + (lane_x1 - lane_x0) * static_cast<float>(std::min(1.0, bytes / memory_top));
  }
  /// Load lane of a GPU's line.
  [[nodiscard]] Rect lane(const MapLine& line) const;
  [[nodiscard]] Rect memory_lane(const MapLine& line) const;  ///< empty where rows are too low
};

/// Lines of the map in order, folded nodes as headings alone. `content` is their height.
[[nodiscard]] std::vector<MapLine> map_lines(const Topology& topology, const TuneState& tune,
                                             float top, float pitch, float& content);

void draw_gpu_row(Ui& ui, Desktop& desktop, const MapScale& scale, const MapLine& line);
/// Follows a drag: preview under the mouse, drop, Esc. Draws what hangs at the cursor.
void follow_drag(Ui& ui, Desktop& desktop, const MapScale& scale, const std::vector<MapLine>& lines,
                 const Rect& pane);
/// The edit that the drag would make on that GPU with these modifiers.
[[nodiscard]] Result<Edit> dragged_edit(const Document& document, const MapDrag& drag,
                                        std::int32_t target, bool replicate, bool split,
                                        const ShardId* sibling);
/// The callout of a difference: "▼ −0.145 ms  −4.3 %" and what it comes from.
void draw_drag_badge(Ui& ui, const Document& document, const Point& at, const Rect& bounds,
                     double moved_bytes, const std::string& words);

}  // namespace shardscope::ui
