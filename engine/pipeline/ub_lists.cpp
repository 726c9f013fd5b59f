// The lists of UB's later stages for one batch, filled behind the counts.

#include "engine/pipeline/ub.hpp"

namespace shardscope::engine {

// Rows of every column shard that the owner replies with, and where their gradients will stand.
void UbCluster::fill_replies(Batch& batch) {
  batch.replies.clear();
  batch.gradient_offsets.clear();
  for (Unit& unit : batch.units) unit.before = 0;
  for (std::int32_t p = 0; p < ranks_; ++p) {
    std::int64_t offset = batch.rows_sent.offset(p);
    for (Unit& unit : batch.units) {
      const std::int64_t count = unit.received[static_cast<std::size_t>(p)];
      for (const OwnedColumn& column : owned_.rows()[unit.owned].columns) {
        const ShardMemory& shard = column.shard;
        batch.replies.push_back({shard.weights, plan_.table(shard.table).dtype, shard.width,
                                 shard.width, count, unit.local_rows[static_cast<std::size_t>(p)],
                                 plan_.workload.key, rows_send_ + offset, plan_.workload.wire,
                                 shard.width});
        batch.gradient_offsets.push_back(
            {count, offset / wire_bytes_, shard.width, column.gradient_offset + unit.before});
        offset += count * shard.width * wire_bytes_;
      }
      unit.before += count;
    }
  }
}

// Received columns into the tables' asked rows, and the way back of their gradients.
void UbCluster::fill_assembly(Batch& batch) {
  batch.assemble.clear();
  for (std::vector<CopyColumns>& packs : batch.gradient_packs) packs.clear();
  for (std::int32_t owner = 0; owner < ranks_; ++owner) {
    // A rank's message to itself does not travel: it is read where it was written.
    const bool self = owner == rank_;
    const std::byte* const receive = self ? rows_send_ : rows_receive_;
    std::byte* const back_to = self ? gradient_receive_ : gradient_send_;
    std::int64_t offset = self ? batch.rows_sent.offset(owner) : batch.rows_received.offset(owner);
    for (const RowUnit& unit : plan_.routes.ub_rows[static_cast<std::size_t>(owner)]) {
      const std::size_t i = table_at_[static_cast<std::size_t>(unit.table)];
      const TablePlacement& placement = plan_.placement(unit.table);
      const std::int64_t dim = plan_.table(unit.table).dim;
      const std::int64_t first = batch.first[i][static_cast<std::size_t>(unit.row)];
      const std::int64_t count = batch.asked[i][static_cast<std::size_t>(unit.row)];
      for (std::int32_t k = 0; k < placement.column_shards(); ++k) {
        if (placement.owner(unit.row, k) != owner) continue;
        CopyColumns call;
        call.from = receive + offset;
        call.from_type = plan_.workload.wire;
        call.from_stride = placement.width(k);
        call.to = tables_[i].rows + first * dim + placement.column_begin(k);
        call.to_stride = dim;
        call.rows = count;
        call.width = placement.width(k);
        batch.assemble.push_back(call);
        CopyColumns back;
        back.from = consumer_wgrad_ + first * dim + placement.column_begin(k);
        back.from_stride = dim;
        back.to = back_to + offset;
        back.to_type = plan_.workload.wire;
        back.to_stride = placement.width(k);
        back.rows = count;
        back.width = placement.width(k);
        back.factor = plan_.wire_scale();
        batch.gradient_packs[i].push_back(back);
        offset += count * placement.width(k) * wire_bytes_;
      }
    }
  }
}

void UbCluster::fill_chunks(Batch& batch) {
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    if (coded_.active(direction)) fill_chunks(batch, direction);
  }
}

