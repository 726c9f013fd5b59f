#pragma once
// What keys, menus and buttons do to the selection of the Tune workspace.

#include <vector>

#include "ui/desktop/desktop.hpp"

namespace shardscope::ui {

void add_tune_commands(std::vector<Command>& list, Desktop& desktop, UiMemory& memory);
void select_shard(TuneState& tune, const ShardId& shard, bool extend);
void select_table(TuneState& tune, const Document& document, std::int32_t table);
/// Ctrl adds or removes a table, Shift (`range`) adds all lines up to it.
void select_more_tables(TuneState& tune, std::int32_t table, bool range,
                        const std::vector<TableLine>& lines);
/// Right click on a shard.
[[nodiscard]] std::vector<MenuItem> shard_menu(Desktop& desktop, const ShardId& shard);

}  // namespace shardscope::ui
