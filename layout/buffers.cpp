#include "layout/buffers.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "layout/codec_bytes.hpp"
#include "layout/dense_sizes.hpp"
#include "layout/memory.hpp"
#include "layout/messages.hpp"
#include "layout/scratch_bytes.hpp"

namespace shardscope {

namespace {

using Purpose = BufferPurpose;

std::int64_t times(std::int64_t a, std::int64_t b) {
  return saturating_multiply(a, b);
}

std::int64_t state_bytes(const Optimizer& optimizer, std::int64_t rows, std::int64_t width) {
  const std::int64_t words =
      saturating_add(times(optimizer.words_per_element, width), optimizer.words_per_row);
  return times(times(rows, words), 4);
}

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

  std::vector<BufferSpec> build() && {
    for (std::size_t t = 0; t < workload_.tables.size(); ++t) {
      open(t);
      add_outputs();
      if (layout_.tables[t].cluster == ClusterType::DP) {
        add_dp_table();
      } else {
        add_shards();
        if (layout_.tables[t].cluster == ClusterType::RB) add_rb_table();
        if (layout_.tables[t].cluster == ClusterType::UB) add_ub_table();
      }
    }
    open_shared();
    if (dp_present_) add_dp_shared();
    if (rb_present_) add_rb_shared();
    if (ub_present_) add_ub_shared();
    add_dense();
    return std::move(list_);
  }

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

  void add_outputs() {
    std::int64_t rows = 0;
    for (const std::int32_t f : readers()) {
      rows = saturating_add(
          rows, output_rows(workload_, static_cast<std::size_t>(f), rank_, capacity_, ranks_));
      if (feature(f).pooling != Pooling::mean) continue;
      add(fmt::format("bag_scale[{}]", f), Purpose::indices, times(bags(f, rank_), 4));
    }
    add("output", Purpose::communication, times(rows, table().dim * std::int64_t{4}));
    add("output_gradient", Purpose::communication, times(rows, table().dim * std::int64_t{4}));
  }

  void add_weights(const std::string& suffix, std::int64_t rows, std::int64_t width) {
    add("weights" + suffix, Purpose::weights, times(times(rows, width), bytes_of(table().dtype)));
    add("state" + suffix, Purpose::optimizer_state, state_bytes(table().optimizer, rows, width));
  }

  void add_shards() {
    for (std::int32_t j = 0; j < placement().row_shards; ++j) {
      for (const std::int32_t k : columns_on(placement(), j, rank_)) {
        add_weights(fmt::format("[{},{}]", j, k), placement().rows_in(j, table().rows),
                    placement().width(k));
      }
    }
  }

  /// What index calculation leaves for the reduction.
  void add_sorted(const std::string& name, const std::string& suffix, const IndexNeed& need) {
    add(name + "unique_rows" + suffix, Purpose::sort, times(need.unique, 8));
    add(name + "unique_count" + suffix, Purpose::sort, 8);
    add(name + "offsets" + suffix, Purpose::sort, times(saturating_add(need.unique, 1), 4));
    add(name + "sorted_gradient_row" + suffix, Purpose::sort, times(need.occurrences, 4));
    add(name + "sorted_weights" + suffix, Purpose::sort,
        need.weighted ? times(need.occurrences, 4) : 0);
  }

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

  void add_staging(const std::string& name, const Staging& staging) {
    add(name + "rows", Purpose::sort, staging.rows);
    add(name + "gradient_row", Purpose::sort, staging.gradient_rows);
    add(name + "weights", Purpose::sort, staging.weights);
    add(name + "scratch", Purpose::sort, staging.sort);
  }

  // --- DP -----------------------------------------------------------------------------------

