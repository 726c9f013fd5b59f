#include <fmt/core.h>

#include <algorithm>

#include "layout/check_report.hpp"

namespace shardscope {

namespace {

/// More shards of one table than ranks of any world serve nobody.
constexpr std::int64_t kMostShards = 1 << 22;

/// Cut rules of one table. Each function returns whether its part is usable.
class GeometryCheck {
 public:
  GeometryCheck(const CheckInput& input, std::size_t t, Report& report)
      : input_(input),
        table_(input.table(t)),
        placement_(input.placement(t)),
        where_(at_table(t)),
        report_(report) {}

  bool run() {
    const bool columns = check_columns();
    const bool rows = placement_.cluster == ClusterType::DP ? check_replicated() : check_rows();
    return columns && rows && (placement_.cluster == ClusterType::DP || check_owners()) &&
           check_tiers();
  }

 private:
  bool error(const char* rule, std::int64_t amount, std::string message, std::string cure) {
    report_.error(rule, where_, amount, fmt::format("table {}: {}", table_.name, message),
                  std::move(cure));
    return false;
  }

  bool check_columns() {
    const std::vector<std::int32_t>& cuts = placement_.column_cuts;
    const std::string cure = fmt::format("Use ascending bounds from 0 to {}", table_.dim);
    if (cuts.size() < 2) return error("columns.cuts", 0, "no column bounds", cure);
    for (std::size_t k = 1; k < cuts.size(); ++k) {
      if (cuts[k] > cuts[k - 1]) continue;
      where_.column = static_cast<std::int32_t>(k) - 1;
      error("columns.cuts", cuts[k] - std::int64_t{cuts[k - 1]},
            fmt::format("column shard {} runs from {} to {}", k - 1, cuts[k - 1], cuts[k]), cure);
      where_.column = -1;
      return false;
    }
    if (cuts.front() == 0 && cuts.back() == table_.dim) return true;
    return error("columns.coverage", std::int64_t{table_.dim} - cuts.back() + cuts.front(),
                 fmt::format("column shards cover {} to {} of {} columns", cuts.front(),
                             cuts.back(), table_.dim),
                 cure);
  }

  bool check_replicated() {
    if (!placement_.owners.empty()) {
      return error("dp.owners", static_cast<std::int64_t>(placement_.owners.size()),
                   "it is replicated (DP) and yet lists owners",
                   "Remove the owners, or move it to RB or UB");
    }
    if (placement_.row_shards != 1 || placement_.column_cuts.size() > 2) {
      return error("dp.cut", std::int64_t{placement_.row_shards} * placement_.column_shards(),
                   "it is replicated (DP) and yet cut",
                   "Make it one shard of all rows and columns");
    }
    return true;
  }

  bool check_rows() {
    const std::int64_t shards =
        std::int64_t{placement_.row_shards} * std::max(placement_.column_shards(), 1);
    if (placement_.row_shards < 1 || shards > kMostShards) {
      return error("rows.shards", placement_.row_shards,
                   fmt::format("it has {} row shards", placement_.row_shards),
                   fmt::format("Use at least one, and at most {} shards a table", kMostShards));
    }
    return placement_.mapping == RowMapping::block ? check_row_cuts() : check_modulo();
  }

  bool check_modulo() {
    if (!placement_.row_cuts.empty()) {
      return error("rows.cuts_need_block", static_cast<std::int64_t>(placement_.row_cuts.size()),
                   "it has row bounds, but modulo rows form equal residue classes",
                   "Set its mapping to block, or remove the bounds");
    }
    if (table_.rows >= placement_.row_shards || table_.rows < 1) return true;
    report_.warning("rows.empty_shard", where_, placement_.row_shards - table_.rows,
                    fmt::format("table {}: {} of {} row shards hold no row", table_.name,
                                placement_.row_shards - table_.rows, placement_.row_shards),
                    fmt::format("Use at most {} row shards", table_.rows));
    return true;
  }

