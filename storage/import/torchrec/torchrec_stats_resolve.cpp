#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "storage/import/tbe_config.hpp"
#include "storage/import/torchrec/stats_columns.hpp"
#include "storage/import/torchrec/stats_dtype.hpp"
#include "storage/import/torchrec/torchrec_stats.hpp"

namespace shardscope::storage {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
constexpr std::size_t kHotTables = 10;
/// Of all tables together: far above real plans, low enough for memory.
constexpr std::size_t kMostReportFeatures = std::size_t{1} << 17;
constexpr std::size_t kMostReportShards = std::size_t{1} << 20;

struct ShortName {
  const char* printed;
  const char* form;
};

constexpr ShortName kShortNames[] = {{"DP", "data_parallel"},    {"TW", "table_wise"},
                                     {"CW", "column_wise"},      {"RW", "row_wise"},
                                     {"TWRW", "table_row_wise"}, {"TWCW", "table_column_wise"},
                                     {"GS", "grid_shard"}};

std::string form_of(const std::string& printed) {
  for (const ShortName& name : kShortNames) {
    if (printed == name.printed) return name.form;
  }
  return printed;
}

class StatsResolver {
 public:
  StatsResolver(const TorchrecStats& stats, const ImportContext& context, ImportNotes& notes)
      : stats_(stats), context_(context), notes_(notes) {}

  Result<ImportedPlan> resolve() {
    ranks_ = world();
    out_.name = "torchrec-plan";
    out_.facts = stats_.facts;
    sum_ranks();
    if (stats_.tables.empty()) {
      notes_.warn(0, "the report has no table section: ranks are shown, no layout follows",
                  "planner statistics printed with debug=True");
      return std::move(out_);
    }
    compare_shards();
    read_machine();
    const StatsTypes types = stats_types(stats_, ranks_);
    notes_.kept(types.note);
    out_.matrix.resize(static_cast<std::size_t>(ranks_));
    workload_.name = "imported";
    workload_.source = notes_.file();
    workload_.key = KeyType::i64;
    workload_.wire = std::count(types.tables.begin(), types.tables.end(), DType::fp16) * 2 >
                             static_cast<std::ptrdiff_t>(types.tables.size())
                         ? DType::fp16
                         : DType::fp32;
    std::map<std::string, int> names;
    for (const StatsTable& table : stats_.tables) ++names[short_name(table)];
    std::map<std::string, int> copies;
    for (std::size_t t = 0; t < stats_.tables.size(); ++t) {
      const StatsTable& table = stats_.tables[t];
      std::string name = names[short_name(table)] > 1 ? table.fqn : short_name(table);
      const int copy = ++copies[name];
      if (copy > 1) {
        notes_.warn(table.line,
                    quoted_piece(table.fqn) + fmt::format(" is printed again; kept as "
                                                          "{}#{}",
                                                          name, copy),
                    "every table once");
        name += fmt::format("#{}", copy);
      }
      add_table(table, name, types.tables[t]);
    }
    read_batch();
    if (workload_.tables.empty()) return std::move(out_);
    layout_.name = out_.name;
    layout_.ranks = ranks_;
    layout_.clusters[static_cast<std::size_t>(ClusterType::UB)].dedup = false;
    notes_.kept(
        fmt::format("{} tables on {} ranks; their optimizer is not printed: row-wise "
                    "adagrad is taken",
                    workload_.tables.size(), ranks_));
    out_.workload = std::move(workload_);
    out_.layout = std::move(layout_);
    return std::move(out_);
  }

 private:
  static std::string short_name(const StatsTable& table) {
    const std::size_t dot = table.fqn.rfind('.');
    return dot == std::string::npos ? table.fqn : table.fqn.substr(dot + 1);
  }

  [[nodiscard]] std::int32_t world() const {
    std::int32_t most = 0;
    for (const StatsRank& rank : stats_.ranks) most = std::max(most, rank.rank + 1);
    for (const StatsTable& table : stats_.tables) {
      for (const std::int32_t rank : table.ranks) most = std::max(most, rank + 1);
    }
    return std::max(most, 1);
  }

  /// A table's estimate is the sum over its shards or replicas; equal ones share it equally.
  [[nodiscard]] static double share_ms(const StatsTable& table) {
    if (!(table.perf.total_ms >= 0) || table.ranks.empty()) return 0;
    return table.perf.total_ms / static_cast<double>(table.ranks.size());
  }

