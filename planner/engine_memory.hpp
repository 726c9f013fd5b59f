#pragma once
// The engine's buffers (layout/buffers.hpp) table by table, under the schedule that holds the most
// and with the expected lengths of layout/bytes.hpp. Left out: alignment, buffers of counts.

#include <cstdint>
#include <vector>

#include "layout/layout.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"
#include "planner/table_memory.hpp"

namespace shardscope {

class EngineMemory {
 public:
  /// Keeps references: the arguments must outlive it.
  EngineMemory(const Workload& workload, const Topology& topology);

  /// On every rank whatever the layout: outputs, dense part, scales of mean bags.
  [[nodiscard]] double common() const { return common_; }
  [[nodiscard]] double replicated(std::size_t table) const;
  /// One cell by itself, staging left out: row shard with this share of the rows, and width.
  [[nodiscard]] double shard(std::size_t table, ClusterType cluster, double row_share,
                             double width) const;
  [[nodiscard]] TableMemory of(std::size_t table, const TablePlacement& placement,
                               Exchange exchange, bool dedup) const;

 private:
  struct Sizes;
  struct RowShard;
  [[nodiscard]] double replicated(const Sizes& table) const;
  [[nodiscard]] RowShard row_shard(const Sizes& table, double share, bool dedup) const;
  [[nodiscard]] double received(const Sizes& table, ClusterType cluster,
                                const RowShard& rows) const;
  [[nodiscard]] double cell(const Sizes& table, ClusterType cluster, const RowShard& rows,
                            double width) const;
  [[nodiscard]] double column(const Sizes& table, double width) const;
  void add_replicated(const Sizes& table, TableMemory& memory) const;
  void add_reduced(const Sizes& table, const TablePlacement& placement, Exchange exchange,
                   TableMemory& memory) const;
  void add_partials(const Sizes& table, const TablePlacement& placement, Exchange exchange,
                    TableMemory& memory) const;
  void add_unique(const Sizes& table, const TablePlacement& placement, bool dedup,
                  TableMemory& memory) const;
  void add_square_sums(const Sizes& table, std::size_t owners, double unique, double& bytes) const;

  const Workload& workload_;
  const Topology& topology_;
  std::vector<Sizes> tables_;
  double common_ = 0;
  double batch_ = 0, rank_batch_ = 0, wire_ = 4, key_ = 4;

 public:
  EngineMemory(const EngineMemory&) = delete;
  EngineMemory& operator=(const EngineMemory&) = delete;
  ~EngineMemory();
};

}  // namespace shardscope
