// Memory of HugeCTR's embedding collection. Source of every term: NVIDIA-Merlin/HugeCTR main,
// commit 2f2016fa, folders HugeCTR/embedding and HugeCTR/embedding_storage, read 2026-09. Static
// buffers assume the worst batch: every id of a lookup may fall into every row shard.

#include "layout/dense_sizes.hpp"
#include "layout/memory_parts.hpp"

namespace shardscope {

namespace {

/// Training and evaluation each have their buffers; the evaluation batch is taken as large.
constexpr std::int64_t kTrainAndEvaluation = 2;
/// WGRAD_UNIQUE_RATIO and DENSE_UNIQUE_RATIO at their default: every id may be distinct.
constexpr std::int64_t kUniqueRatio = 1;

class HugectrMemory {
 public:
  HugectrMemory(const Workload& workload, const Topology& topology, const Layout& layout,
                MemoryAccount& account)
      : workload_(workload),
        topology_(topology),
        layout_(layout),
        account_(account),
        key_(bytes_of(workload.key)),
        wire_(bytes_of(workload.wire)) {}

  void add() {
    for (const Feature& feature : workload_.features) {
      const auto t = static_cast<std::size_t>(feature.table);
      add_output(feature, t);
      if (layout_.tables[t].cluster == ClusterType::DP) {
        add_dp_lookup(feature);
      } else {
        add_consumer(feature, t);
        add_owners(feature, t);
      }
    }
    add_dp_gradients();
    add_hierarchy();
    add_dense();
  }

