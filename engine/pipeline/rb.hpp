#pragma once
// The RB cluster of one rank: owners pool the bags of their row shards, partial sums travel.
//
// Messages (all offsets inside a message follow without padding):
//   ids, rank to owner:      for each of the owner's id units the local rows (key type); then for
//                            each the lengths of the rank's bags (i32); then for each weighted one
//                            the weights (fp32)
//   flat, owner to consumer: for each of the owner's flat partials a vector a bag of the consumer
//   domain, owner to rail r: for each domain d, for each of the owner's hierarchical partials a
//                            vector a bag of rank (d, r)
//   rail, domain to consumer: for each hierarchical partial of the domain a vector a bag
// Gradients travel back in the same messages.

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "engine/device.hpp"
#include "engine/pipeline/cluster.hpp"
#include "engine/pipeline/coded_exchange.hpp"
#include "engine/pipeline/message_arrays.hpp"
#include "engine/pipeline/owned_rows.hpp"
#include "engine/pipeline/rank_memory.hpp"
#include "engine/pipeline/run_plan.hpp"
#include "layout/messages.hpp"

namespace shardscope::engine {

class RbCluster final : public Cluster {
 public:
  RbCluster(const RunPlan& plan, RankMemory& memory, Ops& ops);

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
  [[nodiscard]] std::int64_t rows(std::size_t slot) const override;

 private:
  /// A feature's ids by row shard at the source. Tables of one row shard are read in place.
  struct Bucket {
    std::int32_t feature = 0;
    bool split = false;
    std::vector<std::int32_t*> lengths;
    std::vector<void*> ids;
    std::vector<float*> weights;
    std::int64_t* counts = nullptr;
  };

  /// What one source sent for one id unit.
  struct Received {
    const std::byte* ids = nullptr;
    const std::int32_t* lengths = nullptr;
    const float* weights = nullptr;
    std::int64_t count = 0;
  };

  /// One of this rank's partials: flat ones first, then hierarchical ones.
  struct Partial {
    PartialUnit unit;
    std::int32_t width = 0;
    std::vector<std::size_t> id_units;       ///< of this rank, one a row shard, ascending
    std::vector<const ShardMemory*> shards;  ///< as id_units
    std::vector<std::int64_t> offset;        ///< by consumer: bytes in its send buffer
    std::byte* send = nullptr;
    bool summed_apart = false;  ///< several row shards on a 16-bit wire: summed in fp32 first
  };

  /// A partial sum that a 16-bit wire needs in fp32 first: row shards in order, then the
  /// conversion.
  struct PooledApart {
    std::vector<GatherPool> terms;
    CopyColumns store;
  };

  /// A gradient that goes straight into the buffer of a peer of the domain.
  struct PeerReturn {
    std::size_t copy = 0;  ///< in gradient_returns_
    std::int32_t peer = 0;
    std::int64_t offset = 0;  ///< in the peer's buffer
  };

  /// What a SumColumns points at.
  struct ColumnSum {
    std::vector<CopyColumns> terms;
    CopyColumns store;
    bool stores = false;
  };

  /// Offsets of one owner's partials in its message to a rail, for one sample.
  struct OwnerPartials {
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> before;  ///< (feature, column)
    std::int64_t all = 0;
  };

  /// The arena's buffers for vectors.
  struct VectorBuffers {
    std::byte *flat_send, *flat_receive, *flat_gradient_send, *flat_gradient_receive;
    std::byte *domain_send, *domain_receive, *domain_gradient_send, *domain_gradient_receive;
    std::byte *rail_send, *rail_receive, *rail_gradient_send, *rail_gradient_receive;
    std::byte* partial;

    static VectorBuffers of(Arena& arena);
  };

  /// Everything that depends on one batch. Always kBatchSlots of them: the host fills the next
  /// one's lists while the streams still read this one's. The received ids stand in the arena once
  /// or, where the schedule prefetches, twice.
  struct Batch {
    std::int64_t* counts_receive = nullptr;
    std::byte* ids_receive = nullptr;
    MessageArrays ids_sent;
    MessageArrays ids_received;
    std::vector<Received> received;  ///< [id unit * ranks + source]
    std::int64_t ids = 0;            ///< all received
    std::vector<Bucketize> bucketize;
    std::vector<CopyBytes> pack_ids;
    std::vector<BagScale> scales;
    std::vector<std::vector<GatherPool>> pool;  ///< by wave: the n-th row shard of every partial
    std::vector<PooledApart> pool_apart;
    std::vector<std::vector<CopyBytes>> index_copies;  ///< by owned row
    std::vector<std::vector<ExpandBags>> index_expands;
    std::vector<SortIndex> sorts;  ///< by owned row
  };

  /// Parts of the messages that codecs see, by direction.
  struct Chunks {
    std::array<ChunkLists, 2> sent, received;
  };

  /// A forward exchange of vectors as chunks see it; members are ranks (flat) or domains (rail).
  struct VectorRoute {
    const std::vector<std::int32_t>& peers;  ///< by member, the rank that messages go to
    std::int32_t own;                        ///< this rank's member
    const std::vector<std::vector<PartialUnit>>& partials;  ///< by owning member
    const MessageArrays& owned;                             ///< this member's vectors, by member
    const MessageArrays& consumed;                          ///< this rank's vectors, by member
  };

