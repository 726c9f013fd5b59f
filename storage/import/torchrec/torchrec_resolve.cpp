#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "storage/import/torchrec/torchrec_plan.hpp"

namespace shardscope::storage {
namespace {

/// Of all tables together: rows over every rank multiply.
constexpr std::size_t kMostAssumedShards = std::size_t{1} << 22;
constexpr std::int64_t kWidestTable = std::numeric_limits<std::int32_t>::max();

std::string place_of(const TorchrecPlanEntry& entry) {
  return entry.module.empty() ? entry.table : entry.module + "." + entry.table;
}

/// Rows and dim that the shards span; dim 0 where there are none.
std::pair<std::int64_t, std::int64_t> extent_of(const std::vector<TorchrecShardEntry>& shards) {
  std::int64_t rows = 0;
  std::int64_t dim = 0;
  for (const TorchrecShardEntry& shard : shards) {
    rows = std::max(rows, shard.first_row + shard.rows);
    dim = std::max(dim, shard.first_column + shard.columns);
  }
  return {rows, dim};
}

/// Ours: a unique name a table, the module's path beside it.
std::vector<std::string> unique_names(const TorchrecPlan& plan) {
  std::map<std::string, int> seen;
  for (const TorchrecPlanEntry& entry : plan.tables) ++seen[entry.table];
  std::vector<std::string> names;
  for (const TorchrecPlanEntry& entry : plan.tables) {
    names.push_back(seen[entry.table] > 1 ? place_of(entry) : entry.table);
  }
  return names;
}

/// Tables of the plan with the sizes their shards span, one id a bag.
Workload workload_of_plan(const TorchrecPlan& plan, const std::vector<std::string>& names,
                          ImportNotes& notes) {
  Workload workload;
  workload.name = "imported";
  workload.source = notes.file();
  notes.warn(0,
             "the plan has no features, batch or optimizer: one id a bag, row-wise adagrad and "
             "512 samples a rank are assumed",
             "--workload NAME|FILE");
  workload.global_batch = std::int64_t{512} * std::max(plan.ranks, 1);
  for (std::size_t i = 0; i < plan.tables.size(); ++i) {
    const TorchrecPlanEntry& entry = plan.tables[i];
    const auto [rows, dim] = extent_of(entry.shards);
    if (rows == 0 || dim == 0 || dim > kWidestTable) {
      notes.warn_at(place_of(entry),
                    "has no shards that tell its rows and dim; left out of workload and layout",
                    "--workload NAME|FILE with this table");
      continue;
    }
    Table table;
    table.name = names[i];
    table.module_path = entry.module;
    table.rows = rows;
    table.dim = static_cast<std::int32_t>(dim);
    table.optimizer = make_optimizer(OptimizerKind::rowwise_adagrad);
    table.optimizer.per_shard = true;
    Feature feature;
    feature.name = table.name;
    feature.table = static_cast<std::int32_t>(workload.tables.size());
    workload.tables.push_back(std::move(table));
    workload.features.push_back(std::move(feature));
  }
  return workload;
}

class PlacementMatcher {
 public:
  PlacementMatcher(const TorchrecPlan& plan, const std::vector<std::string>& names,
                   const Workload& workload, ImportNotes& notes)
      : plan_(plan), workload_(workload), notes_(notes) {
    for (std::size_t i = 0; i < plan.tables.size(); ++i) {
      entries_.emplace(plan.tables[i].module + "\n" + plan.tables[i].table, i);
      entries_.emplace("\n" + plan.tables[i].table, i);
      entries_.emplace("\n" + names[i], i);
    }
    readers_ = features_by_table(workload);
  }

  Result<Layout> layout(std::int32_t ranks) {
    Layout layout;
    layout.ranks = ranks;
    layout.clusters[static_cast<std::size_t>(ClusterType::UB)].dedup = false;
    for (std::size_t t = 0; t < workload_.tables.size(); ++t) {
      const Table& table = workload_.tables[t];
      auto found = entries_.find(table.module_path + "\n" + table.name);
      if (found == entries_.end()) found = entries_.find("\n" + table.name);
      if (found == entries_.end()) {
        return wrong(table.name, "is not in the plan", "a plan of the workload's tables");
      }
      auto placement = place(t, plan_.tables[found->second], ranks);
      if (!placement) return fail(placement.error());
      layout.table_names.push_back(table.name);
      layout.tables.push_back(std::move(*placement));
    }
    return layout;
  }

 private:
  tl::unexpected<Error> wrong(const std::string& table, std::string what, std::string expected) {
    return fail({ErrorKind::usage, std::move(what), notes_.file() + ": table " + table,
                 std::move(expected), "Check that --workload is the model of this plan"});
  }

