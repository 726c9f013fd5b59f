#pragma once
// The UB cluster of one rank: distinct rows travel, once a table across its features; the consumer
// pools or lays them out.
//
// Messages (without padding inside):
//   ids, rank to owner:       for each of the owner's row units the asked local rows (key type)
//   rows, owner to consumer:  for each of the owner's row units, for each of its column shards on
//                             the owner, the asked rows x width
// Gradients of the asked rows travel back in the rows' messages. Without dedup every id is asked.

#include <array>
#include <cstdint>
#include <vector>

#include "engine/device.hpp"
#include "engine/pipeline/cluster.hpp"
#include "engine/pipeline/coded_exchange.hpp"
#include "engine/pipeline/lookup_lists.hpp"
#include "engine/pipeline/message_arrays.hpp"
#include "engine/pipeline/owned_rows.hpp"
#include "engine/pipeline/rank_memory.hpp"
#include "engine/pipeline/run_plan.hpp"

namespace shardscope::engine {

class UbCluster final : public Cluster {
 public:
  UbCluster(const RunPlan& plan, RankMemory& memory, Ops& ops);

  [[nodiscard]] bool update_exchanges() const override { return owned_.exchanges(); }
  [[nodiscard]] Status input_dist(const StageCall& call) override;
  void model_forward(const StageCall& call) override;
  void network_forward(const StageCall& call) override;
  void index_calculation(const StageCall& call) override;
  void network_backward(const StageCall& call) override;
  void local_reduce(const StageCall& call) override;
  void allreduce(const StageCall& /*call*/) override {}
  void update(const StageCall& call) override;
  void append_codec_work(Direction direction, const CodecWork& step,
                         std::vector<CodecWork>& out) const override {
    coded_.append_work(direction, step, out);
  }
  [[nodiscard]] CodedBytes coded(Direction direction) const override {
    return coded_.last(direction);
  }
  [[nodiscard]] std::int64_t rows(std::size_t slot) const override { return batches_[slot].rows; }

 private:
  /// The consumer's side of one table.
  struct TableState {
    std::int32_t table = 0;
    bool weighted = false;
    std::vector<void*> requests;  ///< local rows by row shard
    std::int64_t* request_counts = nullptr;
    float* rows = nullptr;  ///< asked rows x dim, row shard after row shard
    float* lost = nullptr;  ///< error feedback: rows x dim of the table; null: none
    SortedIndex index;      ///< of the ids by slot
    SegmentReduce reduce;
  };

  /// One of this rank's row units, as its owner.
  struct Unit {
    RowUnit unit;
    std::size_t owned = 0;                     ///< index into owned_.rows()
    std::vector<std::int64_t> received;        ///< rows asked, by source
    std::int64_t before = 0;                   ///< rows of the sources listed so far
    std::vector<const std::byte*> local_rows;  ///< by source
  };

  /// Everything that depends on one batch; see RbCluster::Batch.
  struct Batch {
    std::int64_t* counts_receive = nullptr;
    std::byte* ids_receive = nullptr;
    std::vector<std::uint32_t*> slots;             ///< by table
    std::vector<std::vector<std::int64_t>> asked;  ///< by table and row shard
    std::vector<std::vector<std::int64_t>> first;  ///< asked rows of the row shards before
    MessageArrays ids_sent, ids_received;
    MessageArrays rows_sent, rows_received;
    std::vector<Unit> units;
    std::int64_t rows = 0;
    std::vector<std::vector<CopyBytes>> concatenate;  ///< by table
    std::vector<Dedup> dedup;                         ///< by table
    std::vector<GroupIds> group;                      ///< by table, without dedup
    std::vector<CopyBytes> pack_ids;
    std::vector<std::byte*> feedback_ids;  ///< by table, as its requests; null without feedback
    std::vector<CopyBytes> keep_ids;       ///< requests, which the next batch overwrites
    std::vector<GatherRows> replies;
    std::vector<CopyColumns> assemble;
    LookupLists lookups;
    std::vector<std::vector<ExpandBags>> consumer_expands;  ///< by table
    std::vector<SortIndex> consumer_sorts;                  ///< by table
    std::vector<std::vector<CopyBytes>> owner_copies;       ///< by owned row
    std::vector<SortIndex> owner_sorts;                     ///< by owned row
    std::vector<FillOffsets> gradient_offsets;
    std::vector<std::vector<CopyColumns>> gradient_packs;  ///< by table
    std::array<ChunkLists, 2> chunks_as_owner;             ///< by direction; see coded_exchange.hpp
    std::array<ChunkLists, 2> chunks_as_consumer;
  };

  // Construction (ub.cpp).
  void place_table(std::int32_t table);
  void place_batch(Batch& batch, const char* next);
  void place_owned();

  // input_dist (ub_input_dist.cpp).
  void fill_requests(Batch& batch, const BatchView& input);
  void fill_request(Batch& batch, const BatchView& input, std::size_t i);
  [[nodiscard]] Status fill_messages(Batch& batch);
  [[nodiscard]] Status read_counts(Batch& batch);
  [[nodiscard]] Status check_count(const RowUnit& unit, std::int32_t source,
                                   std::int64_t count) const;

  // Lists of the later stages (ub_lists.cpp).
  void fill_replies(Batch& batch);
  void fill_assembly(Batch& batch);
  void fill_lookups(Batch& batch, const BatchView& input);
  void fill_owner_index(Batch& batch);
  void fill_chunks(Batch& batch);
  void fill_chunks(Batch& batch, Direction direction);
  [[nodiscard]] ChunkFeedback feedback_of(const Batch& batch, const RowUnit& unit,
                                          std::int32_t column) const;
  void exchange(const StageCall& call, Direction direction, const AllToAllV& arrays);

  const RunPlan& plan_;
  RankMemory& memory_;
  Ops& ops_;
  std::int32_t rank_;
  std::int32_t ranks_;
  std::int64_t key_bytes_;
  std::int64_t wire_bytes_;
  IndexStaging staging_;
  OwnedRows owned_;
  std::vector<TableState> tables_;
  std::vector<std::size_t> table_at_;  ///< by workload table
  std::array<Batch, kBatchSlots> batches_;
  CodedExchange coded_;
  std::vector<std::int32_t> all_ranks_;
  std::vector<CopyBytes> pack_counts_;
  std::int64_t* counts_send_ = nullptr;
  std::byte* ids_send_ = nullptr;
  std::byte* concatenated_ = nullptr;
  std::byte* dedup_table_ = nullptr;
  std::byte* rows_send_ = nullptr;
  std::byte* rows_receive_ = nullptr;
  std::byte* gradient_send_ = nullptr;
  std::byte* gradient_receive_ = nullptr;
  float* consumer_wgrad_ = nullptr;
};

}  // namespace shardscope::engine
