#pragma once
// What all ranks of a run share and never change while it runs.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/codec/bound_decay.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/pipeline/faults.hpp"
#include "layout/buffers.hpp"
#include "layout/bytes.hpp"
#include "layout/layout.hpp"
#include "layout/routes.hpp"
#include "layout/schedule.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope {
class WorkTracer;
}

namespace shardscope::engine {

class Device;

/// Batches whose input_dist results may be alive at once.
inline constexpr std::size_t kBatchSlots = 2;

struct RunPlan {
  Workload workload;
  Topology topology;
  Layout layout;
  Schedule schedule;
  BatchCounts capacity;  ///< bounds of every batch that will run
  Routes routes;
  std::vector<std::vector<std::int32_t>> readers;  ///< features by table
  std::uint64_t seed = 0;
  float loss_scale = 1;
  BoundDecay decay;  ///< of the bounds of the layout's codecs
  Fault fault = Fault::none;
  std::function<std::unique_ptr<Communicator>(std::unique_ptr<Communicator>)> wrap_communicator;
  bool peer_writes = false;  ///< ranks of a domain write into each other's buffers where they can
  Device* device = nullptr;  ///< null: the cpu device
  WorkTracer* tracer = nullptr;  ///< null: nobody hears of the ranks' steps

  [[nodiscard]] std::int32_t ranks() const { return topology.ranks(); }
  [[nodiscard]] const Table& table(std::int32_t t) const {
    return workload.tables[static_cast<std::size_t>(t)];
  }
  [[nodiscard]] const TablePlacement& placement(std::int32_t t) const {
    return layout.tables[static_cast<std::size_t>(t)];
  }
  [[nodiscard]] const Feature& feature(std::int32_t f) const {
    return workload.features[static_cast<std::size_t>(f)];
  }
  [[nodiscard]] const std::vector<std::int32_t>& features_of(std::int32_t t) const {
    return readers[static_cast<std::size_t>(t)];
  }
  [[nodiscard]] std::int64_t bags(std::int32_t f, std::int32_t rank) const {
    return bags_of_rank(workload, static_cast<std::size_t>(f), rank, ranks());
  }
  [[nodiscard]] std::int64_t samples(std::int32_t rank) const {
    return samples_of_rank(workload.global_batch, rank, ranks());
  }
  /// Capacity in ids of a feature from a rank in a row shard.
  [[nodiscard]] std::int64_t id_capacity(std::int32_t f, std::int32_t rank,
                                         std::int32_t row) const {
    const std::int32_t row_shards = placement(feature(f).table).row_shards;
    return capacity
        .ids[static_cast<std::size_t>(f)][static_cast<std::size_t>(rank * row_shards + row)];
  }
  /// Capacity in rows that a rank asks of a row shard of a UB table.
  [[nodiscard]] std::int64_t request_capacity(std::int32_t t, std::int32_t rank,
                                              std::int32_t row) const {
    return capacity.requests[static_cast<std::size_t>(t)]
                            [static_cast<std::size_t>(rank * placement(t).row_shards + row)];
  }
  /// UB removes duplicates.
  [[nodiscard]] bool dedup() const { return layout.options(ClusterType::UB).dedup; }
  /// The scale of gradients on the wire: only 16-bit wires need one.
  [[nodiscard]] float wire_scale() const {
    return workload.wire == DType::fp32 ? 1.0F : loss_scale;
  }
};

/// Bounds of the row cuts for kernels; null for modulo shards.
[[nodiscard]] inline const std::int64_t* row_cuts_of(const TablePlacement& placement) {
  return placement.mapping == RowMapping::block ? placement.row_cuts.data() : nullptr;
}

}  // namespace shardscope::engine
