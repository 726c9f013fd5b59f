#pragma once
// Inside layout: collects one rank's buffers, cluster by cluster. What is public stands in
// layout/buffers.hpp.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "layout/buffers.hpp"
#include "layout/memory.hpp"
#include "layout/messages.hpp"
#include "layout/scratch_bytes.hpp"

namespace shardscope {

/// What the sort and reduction of one list of occurrences needs.
struct IndexNeed {
  std::int64_t occurrences = 0;
  std::int64_t unique = 0;
  std::int64_t row_limit = 0;
  bool weighted = false;
};

/// Collects one rank's buffers, cluster by cluster.
class BufferList {
 public:
  using Purpose = BufferPurpose;

  BufferList(const Workload& workload, const Topology& topology, const Layout& layout,
             const Routes& routes, const Schedule& schedule, std::int32_t rank,
             const BatchCounts& capacity)
      : workload_(workload),
        topology_(topology),
        layout_(layout),
        routes_(routes),
        schedule_(schedule),
        capacity_(capacity),
        messages_(workload, topology, layout, routes, capacity),
        features_(features_by_table(workload)),
        rank_(rank),
        ranks_(topology.ranks()),
        key_bytes_(bytes_of(workload.key)) {}

  [[nodiscard]] std::vector<BufferSpec> build() &&;

 private:
  void add(std::string name, Purpose purpose, std::int64_t bytes) {
    list_.push_back({std::move(name), purpose, table_, bytes});
  }
  /// A result of input_dist: one for each batch in flight.
  void add_per_batch(Work work, const std::string& name, Purpose purpose, std::int64_t bytes) {
    add(name, purpose, bytes);
    if (prefetches(schedule_, work)) add(name + ".next", purpose, bytes);
  }
  void open(std::size_t table) {
    table_ = static_cast<std::int32_t>(table);
    const ClusterType cluster = placement().cluster;
    dp_present_ |= cluster == ClusterType::DP;
    rb_present_ |= cluster == ClusterType::RB;
    ub_present_ |= cluster == ClusterType::UB;
  }
  void open_shared() { table_ = -1; }

  [[nodiscard]] std::size_t at() const { return static_cast<std::size_t>(table_); }
  [[nodiscard]] const Table& table() const { return workload_.tables[at()]; }
  [[nodiscard]] const TablePlacement& placement() const { return layout_.tables[at()]; }
  [[nodiscard]] const std::vector<std::int32_t>& readers() const { return features_[at()]; }
  [[nodiscard]] const Feature& feature(std::int32_t f) const {
    return workload_.features[static_cast<std::size_t>(f)];
  }
  [[nodiscard]] std::int64_t bags(std::int32_t f, std::int32_t rank) const {
    return bags_of_rank(workload_, static_cast<std::size_t>(f), rank, ranks_);
  }
  [[nodiscard]] bool any_weighted() const {
    return std::any_of(readers().begin(), readers().end(),
                       [&](std::int32_t f) { return feature(f).weighted; });
  }
  [[nodiscard]] bool any_mean() const {
    return std::any_of(readers().begin(), readers().end(),
                       [&](std::int32_t f) { return feature(f).pooling == Pooling::mean; });
  }
  /// Ids of the table on this rank.
  [[nodiscard]] std::int64_t own_ids() const {
    std::int64_t ids = 0;
    for (const std::int32_t f : readers()) {
      ids = saturating_add(ids, ids_of_rank(capacity_, static_cast<std::size_t>(f), rank_, ranks_));
    }
    return ids;
  }
  [[nodiscard]] std::int64_t requests(std::int32_t rank, std::int32_t row) const {
    const std::vector<std::int64_t>& list = capacity_.requests[at()];
    return list[static_cast<std::size_t>(rank * placement().row_shards + row)];
  }
  [[nodiscard]] std::int64_t unique(std::int32_t row) const {
    return capacity_.unique[at()][static_cast<std::size_t>(row)];
  }

  void add_outputs();
  void add_weights(const std::string& suffix, std::int64_t rows, std::int64_t width);
  void add_shards();

  /// What index calculation leaves for the reduction.
  void add_sorted(const std::string& name, const std::string& suffix, const IndexNeed& need);

  /// What index calculation reads and works in: shared by all lists of a cluster, as they are
  /// sorted one after the other.
  struct Staging {
    std::int64_t rows = 0;
    std::int64_t gradient_rows = 0;
    std::int64_t weights = 0;
    std::int64_t sort = 0;

    void hold(const IndexNeed& need, bool listed, std::int64_t key_bytes) {
      if (listed) rows = std::max(rows, saturating_multiply(need.occurrences, key_bytes));
      gradient_rows = std::max(gradient_rows, saturating_multiply(need.occurrences, 4));
      if (need.weighted) weights = std::max(weights, saturating_multiply(need.occurrences, 4));
      sort = std::max(sort, sort_scratch_bytes(need.occurrences, need.row_limit));
    }
  };

  void add_staging(const std::string& name, const Staging& staging);

  // DP
  void add_dp_table();
  void add_dp_shared();

  // RB
  void add_rb_table();
  void add_rb_buckets(std::int32_t f);

  /// Reduced gradients of the column shards, and the sums of g^2 where the optimizer needs them.
  void add_reduced(const std::string& cluster, std::int32_t row,
                   const std::vector<std::int32_t>& columns);
  void add_rb_shared();
  void add_rb_hierarchical();

  /// fp32 sums that a 16-bit wire cannot accumulate: the largest partial of one consumer.
  [[nodiscard]] std::int64_t partial_bytes() const;

  void add_square_exchange(const std::string& cluster, ClusterType type);

  // UB
  void add_ub_table();
  void add_ub_row_shard(std::int32_t j);
  void add_ub_shared();
  void add_coded(const std::string& cluster, ClusterType type);
  void add_dense();

  /// A buffer with one message a rank, each aligned.
  template <class Size>
  [[nodiscard]] std::int64_t over_ranks(Size size) const {
    std::int64_t bytes = 0;
    for (std::int32_t peer = 0; peer < ranks_; ++peer) {
      bytes = saturating_add(bytes, aligned_bytes(size(peer)));
    }
    return bytes;
  }

  const Workload& workload_;
  const Topology& topology_;
  const Layout& layout_;
  const Routes& routes_;
  const Schedule& schedule_;
  const BatchCounts& capacity_;
  Messages messages_;
  std::vector<std::vector<std::int32_t>> features_;
  std::int32_t rank_;
  std::int32_t ranks_;
  std::int64_t key_bytes_;
  std::int32_t table_ = -1;
  bool dp_present_ = false;
  bool rb_present_ = false;
  bool ub_present_ = false;
  Staging dp_staging_, rb_staging_, ub_staging_;
  std::int64_t dp_wgrad_ = 0;
  std::int64_t dp_square_sums_ = 0;
  std::int64_t ub_concatenated_ = 0;
  std::int64_t ub_dedup_ = 0;
  std::int64_t ub_consumer_wgrad_ = 0;
  std::vector<BufferSpec> list_;
};

}  // namespace shardscope