// A chunk a column shard of a row unit: exactly one owner sends it, nothing is added up.
void UbCluster::fill_chunks(Batch& batch, Direction direction) {
  ChunkLists& as_owner = batch.chunks_as_owner[static_cast<std::size_t>(direction)];
  ChunkLists& as_consumer = batch.chunks_as_consumer[static_cast<std::size_t>(direction)];
  as_owner.resize(static_cast<std::size_t>(ranks_));
  as_consumer.resize(static_cast<std::size_t>(ranks_));
  const auto add = [&](std::vector<MessageChunk>& chunks, const RowUnit& unit, std::int32_t owner,
                       std::int32_t peer, std::int64_t rows, std::int64_t offset) {
    const CodecSpec spec = coded_.spec_of(unit.table, peer, direction, 1);
    const TablePlacement& placement = plan_.placement(unit.table);
    for (std::int32_t k = 0; k < placement.column_shards(); ++k) {
      if (placement.owner(unit.row, k) != owner) continue;
      chunks.push_back({unit.table, spec, offset, {rows, placement.width(k)}, {}});
      // Gradients are sent by the consumer.
      const bool sends = owner != rank_ && direction == Direction::backward;
      if (spec.feedback && sends) chunks.back().feedback = feedback_of(batch, unit, k);
      offset += rows * placement.width(k) * wire_bytes_;
    }
    return offset;
  };
  for (std::int32_t p = 0; p < ranks_; ++p) {
    const auto at = static_cast<std::size_t>(p);
    as_owner[at].clear();
    as_consumer[at].clear();
    if (p == rank_) continue;
    std::int64_t offset = batch.rows_sent.offset(p);
    for (const Unit& unit : batch.units) {
      offset = add(as_owner[at], unit.unit, rank_, p, unit.received[at], offset);
    }
    offset = batch.rows_received.offset(p);
    for (const RowUnit& unit : plan_.routes.ub_rows[at]) {
      const std::size_t i = table_at_[static_cast<std::size_t>(unit.table)];
      offset = add(as_consumer[at], unit, p, p, batch.asked[i][static_cast<std::size_t>(unit.row)],
                   offset);
    }
  }
  CodedExchange::drop_raw(as_owner);
  CodedExchange::drop_raw(as_consumer);
}

ChunkFeedback UbCluster::feedback_of(const Batch& batch, const RowUnit& unit,
                                     std::int32_t column) const {
  const std::size_t i = table_at_[static_cast<std::size_t>(unit.table)];
  const TableState& state = tables_[i];
  const auto* requests =
      static_cast<const std::byte*>(state.requests[static_cast<std::size_t>(unit.row)]);
  const auto* first = static_cast<const std::byte*>(state.requests.front());
  return {state.lost, batch.feedback_ids[i] + (requests - first), unit.row,
          plan_.placement(unit.table).column_begin(column)};
}

// The consumer looks its ids up in the asked rows by slot, and reduces gradients by slot.
void UbCluster::fill_lookups(Batch& batch, const BatchView& input) {
  batch.lookups.clear();
  batch.consumer_sorts.clear();
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const TableState& state = tables_[i];
    batch.consumer_expands[i].clear();
    std::int64_t count = 0;
    std::int64_t asked = 0;
    for (const std::int64_t rows : batch.asked[i]) asked += rows;
    for (const std::int32_t f : plan_.features_of(state.table)) {
      const FeatureView& ids = input.feature(f);
      batch.lookups.add(plan_, memory_, f, ids,
                        {state.rows, DType::fp32, plan_.table(state.table).dim,
                         batch.slots[i] + count, KeyType::i32});
      batch.consumer_expands[i].push_back(
          expand_feature(plan_, memory_, f, ids, staging_.gradient_row + count,
                         state.weighted ? staging_.weights + count : nullptr));
      count += ids.count;
    }
    if (plan_.fault == Fault::lost_duplicate && count > asked) --count;
    SortIndex sort = sort_into(state.index, staging_);
    sort.count = count;
    sort.rows = batch.slots[i];
    sort.key = KeyType::i32;
    sort.row_limit = asked;
    sort.gradient_row = staging_.gradient_row;
    sort.weights = state.weighted ? staging_.weights : nullptr;
    batch.consumer_sorts.push_back(sort);
  }
}

// The owner's occurrences: what every source asked, in order of rank.
void UbCluster::fill_owner_index(Batch& batch) {
  batch.owner_sorts.clear();
  for (const Unit& unit : batch.units) {
    const OwnedRow& owned = owned_.rows()[unit.owned];
    std::vector<CopyBytes>& copies = batch.owner_copies[unit.owned];
    copies.clear();
    std::int64_t count = 0;
    const std::int32_t sources = plan_.fault == Fault::missing_rank ? ranks_ - 1 : ranks_;
    for (std::int32_t p = 0; p < sources; ++p) {
      const std::int64_t asked = unit.received[static_cast<std::size_t>(p)];
      copies.push_back({unit.local_rows[static_cast<std::size_t>(p)],
                        staging_.rows + count * key_bytes_, asked * key_bytes_});
      count += asked;
    }
    SortIndex sort = sort_into(owned.index, staging_);
    sort.count = count;
    sort.rows = staging_.rows;
    sort.key = plan_.workload.key;
    sort.row_limit = owned.columns.front().shard.rows;
    batch.owner_sorts.push_back(sort);
  }
}

}  // namespace shardscope::engine
