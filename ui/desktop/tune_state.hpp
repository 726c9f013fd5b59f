#pragma once
// What the Tune workspace remembers from frame to frame.

#include <array>
#include <optional>
#include <set>
#include <string>

#include "ui/draw/rect.hpp"
#include "ui/model/alternatives.hpp"
#include "ui/model/map_blocks.hpp"
#include "ui/model/suggestions.hpp"
#include "ui/model/table_list.hpp"

namespace shardscope::ui {

/// A shard (or a whole table from the list) under the mouse button.
struct MapDrag {
  enum class Kind : std::uint8_t { none, shard, table };
  Kind kind = Kind::none;
  bool moving = false;  ///< the mouse left the spot where it went down
  ShardId shard;
  std::int32_t from = -1;
  std::int32_t target = -1;  ///< GPU under the mouse
  Point grab;                ///< inside the block
  Point start;
  float width = 0;
  std::string digits;   ///< typed while dragging: a bound
  std::string refusal;  ///< why the drop would do nothing

  [[nodiscard]] bool active() const { return kind != Kind::none && moving; }
};

struct TuneState {
  // Tables.
  TableList list;
  TableSort sort;
  std::string filter_text;
  TableFilter filter;
  std::string filter_error;
  int grouping = 0;  ///< 0 by cluster, 1 flat
  std::array<bool, kClusterTypes> closed{};
  float tables_scroll = 0;
  bool tables_open = false;  ///< as a drawer, in narrow windows

  // Map.
  MapModel map;
  MapModel map_before;  ///< of the layout without the drag's preview
  int width = 0;        ///< MapWidth
  int colour = 0;       ///< 0 cluster, 1 table
  int view = 0;         ///< 0 map, 1 matrix
  float map_scroll = 0;
  float row_pitch = 0;      ///< 0: what fits
  float row_pitch_for = 0;  ///< height of the pane that it was chosen in
  double zoom = 1;          ///< of widths
  std::set<std::int32_t> folded_nodes;
  MapDrag drag;
  std::optional<Point> band_start;  ///< rubber band
  std::int32_t hovered_table = -1;
  std::optional<Stage> hovered_stage;

  // Selection: shards first, else a table.
  std::set<ShardId> selection;
  std::int32_t table = -1;
  std::set<std::int32_t> tables;  ///< several, chosen with Ctrl or Shift; else empty
  int inspector = 0;              ///< 0 cost, 1 exchange and codecs
  int side = 0;                   ///< of the tabs in small windows: 0 inspector, 1 advice
  int dragged_cut = 0;            ///< inner cut under the mouse button, from 1; 0: none
  bool dragged_rows = false;
  std::optional<ShardId> shard;  ///< the one the inspector shows
  std::string shard_line;
  std::string typed_gpu;  ///< digits before G
  Alternatives alternatives;

  // Advice and prediction.
  Suggestions suggestions;
  int hovered_suggestion = -1;
  int figures = 0;  ///< 0 critical path, 1 busy time, 2 per rank
};

}  // namespace shardscope::ui
