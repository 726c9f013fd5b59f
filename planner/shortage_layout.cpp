// Shortages of one layout: its crowded GPUs and the moves that relieve them.

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "layout/check.hpp"
#include "layout/memory.hpp"
#include "planner/edits.hpp"
#include "planner/explain.hpp"
#include "planner/plan_context.hpp"
#include "planner/shortage.hpp"
#include "planner/table_memory.hpp"

namespace shardscope {

namespace {

constexpr std::size_t kTablesOfAGpu = 3;
constexpr int kMostMoves = 64;

std::size_t element_of(std::int32_t index) {
  return static_cast<std::size_t>(index);
}

/// Weights and state of a table on a rank.
double bytes_on(const Table& table, const TablePlacement& placement, std::int32_t rank) {
  if (placement.cluster == ClusterType::DP) return stored_bytes(table);
  double bytes = 0;
  for (std::int32_t j = 0; j < placement.row_shards; ++j)
    for (std::int32_t k = 0; k < placement.column_shards(); ++k)
      if (placement.owner(j, k) == rank)
        bytes += stored_bytes(table, static_cast<double>(placement.rows_in(j, table.rows)),
                              placement.width(k));
  return bytes;
}

class LayoutRelief {
 public:
  LayoutRelief(const Workload& workload, const Topology& topology, const Layout& layout,
               const PredictOptions& options)
      : context_(workload, topology, options), layout_(layout) {}

  std::optional<LayoutShortage> run() {
    found_.capacity_bytes = context_.topology.gpu.memory_bytes.value;
    if (found_.capacity_bytes <= 0 || !look()) return std::nullopt;
    found_.largest_batch = largest_batch();
    found_.table_bound = found_.largest_batch == 0;
    move();
    return std::move(found_);
  }

 private:
  [[nodiscard]] const Table& table(std::size_t t) const { return context_.workload.tables[t]; }

  /// Fills the crowded GPUs; false where there is none.
  bool look() {
    const MemoryAccount account =
        memory_of(context_.workload, context_.topology, layout_, context_.options.executor);
    for (std::int32_t r = 0; r < context_.topology.ranks(); ++r) {
      const double over =
          static_cast<double>(account.gpus[element_of(r)].total()) - found_.capacity_bytes;
      if (over <= 0) continue;
      CrowdedGpu& gpu = found_.gpus.emplace_back(CrowdedGpu{r, over, {}});
      for (std::size_t t = 0; t < layout_.tables.size(); ++t) {
        const double bytes = bytes_on(table(t), layout_.tables[t], r);
        if (bytes > 0) gpu.largest.push_back({static_cast<std::int32_t>(t), bytes});
      }
      std::stable_sort(gpu.largest.begin(), gpu.largest.end(),
                       [](const TableBytes& a, const TableBytes& b) { return a.bytes > b.bytes; });
      if (gpu.largest.size() > kTablesOfAGpu) gpu.largest.resize(kTablesOfAGpu);
    }
    std::stable_sort(
        found_.gpus.begin(), found_.gpus.end(),
        [](const CrowdedGpu& a, const CrowdedGpu& b) { return a.short_bytes > b.short_bytes; });
    return !found_.gpus.empty();
  }

  [[nodiscard]] bool holds(std::int64_t samples) const {
    Workload other = context_.workload;
    other.global_batch = samples * context_.topology.ranks();
    const MemoryAccount account =
        memory_of(other, context_.topology, layout_, context_.options.executor);
    return std::all_of(account.gpus.begin(), account.gpus.end(), [&](const MemoryUse& use) {
      return static_cast<double>(use.total()) <= found_.capacity_bytes;
    });
  }

  /// To 2 %, in whole samples a GPU.
  [[nodiscard]] std::int64_t largest_batch() const {
    if (!holds(1)) return 0;
    const std::int64_t ranks = context_.topology.ranks();
    std::int64_t fits = 1,
                 fails = std::max<std::int64_t>(2, context_.workload.global_batch / ranks);
    while (fails - fits > std::max<std::int64_t>(1, fits / 50)) {
      const std::int64_t middle = (fits + fails) / 2;
      (holds(middle) ? fits : fails) = middle;
    }
    return fits * ranks;
  }

  /// Takes the fullest GPU's most suitable table elsewhere until all fit.
  void move() {
    const MemoryModel& model = context_.memory;
    Layout moved = layout_;
    MemoryLoads loads = model.of(moved);
    for (int moves = 0; moves < kMostMoves; ++moves) {
      const std::int32_t fullest = fullest_of(loads);
      const double over = model.bytes(loads, fullest) - model.capacity();
      if (over <= 0) {
        for (const Violation& violation :
             check(context_.workload, context_.topology, moved, context_.options.executor))
          if (violation.severity == Severity::error) {
            found_.moves.clear();
            return;
          }
        moved.name = layout_.name + ", moved";
        found_.moved = std::move(moved);
        return;
      }
      if (!move_one(moved, loads, fullest, over)) break;
    }
    found_.moves.clear();
  }

  [[nodiscard]] std::int32_t fullest_of(const MemoryLoads& loads) const {
    std::int32_t fullest = 0;
    for (std::int32_t r = 1; r < context_.topology.ranks(); ++r)
      if (context_.memory.bytes(loads, r) > context_.memory.bytes(loads, fullest)) fullest = r;
    return fullest;
  }

