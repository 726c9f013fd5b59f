// Buffers of the RB cluster.

#include "layout/buffer_list.hpp"

#include <fmt/format.h>

namespace shardscope {

void BufferList::add_rb_table() {
  if (placement().row_shards > 1) {
    for (const std::int32_t f : readers()) add_rb_buckets(f);
  }
  std::int64_t all_bags = 0;  // of all ranks: each sample's on one of them
  for (const std::int32_t f : readers()) {
    all_bags = saturating_add(all_bags,
                              saturating_multiply(workload_.global_batch, feature(f).num_poolings));
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
    add(fmt::format("rb.gradient_offset[{}]", k), Purpose::indices,
        saturating_multiply(all_bags, 8));
  }
}

void BufferList::add_rb_buckets(std::int32_t f) {
  const std::int64_t row_shards = placement().row_shards;
  std::int64_t id_bytes = 0;
  std::int64_t weight_bytes = 0;
  for (std::int64_t j = 0; j < row_shards; ++j) {
    const std::int64_t ids =
        capacity_
            .ids[static_cast<std::size_t>(f)][static_cast<std::size_t>(rank_ * row_shards + j)];
    id_bytes = saturating_add(id_bytes, aligned_bytes(saturating_multiply(ids, key_bytes_)));
    weight_bytes = saturating_add(weight_bytes, aligned_bytes(saturating_multiply(ids, 4)));
  }
  add(fmt::format("rb.bucket.lengths[{}]", f), Purpose::indices,
      row_shards * aligned_bytes(saturating_multiply(bags(f, rank_), 4)));
  add(fmt::format("rb.bucket.ids[{}]", f), Purpose::indices, id_bytes);
  add(fmt::format("rb.bucket.weights[{}]", f), Purpose::indices,
      feature(f).weighted ? weight_bytes : 0);
  add(fmt::format("rb.bucket.counts[{}]", f), Purpose::indices, saturating_multiply(row_shards, 8));
}

void BufferList::add_rb_shared() {
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

void BufferList::add_rb_hierarchical() {
  const std::int32_t domain = topology_.domain_of(rank_);
  const std::int32_t rail = topology_.rail_of(rank_);
  const std::int32_t first = domain * topology_.fast_domain;
  std::int64_t owner = 0;       // what this rank's partials take
  std::int64_t rail_owner = 0;  // what its domain's owners hand it for its rail
  for (std::int32_t peer = 0; peer < topology_.fast_domain; ++peer) {
    owner = saturating_add(owner, aligned_bytes(messages_.rb_domain(rank_, peer)));
    rail_owner = saturating_add(rail_owner, aligned_bytes(messages_.rb_domain(first + peer, rail)));
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

std::int64_t BufferList::partial_bytes() const {
  if (workload_.wire == DType::fp32) return 0;
  const std::int64_t samples = samples_of_rank(workload_.global_batch, 0, ranks_);
  std::int64_t most = 0;
  const auto raise = [&](const std::vector<PartialUnit>& partials) {
    for (const PartialUnit& partial : partials) {
      const std::int64_t width =
          layout_.tables[static_cast<std::size_t>(partial.table)].width(partial.column);
      most = std::max(
          most, saturating_multiply(samples * feature(partial.feature).num_poolings, width * 4));
    }
  };
  raise(routes_.rb_flat[static_cast<std::size_t>(rank_)]);
  raise(routes_.rb_domain[static_cast<std::size_t>(topology_.domain_of(rank_))]);
  return most;
}

}  // namespace shardscope
