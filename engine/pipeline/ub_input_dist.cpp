// input_dist of UB: the rows a rank needs, to their owners.

#include <fmt/format.h>

#include "engine/pipeline/ub.hpp"

namespace shardscope::engine {

Status UbCluster::input_dist(const StageCall& call) {
  const std::int32_t slots = plan_.routes.ub_count_slots;
  if (slots == 0) return {};
  Batch& batch = batches_[call.slot];
  fill_requests(batch, call.batch);
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    ops_.copy_bytes(call.stream, batch.concatenate[i]);
    if (plan_.dedup()) {
      ops_.dedup(call.stream, {&batch.dedup[i], 1});
    } else {
      ops_.group_ids(call.stream, {&batch.group[i], 1});
    }
  }
  ops_.copy_bytes(call.stream, pack_counts_);
  const CountsHandle counts = call.communicator.exchange_counts(
      call.stream, Group::flat, counts_send_, batch.counts_receive, slots);
  if (Status status = call.communicator.wait(counts); !status) return status;
  if (Status status = fill_messages(batch); !status) return status;
  if (Status status = read_counts(batch); !status) return status;
  ops_.copy_bytes(call.stream, batch.pack_ids);
  call.communicator.alltoall_v(
      call.stream, Group::flat,
      all_to_all(ids_send_, batch.ids_sent, batch.ids_receive, batch.ids_received));
  ops_.copy_bytes(call.stream, batch.keep_ids);
  fill_replies(batch);
  fill_assembly(batch);
  fill_lookups(batch, call.batch);
  fill_owner_index(batch);
  fill_chunks(batch);
  return {};
}

void UbCluster::fill_requests(Batch& batch, const BatchView& input) {
  batch.dedup.clear();
  batch.group.clear();
  for (std::size_t i = 0; i < tables_.size(); ++i) fill_request(batch, input, i);
}

// A table with one feature is read in place; the ids of several are put side by side first.
void UbCluster::fill_request(Batch& batch, const BatchView& input, std::size_t i) {
  const TableState& state = tables_[i];
  const std::vector<std::int32_t>& readers = plan_.features_of(state.table);
  batch.concatenate[i].clear();
  std::int64_t count = 0;
  const void* ids = nullptr;
  for (const std::int32_t f : readers) {
    const FeatureView& from = input.feature(f);
    ids = from.ids;
    if (readers.size() > 1) {
      batch.concatenate[i].push_back(
          {ids, concatenated_ + count * key_bytes_, from.count * key_bytes_});
    }
    count += from.count;
  }
  if (readers.size() > 1) ids = concatenated_;
  const TablePlacement& placement = plan_.placement(state.table);
  if (plan_.dedup()) {
    batch.dedup.push_back({count, ids, plan_.workload.key, placement.row_shards,
                           row_cuts_of(placement), state.requests.data(), state.request_counts,
                           batch.slots[i], dedup_table_});
  } else {
    batch.group.push_back({count, ids, plan_.workload.key, placement.row_shards,
                           row_cuts_of(placement), state.requests.data(), state.request_counts,
                           batch.slots[i]});
  }
}

Status UbCluster::check_count(const RowUnit& unit, std::int32_t source, std::int64_t count) const {
  const std::int64_t capacity = plan_.request_capacity(unit.table, source, unit.row);
  if (count >= 0 && count <= capacity) return {};
  return fail({ErrorKind::runtime,
               fmt::format("{} rows do not fit the buffer of {}", count, capacity),
               fmt::format("table {}, row shard {}, from rank {} to rank {}",
                           plan_.table(unit.table).name, unit.row, source, rank_),
               "", "Lower the features' hotness or raise the number of batches counted ahead"});
}

Status UbCluster::fill_messages(Batch& batch) {
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    std::int64_t before = 0;
    for (std::size_t j = 0; j < batch.asked[i].size(); ++j) {
      batch.asked[i][j] = tables_[i].request_counts[j];
      batch.first[i][j] = before;
      before += batch.asked[i][j];
      const RowUnit unit{tables_[i].table, static_cast<std::int32_t>(j), 0};
      if (Status status = check_count(unit, rank_, batch.asked[i][j]); !status) return status;
    }
  }
  batch.keep_ids.clear();
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    if (tables_[i].lost == nullptr) continue;
    const auto* first = static_cast<const std::byte*>(tables_[i].requests.front());
    for (std::size_t j = 0; j < batch.asked[i].size(); ++j) {
      const auto* ids = static_cast<const std::byte*>(tables_[i].requests[j]);
      batch.keep_ids.push_back(
          {ids, batch.feedback_ids[i] + (ids - first), batch.asked[i][j] * key_bytes_});
    }
  }
  batch.pack_ids.clear();
  for (std::int32_t owner = 0; owner < ranks_; ++owner) {
    std::byte* const first = ids_send_ + batch.ids_sent.offset(owner);
    std::byte* to = first;
    std::int64_t elements = 0;
    for (const RowUnit& unit : plan_.routes.ub_rows[static_cast<std::size_t>(owner)]) {
      const std::size_t i = table_at_[static_cast<std::size_t>(unit.table)];
      const auto j = static_cast<std::size_t>(unit.row);
      const std::int64_t count = batch.asked[i][j];
      batch.pack_ids.push_back({tables_[i].requests[j], to, count * key_bytes_});
      to += count * key_bytes_;
      elements += count * unit.width;
    }
    batch.ids_sent.size(owner) = to - first;
    batch.rows_received.size(owner) = owner == rank_ ? 0 : elements * wire_bytes_;
  }
  return {};
}

Status UbCluster::read_counts(Batch& batch) {
  batch.rows = 0;
  for (std::int32_t p = 0; p < ranks_; ++p) {
    const std::int64_t* counts =
        batch.counts_receive + p * std::int64_t{plan_.routes.ub_count_slots};
    const std::byte* const first = batch.ids_receive + batch.ids_received.offset(p);
    const std::byte* from = first;
    std::int64_t elements = 0;
    for (std::size_t u = 0; u < batch.units.size(); ++u) {
      Unit& unit = batch.units[u];
      if (Status status = check_count(unit.unit, p, counts[u]); !status) return status;
      unit.received[static_cast<std::size_t>(p)] = counts[u];
      unit.local_rows[static_cast<std::size_t>(p)] = from;
      from += counts[u] * key_bytes_;
      elements += counts[u] * unit.unit.width;
      batch.rows += counts[u];
    }
    batch.ids_received.size(p) = from - first;
    batch.rows_sent.size(p) = p == rank_ ? 0 : elements * wire_bytes_;
  }
  return {};
}

}  // namespace shardscope::engine
