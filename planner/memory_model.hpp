#pragma once
// Memory of a layout as sums and maxima over tables, so that a search can move one table at a time.
// The rules are those of layout/memory.hpp, all but rounding, alignment and buffers of counts. A
// plan's last word is check().

#include <cstdint>
#include <vector>

#include "layout/executor.hpp"
#include "layout/layout.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"
#include "planner/engine_memory.hpp"
#include "planner/table_memory.hpp"

namespace shardscope {

/// Bytes that every rank has, those of its domain, and its own.
struct MemoryLoads {
  double common = 0;
  std::vector<double> domain;
  std::vector<double> rank;
  StagingSizes common_staging;
  std::vector<StagingSizes> rank_staging;
};

class MemoryModel {
 public:
  /// Keeps references: the arguments must outlive it.
  MemoryModel(const Workload& workload, const Topology& topology, Executor executor);

  /// Without tables: outputs, dense part, reserve.
  [[nodiscard]] MemoryLoads empty() const;
  /// Puts a table in (sign 1), or takes it out where it was put in so before (-1).
  void add(MemoryLoads& loads, std::size_t table, const TablePlacement& placement,
           Exchange exchange, bool dedup, double sign) const;
  /// What add() adds.
  [[nodiscard]] TableMemory of(std::size_t table, const TablePlacement& placement,
                               Exchange exchange, bool dedup) const;
  [[nodiscard]] MemoryLoads of(const Layout& layout) const;
  [[nodiscard]] double bytes(const MemoryLoads& loads, std::int32_t rank) const;
  [[nodiscard]] double most(const MemoryLoads& loads) const;
  [[nodiscard]] double capacity() const;

  /// What one shard (row shard's share of the rows, width) adds to its owner, and its table to
  /// every rank, staging left out. For planning before owners are known.
  [[nodiscard]] double shard_bytes(std::size_t table, ClusterType cluster, double row_share,
                                   double width) const;
  [[nodiscard]] double replicated_bytes(std::size_t table) const;

 private:
  struct TableSize;
  [[nodiscard]] double resident_bytes(const TableSize& table, double rows, double width) const;
  [[nodiscard]] double consumer_bytes(const TableSize& table, ClusterType cluster,
                                      double row_shards, double column_shards) const;

  const Topology& topology_;
  Executor executor_;
  EngineMemory engine_;
  std::vector<TableSize> tables_;
  double common_ = 0;
  double batch_ = 0, rank_batch_ = 0, wire_ = 4, key_ = 4;

 public:
  MemoryModel(const MemoryModel&) = delete;
  MemoryModel& operator=(const MemoryModel&) = delete;
  ~MemoryModel();
};

}  // namespace shardscope