  [[nodiscard]] bool pooled(std::size_t t) const {
    return std::all_of(readers_[t].begin(), readers_[t].end(), [&](std::int32_t f) {
      return is_pooled(workload_.features[static_cast<std::size_t>(f)].pooling);
    });
  }

  Result<TablePlacement> place(std::size_t t, const TorchrecPlanEntry& entry, std::int32_t ranks) {
    const Table& table = workload_.tables[t];
    const ClusterType cluster = pooled(t) ? ClusterType::RB : ClusterType::UB;
    if (entry.sharding == "data_parallel") return data_parallel(table);
    std::vector<TorchrecShardEntry> shards = entry.shards;
    if (shards.empty()) shards = shards_of_form(table, entry, ranks);
    const auto [rows, dim] = extent_of(shards);
    if (rows != table.rows || dim != table.dim) {
      return wrong(table.name, fmt::format("its shards span {} x {}", rows, dim),
                   fmt::format("{} rows x {} columns", table.rows, table.dim));
    }
    auto placement = placement_of_shards(std::move(shards), cluster);
    if (!placement) {
      return wrong(table.name, "its shards are no grid that covers the table once",
                   "row cuts that are equal for every column shard, a rank for every shard");
    }
    const bool in_host = entry.sharding == "table_row_wise" || entry.sharding == "grid_shard";
    if (in_host && cluster == ClusterType::RB) placement->exchange = Exchange::hierarchical;
    set_tier(entry, *placement);
    return std::move(*placement);
  }

  /// Without shards (TorchEasyRec): whole tables on their rank, or equal blocks on the ranks.
  std::vector<TorchrecShardEntry> shards_of_form(const Table& table, const TorchrecPlanEntry& entry,
                                                 std::int32_t ranks) {
    std::vector<std::int32_t> owners = entry.ranks;
    const bool by_rows = entry.sharding == "row_wise" || entry.sharding == "table_row_wise";
    if (owners.empty() && entry.sharding == "row_wise") {
      for (std::int32_t rank = 0; rank < ranks; ++rank) owners.push_back(rank);
    }
    const auto count = static_cast<std::int64_t>(owners.size());
    std::vector<TorchrecShardEntry> shards;
    assumed_ += owners.size();
    if (count == 0 || assumed_ > kMostAssumedShards) return shards;
    notes_.warn(0, "tables have ranks but no shards; equal parts are assumed", "shards");
    const std::int64_t all = by_rows ? table.rows : table.dim;
    const std::int64_t part = (all + count - 1) / count;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t first = std::min(all, part * i);
      const std::int64_t size = std::min(all - first, part);
      const std::int32_t rank = owners[static_cast<std::size_t>(i)];
      if (by_rows) {
        shards.push_back({first, 0, size, table.dim, rank});
      } else {
        shards.push_back({0, first, table.rows, size, rank});
      }
    }
    return shards;
  }

  /// The compute kernel says where the rows lie.
  void set_tier(const TorchrecPlanEntry& entry, TablePlacement& placement) {
    ShardTier tier;
    if (entry.kernel == "fused_uvm_caching" || entry.kernel == "quant_uvm_caching") {
      tier = {Tier::uvm_cached, 0.2};
      notes_.warn(0, "cache load factors are not in the plan; 0.2 is assumed", "cache_params");
    } else if (entry.kernel == "fused_uvm" || entry.kernel == "quant_uvm") {
      tier.tier = Tier::uvm;
    } else if (entry.kernel == "key_value" || entry.kernel == "ssd_virtual_table") {
      tier.tier = Tier::ssd;
    } else {
      return;
    }
    placement.tiers.assign(placement.owners.size(), tier);
  }

