#pragma once
// The owner's half of the backward pass, the same for RB and UB: reduce the gradients of each
// distinct row of the rank's row shards and update the rows.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/comm/communicator.hpp"
#include "engine/device.hpp"
#include "engine/pipeline/message_arrays.hpp"
#include "engine/pipeline/rank_memory.hpp"
#include "engine/pipeline/run_plan.hpp"

namespace shardscope::engine {

/// What index calculation leaves: see SortIndex.
struct SortedIndex {
  std::int64_t* unique_rows = nullptr;
  std::int64_t* unique_count = nullptr;
  std::uint32_t* offsets = nullptr;
  std::uint32_t* sorted_gradient_row = nullptr;
  float* sorted_weights = nullptr;  ///< null: all weights are 1
};

/// The buffers `prefix`..."unique_rows"`suffix` and so on.
[[nodiscard]] SortedIndex sorted_index_of(Arena& arena, const std::string& prefix,
                                          const std::string& suffix, std::int32_t table,
                                          bool weighted);

/// Buffers that index calculation reads and works in, shared by the lists of a cluster.
struct IndexStaging {
  std::byte* rows = nullptr;
  std::uint32_t* gradient_row = nullptr;
  float* weights = nullptr;
  std::byte* scratch = nullptr;

  [[nodiscard]] static IndexStaging of(Arena& arena, const std::string& prefix) {
    return {arena.get(prefix + "rows"), arena.get<std::uint32_t>(prefix + "gradient_row"),
            arena.get<float>(prefix + "weights"), arena.get(prefix + "scratch")};
  }
};

/// Index calculation that works in `staging` and leaves its result in `index`; the caller adds what
/// is sorted.
[[nodiscard]] SortIndex sort_into(const SortedIndex& index, const IndexStaging& staging);

/// A column shard of an owned row shard.
struct OwnedColumn {
  ShardMemory shard;
  std::byte* gradients = nullptr;           ///< received gradients, wire type
  std::int64_t* gradient_offset = nullptr;  ///< elements from there, by gradient row
  float* wgrad = nullptr;
  float* square_sums = nullptr;  ///< rowwise_adagrad only
};

/// A row shard of which the rank owns at least one column shard.
struct OwnedRow {
  std::int32_t table = 0;
  std::int32_t row = 0;
  bool weighted = false;  ///< a feature of an RB table carries id weights
  SortedIndex index;
  std::vector<OwnedColumn> columns;
};

class OwnedRows {
 public:
  /// `prefix` is "rb." or "ub.". The caller sets gradients and gradient_offset of every column,
  /// then calls prepare().
  OwnedRows(const RunPlan& plan, RankMemory& memory, Ops& ops, ClusterType cluster,
            const std::string& prefix);

  [[nodiscard]] std::vector<OwnedRow>& rows() { return rows_; }
  [[nodiscard]] const std::vector<OwnedRow>& rows() const { return rows_; }
  void prepare();

  /// update() calls the communicator, on every rank.
  [[nodiscard]] bool exchanges() const { return exchanges_; }
  void local_reduce(Stream& stream);
  void update(Stream& stream, Communicator& communicator, std::int64_t step);

 private:
  void prepare_update(const OwnedRow& row, const OwnedColumn& column);
  void prepare_square_sums();
  void exchange_sums(Stream& stream, Communicator& communicator);

  const RunPlan& plan_;
  RankMemory& memory_;
  Ops& ops_;
  ClusterType cluster_;
  std::string prefix_;
  std::vector<OwnedRow> rows_;
  std::vector<SegmentReduce> reductions_;
  std::vector<std::vector<AddSums>> column_sums_;  ///< by wave: the first column adds the others
  std::vector<OptimizerUpdate> updates_;

  /// Sums of g^2 exchanged with a peer: the row shards both own, in order.
  struct PeerSums {
    std::vector<const std::int64_t*> unique_counts;
    std::vector<const float*> packed;
    std::vector<float*> unpacked;
    std::unique_ptr<bool[]> starts;  ///< this peer is the first owner
  };
  bool exchanges_ = false;  ///< any rank of the run does
  std::vector<PeerSums> peers_;
  /// Of both directions: both sides have the same distinct rows.
  std::vector<std::int64_t> message_offsets_;
  std::int64_t* message_bytes_ = nullptr;  ///< written by the stream
  std::vector<PackSums> packs_;
  std::vector<UnpackSums> unpacks_;
};

}  // namespace shardscope::engine
