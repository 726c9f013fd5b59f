#include "ui/panels/tune_actions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ui/model/table_edits.hpp"
#include "ui/model/words.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

std::int32_t owner_of(const Document& document, const ShardId& shard) {
  const TablePlacement& placement = document.layout().tables[static_cast<std::size_t>(shard.table)];
  return placement.cluster == ClusterType::DP ? -1 : placement.owner(shard.row, shard.column);
}

bool exists(const Document& document, const ShardId& shard) {
  const auto table = static_cast<std::size_t>(shard.table);
  if (shard.table < 0 || table >= document.layout().tables.size()) return false;
  const TablePlacement& placement = document.layout().tables[table];
  return placement.cluster != ClusterType::DP && shard.row < placement.row_shards &&
         shard.column < placement.column_shards();
}

void move_by(Desktop& desktop, std::int32_t step) {
  const TuneState& tune = desktop.tune;
  if (!tune.shard || !exists(*desktop.document, *tune.shard)) return;
  const std::int32_t ranks = desktop.document->topology().ranks();
  const std::int32_t to = (owner_of(*desktop.document, *tune.shard) + step + ranks) % ranks;
  desktop.apply(edit_move(*desktop.document, *tune.shard, to));
}

void split(Desktop& desktop, bool rows) {
  const TuneState& tune = desktop.tune;
  Document& document = *desktop.document;
  if (!tune.shard || !exists(document, *tune.shard)) return;
  const std::int32_t to = lightest_gpu(document.current(), false, owner_of(document, *tune.shard));
  if (rows) {
    desktop.apply(edit_split_rows(document, *tune.shard, 2, to));
    return;
  }
  const TablePlacement& placement =
      document.layout().tables[static_cast<std::size_t>(tune.shard->table)];
  const std::int32_t half =
      placement.width(tune.shard->column) / 2 / kColumnGranule * kColumnGranule;
  const std::int32_t bound =
      placement.column_begin(tune.shard->column) + std::max(kColumnGranule, half);
  desktop.apply(edit_split_columns(document, *tune.shard, bound, to));
}

void to_cluster(Desktop& desktop, ClusterType cluster) {
  Document& document = *desktop.document;
  if (desktop.tune.tables.size() > 1) {
    const std::set<std::int32_t>& tables = desktop.tune.tables;
    document.apply(set_tables_cluster(document, tables, cluster),
                   fmt::format("{} tables to {}", tables.size(), to_string(cluster)));
    return;
  }
  if (desktop.tune.table < 0) return;
  desktop.apply(edit_cluster(document, desktop.tune.table, cluster,
                             lightest_gpu(document.current(), false, -1)));
}

void merge_table(Desktop& desktop) {
  const TuneState& tune = desktop.tune;
  if (!tune.shard || !exists(*desktop.document, *tune.shard)) return;
  desktop.document->apply(edit_merge_all(*desktop.document, tune.shard->table,
                                         owner_of(*desktop.document, *tune.shard)));
  desktop.tune.shard = ShardId{tune.shard->table, 0, 0};
}

void toggle_pin(Desktop& desktop) {
  const auto& shard = desktop.tune.shard;
  if (shard) desktop.document->pin(*shard, !desktop.document->pinned(*shard));
}

void step_selection(Desktop& desktop, int step) {
  const std::vector<Shard> all = shards_of(desktop.document->layout());
  if (all.empty()) return;
  std::ptrdiff_t at = 0;
  if (desktop.tune.shard) {
    const ShardId& now = *desktop.tune.shard;
    const auto found = std::find_if(all.begin(), all.end(), [&](const Shard& shard) {
      return ShardId{shard.table, shard.row, shard.column} == now;
    });
    if (found != all.end()) at = found - all.begin() + step;
  }
  const auto count = static_cast<std::ptrdiff_t>(all.size());
  const Shard& next = all[static_cast<std::size_t>((at + count) % count)];
  select_shard(desktop.tune, {next.table, next.row, next.column}, false);
}

void type_gpu(Desktop& desktop, char digit) {
  std::string& typed = desktop.tune.typed_gpu;
  if (typed.size() < 5) typed += digit;
}

void go_to_typed_gpu(Desktop& desktop) {
  TuneState& tune = desktop.tune;
  if (!tune.typed_gpu.empty() && tune.shard && exists(*desktop.document, *tune.shard)) {
    const int gpu = std::stoi(tune.typed_gpu);
    if (gpu < desktop.document->topology().ranks()) {
      desktop.apply(edit_move(*desktop.document, *tune.shard, gpu));
    } else {
      desktop.tell(NoticeKind::warning, fmt::format("There is no {}: 0 to {}.",
                                                    gpu_title(desktop.document->topology(), gpu),
                                                    desktop.document->topology().ranks() - 1));
    }
  }
  tune.typed_gpu.clear();
}

}  // namespace

void select_shard(TuneState& tune, const ShardId& shard, bool extend) {
  if (!extend) tune.selection.clear();
  tune.tables.clear();
  tune.selection.insert(shard);
  tune.shard = shard;
  tune.table = shard.table;
  tune.shard_line.clear();
}

