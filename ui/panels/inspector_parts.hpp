#pragma once
// The lower half of the inspector: what a shard costs, and its table in the three clusters.

#include "ui/desktop/desktop.hpp"

namespace shardscope::ui {

void draw_shard_cost(Ui& ui, const Desktop& desktop, const ShardId& shard, bool has_shard,
                     const Rect& area);
void draw_alternatives(Ui& ui, Desktop& desktop, std::int32_t table, const Rect& area);

}  // namespace shardscope::ui