  void add_dp_table() {
    add_weights("", table().rows, table().dim);
    const std::int64_t ids = own_ids();
    const IndexNeed need{ids, std::min(ids, table().rows), table().rows,
                         any_weighted() || any_mean()};
    add_sorted("dp.index.", "", need);
    dp_staging_.hold(need, true, key_bytes_);
    dp_wgrad_ = std::max(dp_wgrad_, times(need.unique, table().dim * std::int64_t{4}));
    add("dp.touched_rows", Purpose::wgrad, times(table().rows, 8));
    add("dp.touched_count", Purpose::wgrad, 8);
    if (table().optimizer.kind == OptimizerKind::rowwise_adagrad) {
      dp_square_sums_ = std::max(dp_square_sums_, times(table().rows, 4));
    }
  }

  void add_dp_shared() {
    add_staging("dp.staging.", dp_staging_);
    add("dp.wgrad", Purpose::wgrad, dp_wgrad_);
    add("dp.gradients", Purpose::wgrad, times(dp_gradient_elements(workload_, layout_), 4));
    add("dp.square_sums", Purpose::transients, dp_square_sums_);
  }

  // --- RB -----------------------------------------------------------------------------------

  void add_rb_table() {
    if (placement().row_shards > 1) {
      for (const std::int32_t f : readers()) add_rb_buckets(f);
    }
    std::int64_t all_bags = 0;
    for (const std::int32_t f : readers()) {
      for (std::int32_t p = 0; p < ranks_; ++p) all_bags = saturating_add(all_bags, bags(f, p));
    }
    std::vector<bool> column_here(static_cast<std::size_t>(placement().column_shards()));
    for (std::int32_t j = 0; j < placement().row_shards; ++j) {
      const std::vector<std::int32_t> columns = columns_on(placement(), j, rank_);
      if (columns.empty()) continue;
      for (const std::int32_t k : columns) column_here[static_cast<std::size_t>(k)] = true;
      std::int64_t ids = 0;
      for (const std::int32_t f : readers()) {
        for (std::int32_t p = 0; p < ranks_; ++p) {
          ids = saturating_add(
              ids, capacity_.ids[static_cast<std::size_t>(f)]
                                [static_cast<std::size_t>(p * placement().row_shards + j)]);
        }
      }
      const IndexNeed need{ids, unique(j), placement().rows_in(j, table().rows), any_weighted()};
      add_sorted("rb.index.", fmt::format("[{}]", j), need);
      rb_staging_.hold(need, true, key_bytes_);
      add_reduced("rb.", j, columns);
    }
    for (std::int32_t k = 0; k < placement().column_shards(); ++k) {
      if (!column_here[static_cast<std::size_t>(k)]) continue;
      add(fmt::format("rb.gradient_offset[{}]", k), Purpose::indices, times(all_bags, 8));
    }
  }

  void add_rb_buckets(std::int32_t f) {
    const std::int64_t row_shards = placement().row_shards;
    std::int64_t id_bytes = 0;
    std::int64_t weight_bytes = 0;
    for (std::int64_t j = 0; j < row_shards; ++j) {
      const std::int64_t ids =
          capacity_
              .ids[static_cast<std::size_t>(f)][static_cast<std::size_t>(rank_ * row_shards + j)];
      id_bytes = saturating_add(id_bytes, aligned_bytes(times(ids, key_bytes_)));
      weight_bytes = saturating_add(weight_bytes, aligned_bytes(times(ids, 4)));
    }
    add(fmt::format("rb.bucket.lengths[{}]", f), Purpose::indices,
        row_shards * aligned_bytes(times(bags(f, rank_), 4)));
    add(fmt::format("rb.bucket.ids[{}]", f), Purpose::indices, id_bytes);
    add(fmt::format("rb.bucket.weights[{}]", f), Purpose::indices,
        feature(f).weighted ? weight_bytes : 0);
    add(fmt::format("rb.bucket.counts[{}]", f), Purpose::indices, times(row_shards, 8));
  }