  const TorchrecPlan& plan_;
  const Workload& workload_;
  ImportNotes& notes_;
  std::map<std::string, std::size_t> entries_;
  std::vector<std::vector<std::int32_t>> readers_;
  std::size_t assumed_ = 0;  ///< shards that the plan does not list
};

std::vector<std::vector<std::string>> matrix_of(const TorchrecPlan& plan,
                                                const std::vector<std::string>& names) {
  std::vector<std::vector<std::string>> matrix(static_cast<std::size_t>(plan.ranks));
  for (std::size_t i = 0; i < plan.tables.size(); ++i) {
    std::vector<std::int32_t> ranks = plan.tables[i].ranks;
    if (ranks.empty()) {
      for (const TorchrecShardEntry& shard : plan.tables[i].shards) ranks.push_back(shard.rank);
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    for (const std::int32_t rank : ranks) {
      if (rank >= 0) matrix[static_cast<std::size_t>(rank)].push_back(names[i]);
    }
  }
  return matrix;
}

}  // namespace

std::optional<TablePlacement> placement_of_shards(std::vector<TorchrecShardEntry> shards,
                                                  ClusterType cluster) {
  const auto [rows, dim] = extent_of(shards);
  if (shards.empty() || dim == 0 || dim > kWidestTable) return std::nullopt;
  // Empty row shards share an offset: their order in the plan is their rank's.
  std::stable_sort(shards.begin(), shards.end(), [](const auto& a, const auto& b) {
    return a.first_column != b.first_column ? a.first_column < b.first_column
                                            : a.first_row < b.first_row;
  });
  std::vector<std::size_t> begins;
  for (std::size_t s = 0; s < shards.size(); ++s) {
    if (s == 0 || shards[s].first_column != shards[s - 1].first_column) begins.push_back(s);
  }
  const std::size_t columns = begins.size();
  if (shards.size() % columns != 0) return std::nullopt;
  const std::size_t rows_cut = shards.size() / columns;
  TablePlacement placement;
  placement.cluster = cluster;
  placement.mapping = RowMapping::block;
  placement.row_shards = static_cast<std::int32_t>(rows_cut);
  placement.column_cuts = {0};
  placement.row_cuts = {0};
  placement.owners.assign(shards.size(), 0);
  for (std::size_t k = 0; k < columns; ++k) {
    if (begins[k] != k * rows_cut) return std::nullopt;
    const TorchrecShardEntry& head = shards[begins[k]];
    if (head.first_column != placement.column_cuts.back()) return std::nullopt;
    std::int64_t next = 0;
    for (std::size_t j = 0; j < rows_cut; ++j) {
      const TorchrecShardEntry& shard = shards[begins[k] + j];
      const bool fits = shard.first_row == next && shard.columns == head.columns && shard.rank >= 0;
      if (!fits) return std::nullopt;
      next = shard.first_row + shard.rows;
      if (k == 0) placement.row_cuts.push_back(next);
      if (placement.row_cuts[j + 1] != next) return std::nullopt;
      placement.owners[j * columns + k] = shard.rank;
    }
    if (next != rows) return std::nullopt;
    placement.column_cuts.push_back(static_cast<std::int32_t>(head.first_column + head.columns));
  }
  if (rows_cut == 1) {
    placement.mapping = RowMapping::modulo;
    placement.row_cuts.clear();
  }
  return placement;
}

Result<ImportedPlan> resolve_torchrec_plan(const TorchrecPlan& plan, const ImportContext& context,
                                           ImportNotes& notes) {
  ImportedPlan out;
  out.name = "torchrec";
  const std::vector<std::string> names = unique_names(plan);
  out.matrix = matrix_of(plan, names);
  const std::int32_t ranks = context.topology ? context.topology->ranks() : plan.ranks;
  if (ranks < plan.ranks || ranks == 0) {
    return fail({ErrorKind::usage,
                 ranks == 0 ? "the plan names no ranks"
                            : fmt::format("the plan names rank {}, {} has {} ranks", plan.ranks - 1,
                                          context.topology->name, ranks),
                 notes.file(), "a topology with the plan's ranks", "Change --topology"});
  }
  const bool given = context.workload.has_value();
  Workload workload = given ? *context.workload : workload_of_plan(plan, names, notes);
  if (workload.tables.empty()) return out;
  Result<Layout> layout = PlacementMatcher(plan, names, workload, notes).layout(ranks);
  if (!layout && plan.cut) {
    notes.warn_at(layout.error().place,
                  layout.error().what + ": ranks are shown, no layout follows", "the whole plan");
    return out;
  }
  if (!layout) return fail(layout.error());
  layout->name = out.name;
  if (given && plan.tables.size() != workload.tables.size()) {
    notes.warn(0, fmt::format("the plan has {} tables, the workload {}; only those of the workload "
                              "are kept",
                              plan.tables.size(), workload.tables.size()));
  }
  std::int32_t local = plan.local_ranks;
  if (local < 1 || ranks % local != 0) local = ranks % 8 == 0 ? 8 : ranks;
  out.topology =
      context.topology ? *context.topology : machine_for("", ranks / local, local, notes);
  notes.kept(fmt::format("{} tables on {} ranks, module names kept", layout->tables.size(), ranks));
  out.workload = std::move(workload);
  out.layout = std::move(*layout);
  return out;
}

}  // namespace shardscope::storage