  // Construction (rb.cpp, rb_messages.cpp, rb_chunks.cpp).
  void place_buckets();
  void place_batches();
  void place_partials();
  void place_flat_messages();
  void place_flat_chunks();
  void place_rail_chunks();
  void place_chunks(Chunks& chunks, const VectorRoute& route);
  [[nodiscard]] MessageChunk chunk_of(const PartialUnit& unit, std::int32_t consumer,
                                      std::int32_t peer, std::int64_t offset,
                                      Direction direction) const;
  [[nodiscard]] std::int32_t terms_of(const PartialUnit& unit) const;
  void exchange(const StageCall& call, Direction direction, Group group, const AllToAllV& arrays);
  void place_hierarchical_messages();
  void place_combines();
  void place_rail_sums();
  void place_gradient_offsets();
  [[nodiscard]] std::int64_t vector_bytes(const PartialUnit& unit, std::int32_t consumer) const;
  [[nodiscard]] std::int32_t width_of(const PartialUnit& unit) const;
  [[nodiscard]] std::int32_t rank_at(std::int32_t domain, std::int32_t rail) const;
  void add_combine(std::vector<CopyColumns>& terms, const PartialUnit& unit,
                   const std::byte* from) const;
  void add_gradient_pack(std::vector<CopyColumns>& packs, const PartialUnit& unit, std::byte* to);
  void add_rail_term(std::vector<CopyColumns>& terms, const PartialUnit& unit,
                     std::int32_t consumer, std::int32_t owner, std::int64_t inside,
                     std::int64_t out);
  void add_rail_sum(std::vector<CopyColumns> terms);
  [[nodiscard]] static std::vector<SumColumns> calls_of(const std::vector<ColumnSum>& sums);
  [[nodiscard]] OwnerPartials partials_of_owner(std::int32_t owner) const;
  [[nodiscard]] MessageArrays domain_messages(const Messages& largest, std::int32_t owner) const;
  void return_gradients(const StageCall& call);
  void write_to_peers(Stream& stream, PeerWindow& window);

  // input_dist (rb_input_dist.cpp).
  void fill_buckets(Batch& batch, const BatchView& input);
  [[nodiscard]] std::int64_t sent_count(const Bucket& bucket, std::int32_t row,
                                        const BatchView& input) const;
  [[nodiscard]] const Bucket& bucket_of(std::int32_t feature) const;
  [[nodiscard]] Status fill_messages(Batch& batch, const BatchView& input);
  void pack_message(Batch& batch, const BatchView& input, std::int32_t owner);
  [[nodiscard]] Status read_counts(Batch& batch);
  [[nodiscard]] Status check_count(const IdUnit& unit, std::int32_t source,
                                   std::int64_t count) const;
  void fill_pool(Batch& batch);
  [[nodiscard]] GatherPool pool_call(const Batch& batch, const Partial& partial, std::size_t term,
                                     std::int32_t source) const;
  [[nodiscard]] PooledApart& pooled_apart(Batch& batch, std::size_t number, const Partial& partial,
                                          std::byte* out, std::int64_t bags) const;
  [[nodiscard]] std::int32_t source_row(const IdUnit& unit) const;
  void fill_index(Batch& batch);

  const RunPlan& plan_;
  RankMemory& memory_;
  Ops& ops_;
  std::int32_t rank_;
  std::int32_t ranks_;
  std::int64_t key_bytes_;
  std::int64_t wire_bytes_;
  std::vector<IdUnit> id_units_;  ///< this rank's
  std::vector<Bucket> buckets_;
  std::vector<std::size_t> bucket_at_;  ///< by feature
  std::array<Batch, kBatchSlots> batches_;
  std::vector<CopyBytes> pack_counts_;  ///< from the buckets
  std::int64_t* counts_send_ = nullptr;
  std::byte* ids_send_ = nullptr;

  VectorBuffers vectors_;
  std::vector<Partial> partials_;
  MessageArrays owner_flat_;     ///< flat: by consumer
  MessageArrays consumer_flat_;  ///< flat: by owner
  MessageArrays owner_domain_;   ///< hierarchical: by rail
  MessageArrays rail_domain_;    ///< hierarchical: by owner in the domain
  MessageArrays rail_out_;       ///< hierarchical: by domain, this domain's sums
  MessageArrays consumer_rail_;  ///< hierarchical: by domain
  CodedExchange coded_;
  Chunks flat_chunks_;
  Chunks rail_chunks_;
  std::vector<std::int32_t> all_ranks_;
  std::vector<std::int32_t> rail_ranks_;
  bool any_flat_ = false;
  bool any_hierarchical_ = false;

  std::vector<ColumnSum> combines_;   ///< terms: owners (flat) or domains (hierarchical)
  std::vector<ColumnSum> rail_sums_;  ///< terms: owners in the domain
  std::vector<SumColumns> combine_calls_;
  std::vector<SumColumns> rail_sum_calls_;
  std::vector<CopyColumns> gradient_packs_flat_;
  std::vector<CopyColumns> gradient_packs_rail_;
  std::vector<CopyBytes> gradient_returns_;  ///< rail to the owners of its domain
  std::vector<PeerReturn> peer_returns_;     ///< those to other owners
  bool published_ = false;                   ///< peers know domain_gradient_receive

  std::vector<std::vector<std::size_t>> owned_units_;  ///< id units of every owned row
  IndexStaging staging_;
  OwnedRows owned_;
};

}  // namespace shardscope::engine