  /// Reduced gradients of the column shards, and the sums of g^2 where the optimizer needs them.
  void add_reduced(const std::string& cluster, std::int32_t row,
                   const std::vector<std::int32_t>& columns) {
    for (const std::int32_t k : columns) {
      add(fmt::format("{}wgrad[{},{}]", cluster, row, k), Purpose::wgrad,
          times(unique(row), placement().width(k) * std::int64_t{4}));
    }
    if (table().optimizer.kind != OptimizerKind::rowwise_adagrad) return;
    // One list for the row, or (per_shard) one a column shard; the last is a shard's own sum.
    for (const std::int32_t k : columns) {
      add(fmt::format("{}square_sums[{},{}]", cluster, row, k), Purpose::transients,
          times(unique(row), 4));
    }
  }

  void add_rb_shared() {
    add_staging("rb.staging.", rb_staging_);
    const std::int64_t slots = routes_.rb_count_slots;
    add("rb.counts.send", Purpose::communication, 8 * slots * ranks_);
    add_per_batch(Work::RB, "rb.counts.receive", Purpose::communication, 8 * slots * ranks_);
    add("rb.ids.send", Purpose::communication,
        over_ranks([&](std::int32_t q) { return messages_.rb_ids(rank_, q); }));
    add_per_batch(Work::RB, "rb.ids.receive", Purpose::communication,
                  over_ranks([&](std::int32_t p) { return messages_.rb_ids(p, rank_); }));
    const std::int64_t owner_flat =
        over_ranks([&](std::int32_t p) { return messages_.rb_flat(p, rank_); });
    const std::int64_t consumer_flat =
        over_ranks([&](std::int32_t q) { return messages_.rb_flat(rank_, q); });
    add("rb.flat.send", Purpose::communication, owner_flat);
    add("rb.flat.receive", Purpose::communication, consumer_flat);
    add("rb.flat.gradient_send", Purpose::communication, consumer_flat);
    add("rb.flat.gradient_receive", Purpose::communication, owner_flat);
    add_rb_hierarchical();
    add("rb.partial", Purpose::communication, partial_bytes());
    add_square_exchange("rb.", ClusterType::RB);
    add_coded("rb.", ClusterType::RB);
  }

  void add_rb_hierarchical() {
    const std::int32_t domain = topology_.domain_of(rank_);
    const std::int32_t rail = topology_.rail_of(rank_);
    const std::int32_t first = domain * topology_.fast_domain;
    std::int64_t owner = 0;       // what this rank's partials take
    std::int64_t rail_owner = 0;  // what its domain's owners hand it for its rail
    for (std::int32_t peer = 0; peer < topology_.fast_domain; ++peer) {
      owner = saturating_add(owner, aligned_bytes(messages_.rb_domain(rank_, peer)));
      rail_owner =
          saturating_add(rail_owner, aligned_bytes(messages_.rb_domain(first + peer, rail)));
    }
    std::int64_t rail_out = 0;  // sums of its domain for the ranks of its rail
    std::int64_t rail_in = 0;   // sums of every domain for its own samples
    for (std::int32_t other = 0; other < topology_.domains(); ++other) {
      const std::int32_t peer = other * topology_.fast_domain + rail;
      rail_out = saturating_add(rail_out, aligned_bytes(messages_.rb_rail(peer, domain)));
      rail_in = saturating_add(rail_in, aligned_bytes(messages_.rb_rail(rank_, other)));
    }
    add("rb.domain.send", Purpose::communication, owner);
    add("rb.domain.receive", Purpose::communication, rail_owner);
    add("rb.rail.send", Purpose::communication, rail_out);
    add("rb.rail.receive", Purpose::communication, rail_in);
    add("rb.rail.gradient_send", Purpose::communication, rail_in);
    add("rb.rail.gradient_receive", Purpose::communication, rail_out);
    add("rb.domain.gradient_send", Purpose::communication, rail_owner);
    add("rb.domain.gradient_receive", Purpose::communication, owner);
  }