  void sum_ranks() {
    PlanEstimate estimate;
    const auto size = static_cast<std::size_t>(ranks_);
    estimate.rank_ms.assign(size, 0);
    for (const StatsTable& table : stats_.tables) {
      const double share = share_ms(table);
      for (const std::int32_t rank : table.ranks) {
        estimate.rank_ms[static_cast<std::size_t>(rank)] += share;
      }
    }
    const bool printed = stats_.ranks.size() == size;
    if (printed) {
      estimate.printed_rank_ms.assign(size, 0);
      for (const StatsRank& rank : stats_.ranks) {
        estimate.printed_rank_ms[static_cast<std::size_t>(rank.rank)] = rank.perf.total_ms;
      }
    }
    const std::vector<double>& shown =
        stats_.tables.empty() && printed ? estimate.printed_rank_ms : estimate.rank_ms;
    const auto hot = std::max_element(shown.begin(), shown.end());
    estimate.hot_rank = static_cast<std::int32_t>(hot - shown.begin());
    if (stats_.tables.empty()) estimate.rank_ms = shown;
    std::map<std::string, double> hot_tables;
    for (const StatsTable& table : stats_.tables) {
      const auto shards = std::count(table.ranks.begin(), table.ranks.end(), estimate.hot_rank);
      const double ms = share_ms(table) * static_cast<double>(shards);
      if (ms > 0) hot_tables[short_name(table)] += ms;
    }
    estimate.hot_tables.assign(hot_tables.begin(), hot_tables.end());
    std::stable_sort(estimate.hot_tables.begin(), estimate.hot_tables.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    if (estimate.hot_tables.size() > kHotTables) estimate.hot_tables.resize(kHotTables);
    out_.estimate = std::move(estimate);
  }

  /// A report that was cut inside its table section still has every rank's count of shards.
  void compare_shards() {
    double listed = 0;
    for (const StatsRank& rank : stats_.ranks) {
      for (const double count : stats_numbers(rank.shards)) listed += count;
    }
    double found = 0;
    for (const StatsTable& table : stats_.tables) found += static_cast<double>(table.ranks.size());
    if (found >= listed) return;
    notes_.warn(0,
                fmt::format("the ranks list {:.0f} shards, the table section {:.0f}: tables are "
                            "missing",
                            listed, found),
                "the whole table section");
  }

  void read_machine() {
    const std::int32_t local = ranks_ % 8 == 0 ? 8 : ranks_;
    Topology topology =
        context_.topology ? *context_.topology : machine_for("", ranks_ / local, local, notes_);
    if (stats_.planning_hbm_gib > 0 && !context_.topology) {
      topology.gpu.memory_bytes.value = (stats_.planning_hbm_gib + stats_.reserved_hbm_gib) * kGib;
      topology.gpu.memory_bytes.origin = Origin::published;
      topology.gpu.memory_bytes.source = notes_.file() + ": planning and reserved memory";
      topology.reserve_bytes = static_cast<std::int64_t>(
          (stats_.reserved_hbm_gib + stats_.dense_hbm_gib + stats_.kjt_hbm_gib) * kGib);
    }
    if (topology.ranks() < ranks_) {
      notes_.warn(0, fmt::format("the report names rank {}, {} has {} ranks: no topology is kept",
                                 ranks_ - 1, topology.name, topology.ranks()));
      return;
    }
    ranks_ = topology.ranks();
    out_.topology = std::move(topology);
  }

  void read_batch() {
    std::int64_t batch = stats_.batch_per_rank;
    if (batch <= 0) {
      batch = 512;
      notes_.warn(0, "the report names no batch; TorchRec's default of 512 samples a rank is taken",
                  "Batch Size: N");
    }
    workload_.global_batch = batch * ranks_;
  }

  void add_table(const StatsTable& entry, const std::string& name, DType dtype) {
    const auto left_out = [&](const char* why) {
      notes_.warn(entry.line,
                  quoted_piece(entry.fqn) + " is left out of workload and layout: " + why,
                  "hash size, embedding dim and ranks");
    };
    if (entry.rows <= 0 || entry.dim <= 0) return left_out("its size is missing");
    shards_ += entry.ranks.size();
    if (workload_.features.size() + static_cast<std::size_t>(entry.features) >
            kMostReportFeatures ||
        shards_ > kMostReportShards) {
      return left_out("the report has too many features or shards");
    }
    Table table;
    table.name = name;
    table.rows = entry.rows;
    table.dim = static_cast<std::int32_t>(entry.dim);
    table.dtype = entry.element_bytes == 4   ? DType::fp32
                  : entry.element_bytes == 2 ? DType::fp16
                                             : dtype;
    table.optimizer = make_optimizer(OptimizerKind::rowwise_adagrad);
    table.optimizer.per_shard = true;
    const std::size_t dot = entry.fqn.rfind('.');
    if (dot != std::string::npos) table.module_path = entry.fqn.substr(0, dot);
    auto placement = place(entry, table);
    if (!placement) return left_out("its ranks are missing or do not fit its sharding");
    const std::set<std::int32_t> owners(entry.ranks.begin(), entry.ranks.end());
    for (const std::int32_t rank : owners) {
      out_.matrix[static_cast<std::size_t>(rank)].push_back(name);
    }
    add_features(entry, name);
    layout_.table_names.push_back(name);
    layout_.tables.push_back(std::move(*placement));
    workload_.tables.push_back(std::move(table));
  }

  void add_features(const StatsTable& entry, const std::string& name) {
    // The sums are printed, not the features: bags are dealt out evenly, ids to every bag.
    const auto bags = static_cast<std::int64_t>(
        std::clamp(std::round(entry.sum_num_poolings), double(entry.features), 1e6));
    const double a_feature = entry.sum_num_poolings / entry.features;
    const double ids = entry.num_indices >= 0 ? entry.num_indices : entry.sum_pooling * a_feature;
    for (std::int32_t f = 0; f < entry.features; ++f) {
      Feature feature;
      feature.name = entry.features == 1 ? name : fmt::format("{}.{}", name, f);
      feature.table = static_cast<std::int32_t>(workload_.tables.size());
      feature.pooling = entry.pooled ? Pooling::sum : Pooling::sequence;
      feature.weighted = entry.weighted && entry.pooled;
      feature.num_poolings =
          static_cast<std::int32_t>(bags / entry.features + (f < bags % entry.features ? 1 : 0));
      feature.hotness = hotness_with_mean(ids / static_cast<double>(bags));
      workload_.features.push_back(std::move(feature));
    }
  }

  /// Ranks are printed in ascending order. A column of grid_shard lies by rows over the ranks of
  /// one host: ranks are taken in runs of `rows` different ones, as often as they occur. Which of
  /// the equal columns a host has is not told and makes no difference.
  static std::vector<std::int32_t> ranks_by_column(const std::vector<std::int32_t>& printed,
                                                   std::int64_t rows) {
    std::map<std::int32_t, std::int64_t> left;
    for (const std::int32_t rank : printed) ++left[rank];
    std::vector<std::int32_t> ranks;
    while (!left.empty()) {
      std::int64_t taken = 0;
      for (auto it = left.begin(); it != left.end() && taken < rows; ++taken) {
        ranks.push_back(it->first);
        it = --it->second == 0 ? left.erase(it) : std::next(it);
      }
      if (taken < rows) return printed;  // of no host's shape
    }
    return ranks;
  }

  [[nodiscard]] std::optional<TablePlacement> place(const StatsTable& entry,
                                                    const Table& table) const {
    const std::string form = form_of(entry.sharding);
    const ClusterType cluster = entry.pooled ? ClusterType::RB : ClusterType::UB;
    if (form == "data_parallel") return data_parallel(table);
    if (entry.ranks.empty()) return std::nullopt;
    const auto shards = static_cast<std::int64_t>(entry.ranks.size());
    const bool cut_columns =
        form == "column_wise" || form == "table_column_wise" || form == "grid_shard";
    std::int64_t columns = 1;
    if (cut_columns) {
      columns = form != "grid_shard"     ? shards
                : entry.column_width > 0 ? (entry.dim + entry.column_width - 1) / entry.column_width
                                         : 0;
    }
    if (columns < 1 || shards % columns != 0 || columns > entry.dim) return std::nullopt;
    const std::int64_t rows = shards / columns;
    const std::int64_t width = entry.column_width > 0 &&
                                       entry.column_width * columns >= entry.dim &&
                                       entry.column_width * (columns - 1) < entry.dim
                                   ? entry.column_width
                                   : (entry.dim + columns - 1) / columns;
    const std::int64_t block = (entry.rows + rows - 1) / rows;
    TablePlacement placement;
    placement.cluster = cluster;
    placement.row_shards = static_cast<std::int32_t>(rows);
    if (rows > 1) {
      placement.mapping = RowMapping::block;
      for (std::int64_t j = 0; j <= rows; ++j) {
        placement.row_cuts.push_back(std::min(entry.rows, block * j));
      }
    }
    for (std::int64_t k = 0; k <= columns; ++k) {
      placement.column_cuts.push_back(static_cast<std::int32_t>(std::min(entry.dim, width * k)));
    }
    const std::vector<std::int32_t> ranks =
        columns > 1 && rows > 1 ? ranks_by_column(entry.ranks, rows) : entry.ranks;
    placement.owners.assign(ranks.size(), 0);
    for (std::int64_t k = 0; k < columns; ++k) {
      for (std::int64_t j = 0; j < rows; ++j) {
        placement.owners[static_cast<std::size_t>(j * columns + k)] =
            ranks[static_cast<std::size_t>(k * rows + j)];
      }
    }
    if (cluster == ClusterType::RB && (form == "table_row_wise" || form == "grid_shard")) {
      placement.exchange = Exchange::hierarchical;
    }
    if (entry.kernel.find("uvm_caching") != std::string::npos) {
      const double load = entry.cache_load_factor >= 0 && entry.cache_load_factor <= 1
                              ? entry.cache_load_factor
                              : 0.2;
      placement.tiers.assign(placement.owners.size(), {Tier::uvm_cached, load});
    } else if (entry.kernel.find("uvm") != std::string::npos) {
      placement.tiers.assign(placement.owners.size(), {Tier::uvm, 1.0});
    }
    return placement;
  }

  const TorchrecStats& stats_;
  const ImportContext& context_;
  ImportNotes& notes_;
  std::int32_t ranks_ = 0;
  std::size_t shards_ = 0;
  Workload workload_;
  Layout layout_;
  ImportedPlan out_;
};

}  // namespace

Result<ImportedPlan> resolve_torchrec_stats(const TorchrecStats& stats,
                                            const ImportContext& context, ImportNotes& notes) {
  return StatsResolver(stats, context, notes).resolve();
}

}  // namespace shardscope::storage