void select_more_tables(TuneState& tune, std::int32_t table, bool range,
                        const std::vector<TableLine>& lines) {
  if (tune.tables.empty() && tune.table >= 0) tune.tables.insert(tune.table);
  if (!range) {
    if (!tune.tables.insert(table).second && tune.tables.size() > 1) tune.tables.erase(table);
    tune.table = *tune.tables.begin();
    return;
  }
  // From the last selected line to this one, in the order they stand.
  bool inside = false;
  for (const TableLine& line : lines) {
    if (line.heading) continue;
    const std::int32_t one = tune.list.rows()[line.row].table;
    const bool edge = one == table || one == tune.table;
    if (inside || edge) tune.tables.insert(one);
    if (edge && table != tune.table) inside = !inside;
  }
}

void select_table(TuneState& tune, const Document& document, std::int32_t table) {
  tune.selection.clear();
  tune.tables.clear();
  tune.table = table;
  tune.shard.reset();
  tune.shard_line.clear();
  const TablePlacement& placement = document.layout().tables[static_cast<std::size_t>(table)];
  if (placement.cluster != ClusterType::DP) select_shard(tune, {table, 0, 0}, false);
}

std::vector<MenuItem> shard_menu(Desktop& desktop, const ShardId& shard) {
  const Document& document = *desktop.document;
  const std::int32_t owner = owner_of(document, shard);
  const std::int32_t light = lightest_gpu(document.current(), false, owner);
  std::vector<MenuItem> items;
  items.push_back(
      {fmt::format("Move to {} (least load)", gpu_title(document.topology(), light)), "", true,
       [&desktop, shard, light] { desktop.apply(edit_move(*desktop.document, shard, light)); }});
  items.push_back({"Split rows in two", "R", true, [&desktop] { split(desktop, true); }});
  items.push_back({"Split columns in two", "C", true, [&desktop] { split(desktop, false); }});
  items.push_back({"Merge the table here", "M", true, [&desktop] { merge_table(desktop); }});
  for (const ClusterType cluster : {ClusterType::DP, ClusterType::RB, ClusterType::UB}) {
    const char* keys[] = {"D", "B", "U"};
    items.push_back(
        {fmt::format("Table to {}", to_string(cluster)), keys[static_cast<std::size_t>(cluster)],
         document.layout().tables[static_cast<std::size_t>(shard.table)].cluster != cluster,
         [&desktop, cluster] { to_cluster(desktop, cluster); }});
  }
  items.push_back(
      {document.pinned(shard) ? "Unpin" : "Pin", "P", true, [&desktop] { toggle_pin(desktop); }});
  return items;
}

void add_tune_commands(std::vector<Command>& list, Desktop& desktop, UiMemory& memory) {
  const bool shard = desktop.tune.shard.has_value();
  const bool table = desktop.tune.table >= 0;
  list.push_back({"Find tables", "Ctrl+F", 'F', kCtrl, true,
                  [&] { focus_field(memory, "tables/filter", desktop.tune.filter_text); }});
  list.push_back({"Select all tables", "Ctrl+A", 'A', kCtrl, memory.editing == 0, [&] {
                    const auto count = desktop.document->workload().tables.size();
                    for (std::size_t t = 0; t < count; ++t) {
                      desktop.tune.tables.insert(static_cast<std::int32_t>(t));
                    }
                    desktop.tune.table = 0;
                  }});
  list.push_back(
      {"Next shard", "Right", key::kRight, kNone, true, [&] { step_selection(desktop, 1); }});
  list.push_back(
      {"Previous shard", "Left", key::kLeft, kNone, true, [&] { step_selection(desktop, -1); }});
  list.push_back({"Move shard to the next GPU", "Alt+Down", key::kDown, kAlt, shard,
                  [&] { move_by(desktop, 1); }});
  list.push_back({"Move shard to the previous GPU", "Alt+Up", key::kUp, kAlt, shard,
                  [&] { move_by(desktop, -1); }});
  list.push_back({"Split rows", "R", 'R', kNone, shard, [&] { split(desktop, true); }});
  list.push_back({"Split columns", "C", 'C', kNone, shard, [&] { split(desktop, false); }});
  list.push_back(
      {"Merge the table's shards", "M", 'M', kNone, shard, [&] { merge_table(desktop); }});
  list.push_back({"Table to DP (replicate)", "D", 'D', kNone, table,
                  [&] { to_cluster(desktop, ClusterType::DP); }});
  list.push_back(
      {"Table to UB", "U", 'U', kNone, table, [&] { to_cluster(desktop, ClusterType::UB); }});
  list.push_back(
      {"Table to RB", "B", 'B', kNone, table, [&] { to_cluster(desktop, ClusterType::RB); }});
  list.push_back({"Pin or unpin the shard", "P", 'P', kNone, shard, [&] { toggle_pin(desktop); }});
  for (int digit = 0; digit < 10; ++digit) {
    list.push_back({fmt::format("Type GPU digit {}", digit), "", '0' + digit, kNone, shard,
                    [&desktop, digit] { type_gpu(desktop, static_cast<char>('0' + digit)); }});
  }
  list.push_back(
      {"Move shard to the typed GPU", "G", 'G', kNone, shard, [&] { go_to_typed_gpu(desktop); }});
  for (std::size_t i = 0; i < Suggestions::kShown; ++i) {
    const bool there = i < desktop.tune.suggestions.best().size();
    list.push_back({there ? "Apply: " + desktop.tune.suggestions.best()[i].edit.text
                          : fmt::format("Apply suggested edit {}", i + 1),
                    fmt::format("Alt+{}", i + 1), '1' + static_cast<int>(i), kAlt, there,
                    [&desktop, i] {
                      const Edit edit = desktop.tune.suggestions.best()[i].edit;
                      desktop.document->apply(edit);
                    }});
  }
}

}  // namespace shardscope::ui