  bool check_row_cuts() {
    const std::vector<std::int64_t>& cuts = placement_.row_cuts;
    const std::string cure = fmt::format("Use {} ascending bounds from 0 to {}",
                                         std::int64_t{placement_.row_shards} + 1, table_.rows);
    if (static_cast<std::int64_t>(cuts.size()) != std::int64_t{placement_.row_shards} + 1) {
      return error(
          "rows.cuts", static_cast<std::int64_t>(cuts.size()),
          fmt::format("{} row bounds for {} row shards", cuts.size(), placement_.row_shards), cure);
    }
    for (std::size_t j = 1; j < cuts.size(); ++j) {
      where_.row = static_cast<std::int32_t>(j) - 1;
      if (cuts[j] < cuts[j - 1]) {
        error("rows.cuts", 0,
              fmt::format("row shard {} runs from {} to {}", j - 1, cuts[j - 1], cuts[j]), cure);
        where_.row = -1;
        return false;
      }
      if (cuts[j] == cuts[j - 1]) {
        report_.warning("rows.empty_shard", where_, 1,
                        fmt::format("table {}: row shard {} holds no row", table_.name, j - 1),
                        "Remove it, unless the executor needs one shard a rank");
      }
    }
    where_.row = -1;
    if (cuts.front() == 0 && cuts.back() == table_.rows) return true;
    return error(
        "rows.coverage", table_.rows - cuts.back() + cuts.front(),
        fmt::format("row shards cover {} to {} of {} rows", cuts.front(), cuts.back(), table_.rows),
        cure);
  }

  bool check_owners() {
    const std::int64_t shards = std::int64_t{placement_.row_shards} * placement_.column_shards();
    const auto owners = static_cast<std::int64_t>(placement_.owners.size());
    if (owners != shards) {
      return error("owners.count", shards - owners,
                   fmt::format("{} shards have {} owners", shards, owners),
                   "Give every shard exactly one owner");
    }
    bool valid = true;
    for (std::size_t cell = 0; cell < placement_.owners.size(); ++cell) {
      const std::int32_t owner = placement_.owners[cell];
      if (owner >= 0 && owner < input_.topology.ranks()) continue;
      const auto columns = static_cast<std::size_t>(placement_.column_shards());
      Where where = where_;
      where.row = static_cast<std::int32_t>(cell / columns);
      where.column = static_cast<std::int32_t>(cell % columns);
      where.rank = owner;
      report_.error("owners.range", where, owner,
                    fmt::format("table {}: shard ({}, {}) belongs to rank {}", table_.name,
                                where.row, where.column, owner),
                    fmt::format("Choose a rank from 0 to {}", input_.topology.ranks() - 1));
      valid = false;
    }
    return valid;
  }

  bool check_tiers() {
    const std::vector<ShardTier>& tiers = placement_.tiers;
    const std::size_t shards = placement_.cluster == ClusterType::DP ? 1 : placement_.owners.size();
    if (!tiers.empty() && tiers.size() != shards) {
      return error("tiers.count", static_cast<std::int64_t>(tiers.size()),
                   fmt::format("{} shards have {} tiers", shards, tiers.size()),
                   "Give every shard one tier, or none for hbm throughout");
    }
    for (const ShardTier& tier : tiers) {
      if (tier.cache_load_factor > 0 && tier.cache_load_factor <= 1) continue;
      return error("tiers.cache_load_factor", 0,
                   fmt::format("its cache_load_factor is {}", tier.cache_load_factor),
                   "Use a share above 0 and at most 1");
    }
    return true;
  }

  const CheckInput& input_;
  const Table& table_;
  const TablePlacement& placement_;
  Where where_;
  Report& report_;
};

}  // namespace

bool check_agreement(const CheckInput& input, Report& report) {
  const Workload& workload = input.workload;
  const Layout& layout = input.layout;
  bool agreed = true;
  if (layout.ranks != input.topology.ranks()) {
    report.error("layout.ranks", {}, layout.ranks,
                 fmt::format("the layout was made for {} ranks, the topology has {}", layout.ranks,
                             input.topology.ranks()),
                 "Choose a topology of that many ranks, or make a layout for this one");
    agreed = false;
  }
  if (layout.tables.size() != workload.tables.size() ||
      layout.table_names.size() != layout.tables.size()) {
    report.error(
        "layout.tables", {}, static_cast<std::int64_t>(layout.tables.size()),
        fmt::format("the layout places {} tables under {} names, the workload has {}",
                    layout.tables.size(), layout.table_names.size(), workload.tables.size()),
        "Place every table of this workload once, in its order");
    return false;
  }
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    if (layout.table_names[t] == workload.tables[t].name) continue;
    report.error("layout.table_name", at_table(t), 0,
                 fmt::format("the layout's table {} is {}, the workload's is {}", t,
                             layout.table_names[t], workload.tables[t].name),
                 "Use the layout's own workload, or rename or reorder its tables");
    agreed = false;
  }
  return agreed;
}

bool check_geometry(const CheckInput& input, std::size_t table, Report& report) {
  return GeometryCheck(input, table, report).run();
}

}  // namespace shardscope
