#pragma once
// What one shard costs its GPU, stage by stage: the numbers behind the blocks of the shard map.
// The same sums and constants as the planner's, without launches, latencies and waiting, which no
// single shard causes; so shards add up to a GPU's load, not to its share of the iteration.

#include <array>
#include <memory>
#include <vector>

#include "layout/layout.hpp"
#include "layout/schedule.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"
#include "planner/cost_model.hpp"
#include "planner/layout_loads.hpp"
#include "ui/model/edits.hpp"

namespace shardscope::ui {

using StageSeconds = std::array<double, kStages>;

/// Share of index_calculation that counts as load: the rest hides behind the dense part.
inline constexpr double kSortShare = 0.35;

/// Lookup, wires both ways, reduce, update, and the share of the sort.
[[nodiscard]] double load_seconds(const StageSeconds& stages);

/// Prices shards of one workload on one topology. Keeps copies.
class ShardCosts {
 public:
  ShardCosts(const Workload& workload, const Topology& topology, const PredictOptions& options);
  ShardCosts(const ShardCosts&) = delete;
  ShardCosts& operator=(const ShardCosts&) = delete;
  ~ShardCosts();

  /// A shard of an RB or UB table.
  [[nodiscard]] StageSeconds of(const Layout& layout, const ShardId& shard) const;
  /// A DP table on any one GPU.
  [[nodiscard]] StageSeconds replicated(std::size_t table) const;
  /// Per rank: all its shards and the DP tables.
  [[nodiscard]] std::vector<double> loads(const Layout& layout) const;
  /// Adds (times 1) or takes out (-1) one table's loads, by rank.
  void add_table(const Layout& layout, std::size_t table, double times,
                 std::vector<double>& loads) const;
  /// Over all its shards (DP: over all ranks).
  [[nodiscard]] StageSeconds table(const Layout& layout, std::size_t table) const;

  [[nodiscard]] const TableFacts& facts(std::size_t table) const;
  /// Bytes a shard sends in one iteration, both ways.
  [[nodiscard]] double wire_bytes(const Layout& layout, const ShardId& shard) const;

 private:
  struct State;
  [[nodiscard]] LoadModel::ShardShape shape_of(const Layout& layout, const ShardId& shard) const;
  std::unique_ptr<State> state_;
};

/// Weights and optimizer state of a shard.
[[nodiscard]] double shard_bytes(const Workload& workload, const Layout& layout,
                                 const ShardId& shard);
[[nodiscard]] double table_bytes(const Table& table);

}  // namespace shardscope::ui