  /// fp32 sums that a 16-bit wire cannot accumulate: the largest partial of one consumer.
  [[nodiscard]] std::int64_t partial_bytes() const {
    if (workload_.wire == DType::fp32) return 0;
    const std::int64_t samples = samples_of_rank(workload_.global_batch, 0, ranks_);
    std::int64_t most = 0;
    const auto raise = [&](const std::vector<PartialUnit>& partials) {
      for (const PartialUnit& partial : partials) {
        const std::int64_t width =
            layout_.tables[static_cast<std::size_t>(partial.table)].width(partial.column);
        most = std::max(most, times(samples * feature(partial.feature).num_poolings, width * 4));
      }
    };
    raise(routes_.rb_flat[static_cast<std::size_t>(rank_)]);
    raise(routes_.rb_domain[static_cast<std::size_t>(topology_.domain_of(rank_))]);
    return most;
  }

  void add_square_exchange(const std::string& cluster, ClusterType type) {
    const std::int64_t bytes = over_ranks(
        [&](std::int32_t peer) { return messages_.square_sums(type, rank_, peer); });
    add(cluster + "square_sums.send", Purpose::transients, bytes);
    add(cluster + "square_sums.receive", Purpose::transients, bytes);
  }

  // --- UB -----------------------------------------------------------------------------------

  void add_ub_table() {
    const std::int64_t ids = own_ids();
    std::int64_t asked = 0;
    std::int64_t asked_bytes = 0;
    for (std::int32_t j = 0; j < placement().row_shards; ++j) {
      asked = saturating_add(asked, requests(rank_, j));
      asked_bytes =
          saturating_add(asked_bytes, aligned_bytes(times(requests(rank_, j), key_bytes_)));
    }
    ub_concatenated_ = std::max(ub_concatenated_, times(ids, key_bytes_));
    ub_dedup_ = std::max(ub_dedup_, dedup_table_bytes(ids, workload_.key));
    add("ub.requests", Purpose::indices, asked_bytes);
    add("ub.request_counts", Purpose::indices, placement().row_shards * std::int64_t{8});
    add_per_batch(Work::UB, "ub.slots", Purpose::indices, times(ids, 4));
    add("ub.rows", Purpose::communication, times(asked, table().dim * std::int64_t{4}));
    const IndexNeed consumer{ids, asked, asked, any_weighted() || any_mean()};
    add_sorted("ub.consumer.", "", consumer);
    ub_staging_.hold(consumer, false, 4);
    ub_consumer_wgrad_ = std::max(ub_consumer_wgrad_, times(asked, table().dim * std::int64_t{4}));
    for (std::int32_t j = 0; j < placement().row_shards; ++j) add_ub_row_shard(j);
  }

  void add_ub_row_shard(std::int32_t j) {
    const std::vector<std::int32_t> columns = columns_on(placement(), j, rank_);
    if (columns.empty()) return;
    std::int64_t asked = 0;
    for (std::int32_t p = 0; p < ranks_; ++p) asked = saturating_add(asked, requests(p, j));
    const IndexNeed owner{asked, unique(j), placement().rows_in(j, table().rows), false};
    add_sorted("ub.index.", fmt::format("[{}]", j), owner);
    ub_staging_.hold(owner, true, key_bytes_);
    for (const std::int32_t k : columns) {
      add(fmt::format("ub.gradient_offset[{},{}]", j, k), Purpose::indices, times(asked, 8));
    }
    add_reduced("ub.", j, columns);
  }