  /// Tables of the rank: the smallest that alone frees enough first, then the larger ones falling.
  [[nodiscard]] std::vector<std::size_t> candidates(const Layout& layout, std::int32_t rank,
                                                    double over) const {
    std::vector<std::pair<double, std::size_t>> there;
    for (std::size_t t = 0; t < layout.tables.size(); ++t) {
      const double bytes = bytes_on(table(t), layout.tables[t], rank);
      if (bytes > 0) there.emplace_back(bytes, t);
    }
    std::sort(there.begin(), there.end());
    const auto enough = std::find_if(there.begin(), there.end(),
                                     [&](const auto& one) { return one.first >= over; });
    std::vector<std::size_t> order;
    for (auto it = enough; it != there.end(); ++it) order.push_back(it->second);
    for (auto it = enough; it != there.begin();) order.push_back((--it)->second);
    return order;
  }

  bool move_one(Layout& layout, MemoryLoads& loads, std::int32_t from, double over) {
    for (const std::size_t t : candidates(layout, from, over)) {
      for (TablePlacement& placement : elsewhere(t, layout.tables[t], from, loads)) {
        const TablePlacement before = layout.tables[t];
        const double had = context_.memory.bytes(loads, from);
        replace(layout, loads, t, placement);
        const double most_touched = most_of(loads, placement);
        if (context_.memory.bytes(loads, from) < had &&
            most_touched <= context_.memory.capacity()) {
          found_.moves.push_back(fmt::format("{}: {} instead of {}", table(t).name,
                                             describe(placement, layout.exchange_of(t)),
                                             describe(before, layout.exchange_of(t))));
          return true;
        }
        replace(layout, loads, t, before);
      }
    }
    return false;
  }

  /// Largest of the ranks that hold shards, the one left behind excluded.
  [[nodiscard]] double most_of(const MemoryLoads& loads, const TablePlacement& placement) const {
    double most = 0;
    for (const std::int32_t owner : placement.owners)
      most = std::max(most, context_.memory.bytes(loads, owner));
    return most;
  }

  void replace(Layout& layout, MemoryLoads& loads, std::size_t t, TablePlacement placement) {
    const bool dedup = layout.options(ClusterType::UB).dedup;
    context_.memory.add(loads, t, layout.tables[t], layout.exchange_of(t), dedup, -1);
    layout.tables[t] = std::move(placement);
    context_.memory.add(loads, t, layout.tables[t], layout.exchange_of(t), dedup, 1);
  }

  /// Ranks by rising memory, `not_here` excluded.
  [[nodiscard]] std::vector<std::int32_t> emptiest(const MemoryLoads& loads,
                                                   std::int32_t not_here) const {
    std::vector<std::pair<double, std::int32_t>> ranks;
    for (std::int32_t r = 0; r < context_.topology.ranks(); ++r)
      if (r != not_here) ranks.emplace_back(context_.memory.bytes(loads, r), r);
    std::sort(ranks.begin(), ranks.end());
    std::vector<std::int32_t> order;
    for (const auto& one : ranks) order.push_back(one.second);
    return order;
  }

  /// The table with its shards of `from` on the emptiest GPU, or cut in rows over several.
  [[nodiscard]] std::vector<TablePlacement> elsewhere(std::size_t t,
                                                      const TablePlacement& placement,
                                                      std::int32_t from,
                                                      const MemoryLoads& loads) const {
    std::vector<TablePlacement> all;
    const std::vector<std::int32_t> ranks = emptiest(loads, from);
    if (ranks.empty()) return all;
    const bool torchrec = context_.options.executor == Executor::torchrec;
    const auto keep = [&](TablePlacement made) {
      made.exchange = placement.exchange;
      made.codecs = placement.codecs;
      all.push_back(context_.options.executor == Executor::hugectr ? in_hugectr_order(made) : made);
    };
    const ClusterType sharded =
        context_.facts.tables[t].unpooled > 0 ? ClusterType::UB : ClusterType::RB;
    const ClusterType cluster = placement.cluster == ClusterType::DP ? sharded : placement.cluster;
    if (placement.cluster == ClusterType::DP) {
      keep(table_wise(table(t), ranks.front(), cluster));
    } else {
      for (const std::int32_t to : ranks) {
        if (std::find(placement.owners.begin(), placement.owners.end(), to) !=
            placement.owners.end())
          continue;
        TablePlacement made = placement;
        std::replace(made.owners.begin(), made.owners.end(), from, to);
        keep(std::move(made));
        break;
      }
    }
    // Cut in rows over the others, and over all of them.
    std::vector<std::int32_t> everyone = ranks;
    everyone.push_back(from);
    for (const std::size_t rows : {2U, 3U, 4U, 6U, 8U}) {
      if (torchrec || rows > everyone.size() || table(t).rows < static_cast<std::int64_t>(rows))
        break;
      keep(row_wise(table(t),
                    {everyone.begin(), everyone.begin() + static_cast<std::ptrdiff_t>(rows)},
                    cluster));
    }
    return all;
  }

  const PlanContext context_;
  const Layout& layout_;
  LayoutShortage found_;
};

}  // namespace

std::optional<LayoutShortage> find_layout_shortage(const Workload& workload,
                                                   const Topology& topology, const Layout& layout,
                                                   const PredictOptions& options) {
  return LayoutRelief(workload, topology, layout, options).run();
}

}  // namespace shardscope
