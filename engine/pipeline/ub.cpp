#include "engine/pipeline/ub.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "layout/messages.hpp"

namespace shardscope::engine {

UbCluster::UbCluster(const RunPlan& plan, RankMemory& memory, Ops& ops)
    : plan_(plan),
      memory_(memory),
      ops_(ops),
      rank_(memory.rank()),
      ranks_(plan.ranks()),
      key_bytes_(bytes_of(plan.workload.key)),
      wire_bytes_(bytes_of(plan.workload.wire)),
      staging_(IndexStaging::of(memory.arena(), "ub.staging.")),
      owned_(plan, memory, ops, ClusterType::UB, "ub."),
      coded_(plan, memory.arena(), "ub.", ClusterType::UB, memory.rank()) {
  for (std::int32_t p = 0; p < ranks_; ++p) all_ranks_.push_back(p);
  Arena& arena = memory_.arena();
  counts_send_ = arena.get<std::int64_t>("ub.counts.send");
  ids_send_ = arena.get("ub.ids.send");
  concatenated_ = arena.get("ub.concatenated_ids");
  dedup_table_ = arena.get("ub.dedup_table");
  rows_send_ = arena.get("ub.rows.send");
  rows_receive_ = arena.get("ub.rows.receive");
  gradient_send_ = arena.get("ub.rows.gradient_send");
  gradient_receive_ = arena.get("ub.rows.gradient_receive");
  consumer_wgrad_ = arena.get<float>("ub.consumer_wgrad");
  table_at_.resize(plan_.workload.tables.size());
  for (std::size_t t = 0; t < plan_.layout.tables.size(); ++t) {
    if (plan_.layout.tables[t].cluster != ClusterType::UB) continue;
    table_at_[t] = tables_.size();
    place_table(static_cast<std::int32_t>(t));
  }
  place_owned();
  const bool twice = prefetches(plan_.schedule, Work::UB);
  for (std::size_t slot = 0; slot < kBatchSlots; ++slot) {
    place_batch(batches_[slot], slot > 0 && twice ? ".next" : "");
  }
}

void UbCluster::place_table(std::int32_t t) {
  Arena& arena = memory_.arena();
  TableState state;
  state.table = t;
  state.weighted = has_occurrence_weights(plan_, t);
  auto* requests = arena.get("ub.requests", t);
  for (std::int32_t j = 0; j < plan_.placement(t).row_shards; ++j) {
    state.requests.push_back(requests);
    requests += aligned_bytes(key_bytes_ * plan_.request_capacity(t, rank_, j));
  }
  state.request_counts = arena.get<std::int64_t>("ub.request_counts", t);
  state.rows = arena.get<float>("ub.rows", t);
  if (arena.has("ub.feedback", t)) {
    state.lost = arena.get<float>("ub.feedback", t);
    std::fill_n(state.lost, plan_.table(t).rows * plan_.table(t).dim, 0.0F);
  }
  state.index = sorted_index_of(arena, "ub.consumer.", "", t, state.weighted);
  state.reduce.unique_count = state.index.unique_count;
  state.reduce.offsets = state.index.offsets;
  state.reduce.gradient_row = state.index.sorted_gradient_row;
  state.reduce.weights = state.index.sorted_weights;
  state.reduce.gradients = memory_.table_gradient(t);
  state.reduce.stride = plan_.table(t).dim;
  state.reduce.width = plan_.table(t).dim;
  state.reduce.out = consumer_wgrad_;
  tables_.push_back(std::move(state));
}

void UbCluster::place_owned() {
  for (OwnedRow& row : owned_.rows()) {
    for (OwnedColumn& column : row.columns) {
      column.gradients = gradient_receive_;
      column.gradient_offset = memory_.arena().get<std::int64_t>(
          fmt::format("ub.gradient_offset[{},{}]", row.row, column.shard.column), row.table);
    }
  }
  owned_.prepare();
  for (std::int32_t owner = 0; owner < ranks_; ++owner) {
    std::int64_t slot = owner * std::int64_t{plan_.routes.ub_count_slots};
    for (const RowUnit& unit : plan_.routes.ub_rows[static_cast<std::size_t>(owner)]) {
      const TableState& state = tables_[table_at_[static_cast<std::size_t>(unit.table)]];
      pack_counts_.push_back({state.request_counts + unit.row, counts_send_ + slot++, 8});
    }
  }
}

void UbCluster::place_batch(Batch& batch, const char* next) {
  Arena& arena = memory_.arena();
  batch.counts_receive = arena.get<std::int64_t>(std::string("ub.counts.receive") + next);
  batch.ids_receive = arena.get(std::string("ub.ids.receive") + next);
  for (const TableState& state : tables_) {
    batch.slots.push_back(arena.get<std::uint32_t>(std::string("ub.slots") + next, state.table));
    batch.asked.emplace_back(state.requests.size());
    batch.first.emplace_back(state.requests.size());
    batch.feedback_ids.push_back(
        state.lost == nullptr ? nullptr
                              : arena.get(std::string("ub.feedback.ids") + next, state.table));
  }
  const Messages largest(plan_.workload, plan_.topology, plan_.layout, plan_.routes,
                         plan_.capacity);
  std::vector<std::int64_t> ids_out, ids_in, rows_out, rows_in;
  for (std::int32_t peer = 0; peer < ranks_; ++peer) {
    ids_out.push_back(largest.ub_ids(rank_, peer));
    ids_in.push_back(largest.ub_ids(peer, rank_));
    rows_out.push_back(largest.ub_rows(peer, rank_));
    rows_in.push_back(largest.ub_rows(rank_, peer));
  }
  batch.ids_sent = MessageArrays::of_sizes(ids_out);
  batch.ids_received = MessageArrays::of_sizes(ids_in);
  batch.rows_sent = MessageArrays::of_sizes(rows_out);
  batch.rows_received = MessageArrays::of_sizes(rows_in);
  const auto ranks = static_cast<std::size_t>(ranks_);
  const std::vector<RowUnit>& units = plan_.routes.ub_rows[static_cast<std::size_t>(rank_)];
  for (std::size_t u = 0; u < units.size(); ++u) {
    // Units and owned rows are both in order of table and row shard.
    batch.units.push_back(
        {units[u], u, std::vector<std::int64_t>(ranks), 0, std::vector<const std::byte*>(ranks)});
  }
  batch.concatenate.resize(tables_.size());
  batch.consumer_expands.resize(tables_.size());
  batch.gradient_packs.resize(tables_.size());
  batch.owner_copies.resize(units.size());
}

void UbCluster::model_forward(const StageCall& call) {
  const Batch& batch = batches_[call.slot];
  ops_.gather_rows(call.stream, batch.replies);
  batch.lookups.enqueue_scales(ops_, call.stream);
}

void UbCluster::network_forward(const StageCall& call) {
  const Batch& batch = batches_[call.slot];
  exchange(call, Direction::forward,
           all_to_all(rows_send_, batch.rows_sent, rows_receive_, batch.rows_received));
  ops_.copy_columns(call.stream, batch.assemble);
  batch.lookups.enqueue_lookups(ops_, call.stream);
}

void UbCluster::index_calculation(const StageCall& call) {
  const Batch& batch = batches_[call.slot];
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    ops_.expand_bags(call.stream, batch.consumer_expands[i]);
    ops_.sort_index(call.stream, {&batch.consumer_sorts[i], 1});
  }
  ops_.fill_offsets(call.stream, batch.gradient_offsets);
  for (std::size_t i = 0; i < batch.owner_sorts.size(); ++i) {
    ops_.copy_bytes(call.stream, batch.owner_copies[i]);
    ops_.sort_index(call.stream, {&batch.owner_sorts[i], 1});
  }
}

