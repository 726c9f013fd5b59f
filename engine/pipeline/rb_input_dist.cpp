// input_dist of RB: ids by row shard to the owners.

#include <algorithm>

#include <fmt/format.h>

#include "engine/pipeline/rb.hpp"

namespace shardscope::engine {

Status RbCluster::input_dist(const StageCall& call) {
  const std::int32_t slots = plan_.routes.rb_count_slots;
  if (slots == 0) return {};
  Batch& batch = batches_[call.slot];
  fill_buckets(batch, call.batch);
  ops_.bucketize(call.stream, batch.bucketize);
  ops_.copy_bytes(call.stream, pack_counts_);
  const CountsHandle counts = call.communicator.exchange_counts(
      call.stream, Group::flat, counts_send_, batch.counts_receive, slots);
  if (Status status = call.communicator.wait(counts); !status) return status;
  if (Status status = fill_messages(batch, call.batch); !status) return status;
  ops_.copy_bytes(call.stream, batch.pack_ids);
  call.communicator.alltoall_v(
      call.stream, Group::flat,
      all_to_all(ids_send_, batch.ids_sent, batch.ids_receive, batch.ids_received));
  fill_pool(batch);
  fill_index(batch);
  return {};
}

void RbCluster::fill_buckets(Batch& batch, const BatchView& input) {
  batch.bucketize.clear();
  batch.scales.clear();
  for (const Bucket& bucket : buckets_) {
    const FeatureView& ids = input.feature(bucket.feature);
    const Feature& feature = plan_.feature(bucket.feature);
    if (feature.pooling == Pooling::mean) {
      batch.scales.push_back({plan_.bags(bucket.feature, rank_), ids.lengths,
                              memory_.feature(bucket.feature).bag_scale});
    }
    if (!bucket.split) continue;
    const TablePlacement& placement = plan_.placement(feature.table);
    Bucketize call;
    call.bags = plan_.bags(bucket.feature, rank_);
    call.lengths = ids.lengths;
    call.ids = ids.ids;
    call.key = plan_.workload.key;
    call.weights = feature.weighted ? ids.weights : nullptr;
    call.row_shards = placement.row_shards;
    call.row_cuts = row_cuts_of(placement);
    call.lengths_out = bucket.lengths.data();
    call.ids_out = bucket.ids.data();
    call.weights_out = bucket.weights.data();
    call.counts = bucket.counts;
    batch.bucketize.push_back(call);
  }
  for (std::int32_t owner = 0; owner < ranks_; ++owner) {
    const std::vector<IdUnit>& units = plan_.routes.rb_ids[static_cast<std::size_t>(owner)];
    for (std::size_t u = 0; u < units.size(); ++u) {
      if (bucket_of(units[u].feature).split) continue;
      counts_send_[owner * plan_.routes.rb_count_slots + static_cast<std::int64_t>(u)] =
          input.feature(units[u].feature).count;
    }
  }
}

std::int64_t RbCluster::sent_count(const Bucket& bucket, std::int32_t row,
                                   const BatchView& input) const {
  return bucket.split ? bucket.counts[row] : input.feature(bucket.feature).count;
}

/// The row shard whose ids an id unit carries: its own, but for a planted fault (which leaves rows
/// inside their shard, so that it shows in what is learned and not in what is read).
std::int32_t RbCluster::source_row(const IdUnit& unit) const {
  if (plan_.fault != Fault::wrong_owner) return unit.row;
  const TablePlacement& placement = plan_.placement(unit.table);
  const std::int64_t rows = plan_.table(unit.table).rows;
  const std::int32_t other = (unit.row + 1) % placement.row_shards;
  return placement.rows_in(other, rows) <= placement.rows_in(unit.row, rows) ? other : unit.row;
}

Status RbCluster::fill_messages(Batch& batch, const BatchView& input) {
  batch.pack_ids.clear();
  for (std::int32_t owner = 0; owner < ranks_; ++owner) {
    for (const IdUnit& unit : plan_.routes.rb_ids[static_cast<std::size_t>(owner)]) {
      const std::int64_t count = sent_count(bucket_of(unit.feature), source_row(unit), input);
      if (Status status = check_count(unit, rank_, count); !status) return status;
    }
    pack_message(batch, input, owner);
  }
  return read_counts(batch);
}

void RbCluster::pack_message(Batch& batch, const BatchView& input, std::int32_t owner) {
  const std::vector<IdUnit>& units = plan_.routes.rb_ids[static_cast<std::size_t>(owner)];
  std::byte* const first = ids_send_ + batch.ids_sent.offset(owner);
  std::byte* to = first;
  const auto copy = [&](const void* from, std::int64_t bytes) {
    batch.pack_ids.push_back({from, to, bytes});
    to += bytes;
  };
  for (const IdUnit& unit : units) {
    const Bucket& bucket = bucket_of(unit.feature);
    const FeatureView& ids = input.feature(unit.feature);
    const std::int32_t row = source_row(unit);
    copy(bucket.split ? bucket.ids[static_cast<std::size_t>(row)] : ids.ids,
         key_bytes_ * sent_count(bucket, row, input));
  }
  for (const IdUnit& unit : units) {
    const Bucket& bucket = bucket_of(unit.feature);
    const FeatureView& ids = input.feature(unit.feature);
    const auto row = static_cast<std::size_t>(source_row(unit));
    copy(bucket.split ? bucket.lengths[row] : ids.lengths, 4 * plan_.bags(unit.feature, rank_));
  }
  for (const IdUnit& unit : units) {
    if (!plan_.feature(unit.feature).weighted) continue;
    const Bucket& bucket = bucket_of(unit.feature);
    const FeatureView& ids = input.feature(unit.feature);
    const std::int32_t row = source_row(unit);
    copy(bucket.split ? bucket.weights[static_cast<std::size_t>(row)] : ids.weights,
         4 * sent_count(bucket, row, input));
  }
  batch.ids_sent.size(owner) = to - first;
}

Status RbCluster::check_count(const IdUnit& unit, std::int32_t source, std::int64_t count) const {
  const std::int64_t capacity = plan_.id_capacity(unit.feature, source, unit.row);
  if (count >= 0 && count <= capacity) return {};
  return fail({ErrorKind::runtime,
               fmt::format("{} ids of feature {} do not fit the buffer of {}", count,
                           plan_.feature(unit.feature).name, capacity),
               fmt::format("table {}, row shard {}, from rank {} to rank {}",
                           plan_.table(unit.table).name, unit.row, source, rank_),
               "", "Lower the feature's hotness or raise the number of batches counted ahead"});
}

// A count of a peer is trusted only after it has been compared with the buffers.
Status RbCluster::read_counts(Batch& batch) {
  batch.ids = 0;
  const std::int64_t slots = plan_.routes.rb_count_slots;
  for (std::int32_t p = 0; p < ranks_; ++p) {
    const std::int64_t* counts = batch.counts_receive + p * slots;
    const std::byte* from = batch.ids_receive + batch.ids_received.offset(p);
    const std::byte* const first = from;
    const auto at = [&](std::size_t unit) -> Received& {
      return batch.received[unit * static_cast<std::size_t>(ranks_) + static_cast<std::size_t>(p)];
    };
    for (std::size_t u = 0; u < id_units_.size(); ++u) {
      if (Status status = check_count(id_units_[u], p, counts[u]); !status) return status;
      at(u).count = counts[u];
      at(u).ids = from;
      from += key_bytes_ * counts[u];
      batch.ids += counts[u];
    }
    for (std::size_t u = 0; u < id_units_.size(); ++u) {
      at(u).lengths = reinterpret_cast<const std::int32_t*>(from);
      from += 4 * plan_.bags(id_units_[u].feature, p);
    }
    for (std::size_t u = 0; u < id_units_.size(); ++u) {
      const bool weighted = plan_.feature(id_units_[u].feature).weighted;
      at(u).weights = weighted ? reinterpret_cast<const float*>(from) : nullptr;
      if (weighted) from += 4 * counts[u];
    }
    batch.ids_received.size(p) = from - first;
  }
  return {};
}

// The occurrences of an owned row shard: its features in order, of each the ids of every source in
// order. Gradient rows number the bags of all ranks likewise, whatever the row shard.
void RbCluster::fill_index(Batch& batch) {
  batch.sorts.clear();
  for (std::size_t i = 0; i < owned_.rows().size(); ++i) {
    const OwnedRow& owned = owned_.rows()[i];
    batch.index_copies[i].clear();
    batch.index_expands[i].clear();
    std::int64_t count = 0;
    std::uint32_t gradient_row = 0;
    for (const std::size_t u : owned_units_[i]) {
      const IdUnit& unit = id_units_[u];
      for (std::int32_t p = 0; p < ranks_; ++p) {
        const Received& received =
            batch.received[u * static_cast<std::size_t>(ranks_) + static_cast<std::size_t>(p)];
        const std::int64_t bags = plan_.bags(unit.feature, p);
        if (plan_.fault != Fault::missing_rank || p + 1 < ranks_) {
          batch.index_copies[i].push_back(
              {received.ids, staging_.rows + count * key_bytes_, received.count * key_bytes_});
          batch.index_expands[i].push_back({bags, received.lengths, gradient_row, received.weights,
                                            nullptr, staging_.gradient_row + count,
                                            owned.weighted ? staging_.weights + count : nullptr});
          count += received.count;
        }
        gradient_row += static_cast<std::uint32_t>(bags);
      }
    }
    if (plan_.fault == Fault::lost_duplicate && count > 1) --count;
    SortIndex sort = sort_into(owned.index, staging_);
    sort.count = count;
    sort.rows = staging_.rows;
    sort.key = plan_.workload.key;
    sort.row_limit = owned.columns.front().shard.rows;
    sort.gradient_row = staging_.gradient_row;
    sort.weights = owned.weighted ? staging_.weights : nullptr;
    batch.sorts.push_back(sort);
  }
}

}  // namespace shardscope::engine
