#include "engine/pipeline/rb.hpp"

#include <string>

#include <fmt/format.h>

#include "layout/messages.hpp"

namespace shardscope::engine {

RbCluster::RbCluster(const RunPlan& plan, RankMemory& memory, Ops& ops)
    : plan_(plan),
      memory_(memory),
      ops_(ops),
      rank_(memory.rank()),
      ranks_(plan.ranks()),
      key_bytes_(bytes_of(plan.workload.key)),
      wire_bytes_(bytes_of(plan.workload.wire)),
      id_units_(plan.routes.rb_ids[static_cast<std::size_t>(memory.rank())]),
      vectors_(VectorBuffers::of(memory.arena())),
      coded_(plan, memory.arena(), "rb.", ClusterType::RB, memory.rank()),
      staging_(IndexStaging::of(memory.arena(), "rb.staging.")),
      owned_(plan, memory, ops, ClusterType::RB, "rb.") {
  place_buckets();
  place_batches();
  place_partials();
  place_combines();
  place_rail_sums();
  place_gradient_offsets();
  owned_.prepare();
}

void RbCluster::place_buckets() {
  Arena& arena = memory_.arena();
  bucket_at_.resize(plan_.workload.features.size());
  for (std::size_t f = 0; f < plan_.workload.features.size(); ++f) {
    const auto feature = static_cast<std::int32_t>(f);
    const std::int32_t table = plan_.feature(feature).table;
    const TablePlacement& placement = plan_.placement(table);
    if (placement.cluster != ClusterType::RB) continue;
    Bucket bucket;
    bucket.feature = feature;
    bucket.split = placement.row_shards > 1;
    if (bucket.split) {
      auto* lengths = arena.get(fmt::format("rb.bucket.lengths[{}]", f), table);
      auto* ids = arena.get(fmt::format("rb.bucket.ids[{}]", f), table);
      auto* weights = arena.get(fmt::format("rb.bucket.weights[{}]", f), table);
      bucket.counts = arena.get<std::int64_t>(fmt::format("rb.bucket.counts[{}]", f), table);
      for (std::int32_t j = 0; j < placement.row_shards; ++j) {
        const std::int64_t capacity = plan_.id_capacity(feature, rank_, j);
        bucket.lengths.push_back(reinterpret_cast<std::int32_t*>(lengths));
        bucket.ids.push_back(ids);
        bucket.weights.push_back(reinterpret_cast<float*>(weights));
        lengths += aligned_bytes(4 * plan_.bags(feature, rank_));
        ids += aligned_bytes(key_bytes_ * capacity);
        if (plan_.feature(feature).weighted) weights += aligned_bytes(4 * capacity);
      }
    }
    bucket_at_[f] = buckets_.size();
    buckets_.push_back(std::move(bucket));
  }
}

void RbCluster::place_batches() {
  Arena& arena = memory_.arena();
  const Messages largest(plan_.workload, plan_.topology, plan_.layout, plan_.routes,
                         plan_.capacity);
  std::vector<std::int64_t> sent, received;
  for (std::int32_t peer = 0; peer < ranks_; ++peer) {
    sent.push_back(largest.rb_ids(rank_, peer));
    received.push_back(largest.rb_ids(peer, rank_));
  }
  counts_send_ = arena.get<std::int64_t>("rb.counts.send");
  ids_send_ = arena.get("rb.ids.send");
  const bool twice = prefetches(plan_.schedule, Work::RB);
  for (std::size_t slot = 0; slot < kBatchSlots; ++slot) {
    Batch& batch = batches_[slot];
    const std::string next = slot > 0 && twice ? ".next" : "";
    batch.counts_receive = arena.get<std::int64_t>("rb.counts.receive" + next);
    batch.ids_receive = arena.get("rb.ids.receive" + next);
    batch.ids_sent = MessageArrays::of_sizes(sent);
    batch.ids_received = MessageArrays::of_sizes(received);
    batch.received.resize(id_units_.size() * static_cast<std::size_t>(ranks_));
    batch.index_copies.resize(owned_.rows().size());
    batch.index_expands.resize(owned_.rows().size());
  }
  for (const OwnedRow& owned : owned_.rows()) {
    std::vector<std::size_t>& units = owned_units_.emplace_back();
    for (std::size_t u = 0; u < id_units_.size(); ++u) {
      if (id_units_[u].table == owned.table && id_units_[u].row == owned.row) units.push_back(u);
    }
  }
  for (std::int32_t owner = 0; owner < ranks_; ++owner) {
    const std::vector<IdUnit>& units = plan_.routes.rb_ids[static_cast<std::size_t>(owner)];
    for (std::size_t u = 0; u < units.size(); ++u) {
      const Bucket& bucket = bucket_of(units[u].feature);
      if (!bucket.split) continue;
      pack_counts_.push_back(
          {bucket.counts + source_row(units[u]),
           counts_send_ + owner * plan_.routes.rb_count_slots + static_cast<std::int64_t>(u), 8});
    }
  }
}

RbCluster::VectorBuffers RbCluster::VectorBuffers::of(Arena& arena) {
  return {arena.get("rb.flat.send"),
          arena.get("rb.flat.receive"),
          arena.get("rb.flat.gradient_send"),
          arena.get("rb.flat.gradient_receive"),
          arena.get("rb.domain.send"),
          arena.get("rb.domain.receive"),
          arena.get("rb.domain.gradient_send"),
          arena.get("rb.domain.gradient_receive"),
          arena.get("rb.rail.send"),
          arena.get("rb.rail.receive"),
          arena.get("rb.rail.gradient_send"),
          arena.get("rb.rail.gradient_receive"),
          arena.get("rb.partial")};
}

const RbCluster::Bucket& RbCluster::bucket_of(std::int32_t feature) const {
  return buckets_[bucket_at_[static_cast<std::size_t>(feature)]];
}

void RbCluster::index_calculation(const StageCall& call) {
  const Batch& batch = batches_[call.slot];
  for (std::size_t i = 0; i < owned_.rows().size(); ++i) {
    ops_.copy_bytes(call.stream, batch.index_copies[i]);
    ops_.expand_bags(call.stream, batch.index_expands[i]);
    ops_.sort_index(call.stream, {&batch.sorts[i], 1});
  }
}

void RbCluster::local_reduce(const StageCall& call) {
  owned_.local_reduce(call.stream);
}

void RbCluster::update(const StageCall& call) {
  owned_.update(call.stream, call.communicator, call.step);
}

std::int64_t RbCluster::rows(std::size_t slot) const {
  return batches_[slot].ids;
}

}  // namespace shardscope::engine