void UbCluster::network_backward(const StageCall& call) {
  const Batch& batch = batches_[call.slot];
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    ops_.segment_reduce(call.stream, {&tables_[i].reduce, 1});
    ops_.copy_columns(call.stream, batch.gradient_packs[i]);
  }
  exchange(call, Direction::backward,
           all_to_all(gradient_send_, batch.rows_received, gradient_receive_, batch.rows_sent));
}

void UbCluster::exchange(const StageCall& call, Direction direction, const AllToAllV& arrays) {
  if (!call.coded || !coded_.active(direction)) {
    call.communicator.alltoall_v(call.stream, Group::flat, arrays);
    return;
  }
  const Batch& batch = batches_[call.slot];
  const auto d = static_cast<std::size_t>(direction);
  const bool forward = direction == Direction::forward;
  coded_.enqueue(call.stream, call.helper, call.communicator,
                 {direction, Group::flat, &all_ranks_, arrays,
                  forward ? &batch.chunks_as_owner[d] : &batch.chunks_as_consumer[d],
                  forward ? &batch.chunks_as_consumer[d] : &batch.chunks_as_owner[d],
                  plan_.decay.factor(call.step - 1)});
}

void UbCluster::local_reduce(const StageCall& call) {
  owned_.local_reduce(call.stream);
}

void UbCluster::update(const StageCall& call) {
  owned_.update(call.stream, call.communicator, call.step);
}

}  // namespace shardscope::engine