  void add_ub_shared() {
    add_staging("ub.staging.", ub_staging_);
    add("ub.concatenated_ids", Purpose::indices, ub_concatenated_);
    add("ub.dedup_table", Purpose::sort, ub_dedup_);
    const std::int64_t slots = routes_.ub_count_slots;
    add("ub.counts.send", Purpose::communication, 8 * slots * ranks_);
    add_per_batch(Work::UB, "ub.counts.receive", Purpose::communication, 8 * slots * ranks_);
    add("ub.ids.send", Purpose::communication,
        over_ranks([&](std::int32_t q) { return messages_.ub_ids(rank_, q); }));
    add_per_batch(Work::UB, "ub.ids.receive", Purpose::communication,
                  over_ranks([&](std::int32_t p) { return messages_.ub_ids(p, rank_); }));
    const std::int64_t owner =
        over_ranks([&](std::int32_t p) { return messages_.ub_rows(p, rank_); });
    const std::int64_t consumer =
        over_ranks([&](std::int32_t q) { return messages_.ub_rows(rank_, q); });
    add("ub.rows.send", Purpose::communication, owner);
    add("ub.rows.receive", Purpose::communication, consumer);
    add("ub.rows.gradient_send", Purpose::communication, consumer);
    add("ub.rows.gradient_receive", Purpose::communication, owner);
    add("ub.consumer_wgrad", Purpose::wgrad, ub_consumer_wgrad_);
    add_square_exchange("ub.", ClusterType::UB);
    add_coded("ub.", ClusterType::UB);
  }

  void add_coded(const std::string& cluster, ClusterType type) {
    const CodecMemory memory =
        codec_memory(workload_, topology_, layout_, routes_, type, rank_, capacity_);
    add(cluster + "coded.send", Purpose::communication, memory.message_bytes);
    add(cluster + "coded.receive", Purpose::communication, memory.message_bytes);
    add(cluster + "coded.scratch", Purpose::communication, memory.scratch_bytes());
  }

  void add_dense() {
    const DenseSizes sizes =
        dense_sizes(workload_, samples_of_rank(workload_.global_batch, rank_, ranks_));
    add("dense.parameters", Purpose::dense, sizes.parameter_bytes);
    add("dense.gradients", Purpose::dense, sizes.gradient_bytes);
    add("dense.state", Purpose::dense, sizes.state_bytes);
    add("dense.activations", Purpose::dense, sizes.activation_bytes);
    add("dense.scratch", Purpose::dense, sizes.scratch_bytes);
  }

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

}  // namespace

std::vector<BufferSpec> engine_buffers(const Workload& workload, const Topology& topology,
                                       const Layout& layout, const Routes& routes,
                                       const Schedule& schedule, std::int32_t rank,
                                       const BatchCounts& capacity) {
  return BufferList(workload, topology, layout, routes, schedule, rank, capacity).build();
}

std::vector<BufferSpec> engine_buffers(const Workload& workload, const Topology& topology,
                                       const Layout& layout, const Schedule& schedule,
                                       std::int32_t rank, const BatchCounts& capacity) {
  return engine_buffers(workload, topology, layout, routes_of(workload, topology, layout), schedule,
                        rank, capacity);
}

std::int64_t arena_bytes(const std::vector<BufferSpec>& buffers) {
  std::int64_t bytes = 0;
  for (const BufferSpec& buffer : buffers) {
    bytes = saturating_add(bytes, aligned_bytes(buffer.bytes));
  }
  return bytes;
}

bool prefetches(const Schedule& schedule, Work work) {
  return std::any_of(schedule.steps.begin(), schedule.steps.end(), [&](const ScheduleStep& step) {
    return step.next_batch && step.work == work && step.stage == Stage::input_dist;
  });
}

std::int64_t ids_of_rank(const BatchCounts& counts, std::size_t feature, std::int32_t rank,
                         std::int32_t ranks) {
  const std::vector<std::int64_t>& ids = counts.ids[feature];
  const auto row_shards = static_cast<std::int64_t>(ids.size()) / ranks;
  const auto first = ids.begin() + rank * row_shards;
  return std::accumulate(first, first + row_shards, std::int64_t{0}, saturating_add);
}

std::int64_t output_rows(const Workload& workload, std::size_t feature, std::int32_t rank,
                         const BatchCounts& counts, std::int32_t ranks) {
  return is_pooled(workload.features[feature].pooling)
             ? bags_of_rank(workload, feature, rank, ranks)
             : ids_of_rank(counts, feature, rank, ranks);
}

}  // namespace shardscope