 private:
  [[nodiscard]] MemoryUse& gpu(std::int32_t rank) {
    return account_.gpus[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] std::int64_t bags_of(const Feature& feature, std::int32_t rank) const {
    return saturating_multiply(samples_of_rank(workload_.global_batch, rank, topology_.ranks()),
                               feature.num_poolings);
  }
  [[nodiscard]] std::int64_t ids_of(const Feature& feature, std::int64_t bags) const {
    return saturating_multiply(bags, feature.hotness.maximum);
  }

  /// Output and its gradient: b x D (concat: b x h x D) elements of emb_type each.
  void add_output(const Feature& feature, std::size_t t) {
    for (std::int32_t rank = 0; rank < topology_.ranks(); ++rank) {
      const std::int64_t bags = bags_of(feature, rank);
      const std::int64_t vectors = is_pooled(feature.pooling) ? bags : ids_of(feature, bags);
      raise_by(gpu(rank).communication, product(vectors, workload_.tables[t].dim, 2 * wire_));
    }
  }

  /// DP: local keys and bucket ranges, lookup pointers (8 B), sort of (key, source).
  void add_dp_lookup(const Feature& feature) {
    for (std::int32_t rank = 0; rank < topology_.ranks(); ++rank) {
      const std::int64_t bags = bags_of(feature, rank);
      add_lookup(gpu(rank), bags, ids_of(feature, bags));
    }
  }

  /// What data distribution and index calculation keep for a list of ids: keys, a bucket range an
  /// (own key type), a pointer an id; the sort's keys, source ids twice, table ids and
  /// destinations.
  void add_lookup(MemoryUse& use, std::int64_t bags, std::int64_t ids) const {
    raise_by(use.indices, product(ids, key_, kTrainAndEvaluation));
    raise_by(use.indices, product(bags, key_, kTrainAndEvaluation));
    raise_by(use.indices, saturating_multiply(ids, 8));
    raise_by(use.sort, saturating_multiply(ids, key_ + 4 + 4 + 4 + 8));
  }

  /// Consumer side: keys to send, once a column shard as each is a table of its own; the partial
  /// vectors of all row shards (RB) or the unique rows (UB).
  void add_consumer(const Feature& feature, std::size_t t) {
    const TablePlacement& placement = layout_.tables[t];
    const std::int64_t dim = workload_.tables[t].dim;
    for (std::int32_t rank = 0; rank < topology_.ranks(); ++rank) {
      MemoryUse& use = gpu(rank);
      const std::int64_t bags = bags_of(feature, rank);
      const std::int64_t ids = ids_of(feature, bags);
      raise_by(use.indices, product(ids, placement.column_shards(), key_ * kTrainAndEvaluation));
      const bool reduced = placement.cluster == ClusterType::RB;
      const std::int64_t vectors = reduced ? saturating_multiply(bags, placement.row_shards)
                                           : saturating_multiply(ids, kUniqueRatio);
      raise_by(use.communication,
               saturating_multiply(product(vectors, dim, wire_), kTrainAndEvaluation));
      // UB: a 4-byte feature id a key on the wire and the reverse index of every id.
      if (!reduced) raise_by(use.indices, product(ids, 4 + 4, kTrainAndEvaluation));
    }
  }

  /// Owner side: B x D/c (RB) or ratio x B x h x D/c (UB) to send; keys of the whole batch;
  /// reduced gradients (WgradInitializer): ratio x B x h x D/c elements, and key, table id and
  /// start index an id.
  void add_owners(const Feature& feature, std::size_t t) {
    const TablePlacement& placement = layout_.tables[t];
    const std::int64_t bags = bags_of_batch(workload_, feature);
    const std::int64_t ids = ids_of(feature, bags);
    for (std::int32_t j = 0; j < placement.row_shards; ++j) {
      for (std::int32_t k = 0; k < placement.column_shards(); ++k) {
        MemoryUse& use = gpu(placement.owner(j, k));
        const std::int64_t width = placement.width(k);
        const std::int64_t vectors =
            placement.cluster == ClusterType::RB ? bags : saturating_multiply(ids, kUniqueRatio);
        raise_by(use.communication,
                 saturating_multiply(product(vectors, width, wire_), kTrainAndEvaluation));
        add_lookup(use, bags, ids);
        raise_by(use.wgrad, saturating_multiply(product(ids, width, wire_), kUniqueRatio));
        raise_by(use.wgrad, saturating_multiply(ids, key_ + 4 + 4));
      }
    }
  }

  /// DP (AllreduceWgradInitializer): a dense gradient of whole tables, with key, table id and start
  /// index a row.
  void add_dp_gradients() {
    std::int64_t bytes = 0;
    for (std::size_t t = 0; t < layout_.tables.size(); ++t) {
      if (layout_.tables[t].cluster != ClusterType::DP) continue;
      const Table& table = workload_.tables[t];
      raise_by(bytes, product(table.rows, table.dim, wire_));
      raise_by(bytes, saturating_multiply(table.rows, key_ + 4 + 4));
    }
    for (MemoryUse& use : account_.gpus) raise_by(use.wgrad, bytes);
  }

  /// Hierarchical RB: IntraModelCommBuffer, what the node's owners hand a GPU for its rail (B/g
  /// samples), and IntraModelReductionBuffer, the distinct lookups of the node for them.
  void add_hierarchy() {
    const std::int32_t domain = topology_.fast_domain;
    const std::int64_t rail_samples = (workload_.global_batch + domain - 1) / domain;
    for (std::int32_t d = 0; d < topology_.domains(); ++d) {
      std::int64_t handed = 0;   // elements a sample
      std::int64_t reduced = 0;  // each lookup once
      for (const Feature& feature : workload_.features) {
        count_domain(feature, d, handed, reduced);
      }
      const std::int64_t elements = saturating_add(handed, reduced);
      for (std::int32_t rank = d * domain; rank < (d + 1) * domain; ++rank) {
        raise_by(gpu(rank).communication,
                 saturating_multiply(product(rail_samples, elements, wire_), kTrainAndEvaluation));
      }
    }
  }

  void count_domain(const Feature& feature, std::int32_t domain, std::int64_t& handed,
                    std::int64_t& reduced) const {
    const auto t = static_cast<std::size_t>(feature.table);
    const TablePlacement& placement = layout_.tables[t];
    if (placement.cluster != ClusterType::RB) return;
    if (layout_.exchange_of(t) != Exchange::hierarchical) return;
    for (std::int32_t k = 0; k < placement.column_shards(); ++k) {
      std::int64_t shards = 0;
      for (std::int32_t j = 0; j < placement.row_shards; ++j) {
        if (topology_.domain_of(placement.owner(j, k)) == domain) ++shards;
      }
      const std::int64_t width = saturating_multiply(placement.width(k), feature.num_poolings);
      raise_by(handed, saturating_multiply(width, shards));
      if (shards > 0) raise_by(reduced, width);
    }
  }

  /// Master weights and state in fp32; under mixed precision a half copy of the weights and half
  /// gradients; activations and their gradients in the wire's type, for training and evaluation.
  void add_dense() {
    for (std::int32_t rank = 0; rank < topology_.ranks(); ++rank) {
      const DenseSizes sizes =
          dense_sizes(workload_, samples_of_rank(workload_.global_batch, rank, topology_.ranks()));
      const std::int64_t copies = wire_ < kFp32Bytes ? 2 * wire_ : kFp32Bytes;
      std::int64_t& dense = gpu(rank).dense;
      raise_by(dense, saturating_multiply(sizes.parameters, kFp32Bytes + copies));
      raise_by(dense, sizes.state_bytes);
      const std::int64_t activations =
          saturating_multiply(sizes.activation_bytes / kFp32Bytes, wire_);
      raise_by(dense, saturating_multiply(activations, 2 * kTrainAndEvaluation));
    }
  }

  const Workload& workload_;
  const Topology& topology_;
  const Layout& layout_;
  MemoryAccount& account_;
  std::int64_t key_;
  std::int64_t wire_;
};

}  // namespace

void add_hugectr_buffers(const Workload& workload, const Topology& topology, const Layout& layout,
                         MemoryAccount& account) {
  HugectrMemory(workload, topology, layout, account).add();
}

}  // namespace shardscope
