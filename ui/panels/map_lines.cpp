#include <algorithm>

#include "ui/panels/map_rows.hpp"

namespace shardscope::ui {
namespace {

constexpr float kNodeHeight = 20;
constexpr float kTextPitch = 44;  ///< from here on a row has two lanes
constexpr float kOneLane = 20;

}  // namespace

Rect MapScale::lane(const MapLine& line) const {
  if (line.height >= kTextPitch) {
    const float height = std::min(35.0F, line.height * 0.47F);
    return {lane_x0, line.y + line.height * 0.09F, lane_x1, line.y + line.height * 0.09F + height};
  }
  const float gap = line.height >= kOneLane ? 2.0F : line.height > 4 ? 1.0F : 0.0F;
  return {lane_x0, line.y + gap, lane_x1, line.y + line.height - gap};
}

Rect MapScale::memory_lane(const MapLine& line) const {
  if (line.height < kTextPitch) return {};
  const Rect load = lane(line);
  const float height = std::clamp(line.height * 0.14F, 5.0F, 11.0F);
  return {lane_x0, load.y1 + 4, lane_x1, load.y1 + 4 + height};
}

std::vector<MapLine> map_lines(const Topology& topology, const TuneState& tune, float top,
                               float pitch, float& content) {
  std::vector<MapLine> lines;
  float y = top;
  const std::int32_t ranks = topology.ranks();
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    const std::int32_t node = topology.host_of(rank);
    if (rank % topology.gpus_per_host == 0) {
      lines.push_back({true, node, -1, y, kNodeHeight});
      y += kNodeHeight;
    }
    if (tune.folded_nodes.contains(node)) continue;
    lines.push_back({false, node, rank, y, pitch});
    y += pitch;
  }
  content = y - top;
  return lines;
}

}  // namespace shardscope::ui
