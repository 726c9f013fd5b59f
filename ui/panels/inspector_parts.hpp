#pragma once
// The lower half of the inspector: what a shard costs, and its table in the three clusters.

#include "ui/desktop/desktop.hpp"

namespace shardscope::ui {

/// Several tables at once: common values, "mixed" where they differ.
void draw_inspector_many(Ui& ui, Desktop& desktop, Rect area);
/// Exchange and the four codecs of one table or many, from `y` down; where they end.
float draw_exchange(Ui& ui, Desktop& desktop, const std::set<std::int32_t>& tables,
                    const Rect& area, float y);
/// The table's rows and columns as two bars with their cuts, which a hand can drag.
void draw_cuts(Ui& ui, Desktop& desktop, std::int32_t table, const ShardId& shard,
               const Rect& area);
void draw_shard_cost(Ui& ui, const Desktop& desktop, const ShardId& shard, bool has_shard,
                     const Rect& area);
void draw_alternatives(Ui& ui, Desktop& desktop, std::int32_t table, const Rect& area);

}  // namespace shardscope::ui
