#include "engine/pipeline/owned_rows.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "layout/messages.hpp"

namespace shardscope::engine {

SortedIndex sorted_index_of(Arena& arena, const std::string& prefix, const std::string& suffix,
                            std::int32_t table, bool weighted) {
  SortedIndex index;
  index.unique_rows = arena.get<std::int64_t>(prefix + "unique_rows" + suffix, table);
  index.unique_count = arena.get<std::int64_t>(prefix + "unique_count" + suffix, table);
  index.offsets = arena.get<std::uint32_t>(prefix + "offsets" + suffix, table);
  index.sorted_gradient_row =
      arena.get<std::uint32_t>(prefix + "sorted_gradient_row" + suffix, table);
  float* weights = arena.get<float>(prefix + "sorted_weights" + suffix, table);
  index.sorted_weights = weighted ? weights : nullptr;
  return index;
}

SortIndex sort_into(const SortedIndex& index, const IndexStaging& staging) {
  SortIndex sort;
  sort.unique_rows = index.unique_rows;
  sort.offsets = index.offsets;
  sort.sorted_gradient_row = index.sorted_gradient_row;
  sort.sorted_weights = index.sorted_weights;
  sort.unique_count = index.unique_count;
  sort.scratch = staging.scratch;
  return sort;
}

OwnedRows::OwnedRows(const RunPlan& plan, RankMemory& memory, Ops& ops, ClusterType cluster,
                     const std::string& prefix)
    : plan_(plan), memory_(memory), ops_(ops), cluster_(cluster), prefix_(prefix) {
  for (std::size_t i = 0; i < memory.shards().size();) {
    const ShardMemory& first = memory.shards()[i];
    if (plan.placement(first.table).cluster != cluster) {
      ++i;
      continue;
    }
    OwnedRow row;
    row.table = first.table;
    row.row = first.row;
    const std::vector<std::int32_t>& readers = plan.features_of(first.table);
    row.weighted = cluster == ClusterType::RB &&
                   std::any_of(readers.begin(), readers.end(),
                               [&](std::int32_t f) { return plan.feature(f).weighted; });
    row.index = sorted_index_of(memory.arena(), prefix + "index.", fmt::format("[{}]", row.row),
                                row.table, row.weighted);
    const bool row_state = plan.table(row.table).optimizer.kind == OptimizerKind::rowwise_adagrad;
    for (; i < memory.shards().size(); ++i) {
      const ShardMemory& shard = memory.shards()[i];
      if (shard.table != row.table || shard.row != row.row) break;
      OwnedColumn column;
      column.shard = shard;
      const std::string suffix = fmt::format("[{},{}]", shard.row, shard.column);
      column.wgrad = memory.arena().get<float>(prefix + "wgrad" + suffix, shard.table);
      if (row_state) {
        column.square_sums =
            memory.arena().get<float>(prefix + "square_sums" + suffix, shard.table);
      }
      row.columns.push_back(column);
    }
    rows_.push_back(std::move(row));
  }
}

void OwnedRows::prepare() {
  for (const OwnedRow& row : rows_) {
    for (const OwnedColumn& column : row.columns) {
      SegmentReduce reduce;
      reduce.unique_count = row.index.unique_count;
      reduce.offsets = row.index.offsets;
      reduce.gradient_row = row.index.sorted_gradient_row;
      reduce.weights = row.index.sorted_weights;
      reduce.gradients = column.gradients;
      reduce.gradient_type = plan_.workload.wire;
      reduce.row_offset = column.gradient_offset;
      reduce.width = column.shard.width;
      reduce.factor = 1 / plan_.wire_scale();
      reduce.out = column.wgrad;
      reduce.square_sum = column.square_sums;
      reductions_.push_back(reduce);
      prepare_update(row, column);
    }
  }
  prepare_square_sums();
}

void OwnedRows::prepare_update(const OwnedRow& row, const OwnedColumn& column) {
  const Table& table = plan_.table(row.table);
  const TablePlacement& placement = plan_.placement(row.table);
  const bool per_shard = table.optimizer.per_shard;
  OptimizerUpdate update;
  update.optimizer = table.optimizer;
  update.unique_count = row.index.unique_count;
  update.unique_rows = row.index.unique_rows;
  update.gradients = column.wgrad;
  update.row_square_sum = per_shard ? column.square_sums : row.columns.front().square_sums;
  update.rows = column.shard.weights;
  update.row_type = table.dtype;
  update.width = column.shard.width;
  update.full_width = per_shard ? column.shard.width : table.dim;
  update.state = column.shard.state;
  update.row_count = column.shard.rows;
  update.seed = plan_.seed;
  update.table = row.table;
  update.first_column = column.shard.first_column;
  const bool modulo = placement.mapping == RowMapping::modulo;
  update.row_scale = modulo ? placement.row_shards : 1;
  update.row_base = placement.global_row(row.row, 0);
  updates_.push_back(update);
}

void OwnedRows::prepare_square_sums() {
  const std::int32_t ranks = plan_.ranks();
  peers_.resize(static_cast<std::size_t>(ranks));
  std::vector<std::vector<bool>> starts(static_cast<std::size_t>(ranks));
  for (const OwnedRow& row : rows_) {
    for (std::size_t c = 0; c < row.columns.size(); ++c) {
      const OwnedColumn& column = row.columns[c];
      if (column.square_sums == nullptr) continue;
      if (c == 0 || plan_.table(row.table).optimizer.per_shard) continue;
      if (column_sums_.size() < c) column_sums_.resize(c);
      column_sums_[c - 1].push_back(
          {row.index.unique_count, column.square_sums, row.columns[0].square_sums});
    }
    if (!shares_square_sums(plan_.table(row.table), plan_.placement(row.table), row.row)) continue;
    const std::vector<std::int32_t> owners = owners_of_row(plan_.placement(row.table), row.row);
    for (const std::int32_t owner : owners) {
      PeerSums& peer = peers_[static_cast<std::size_t>(owner)];
      peer.unique_counts.push_back(row.index.unique_count);
      peer.packed.push_back(row.columns[0].square_sums);
      peer.unpacked.push_back(row.columns[0].square_sums);
      starts[static_cast<std::size_t>(owner)].push_back(owner == owners.front());
    }
  }
  for (std::size_t t = 0; t < plan_.layout.tables.size(); ++t) {
    const TablePlacement& placement = plan_.layout.tables[t];
    if (placement.cluster != cluster_) continue;
    for (std::int32_t j = 0; j < placement.row_shards; ++j) {
      exchanges_ |= shares_square_sums(plan_.workload.tables[t], placement, j);
    }
  }
  const Messages largest(plan_.workload, plan_.topology, plan_.layout, plan_.routes,
                         plan_.capacity);
  std::vector<std::int64_t> sizes;
  for (std::int32_t peer = 0; peer < ranks; ++peer) {
    sizes.push_back(largest.square_sums(cluster_, memory_.rank(), peer));
  }
  message_offsets_ = MessageArrays::of_sizes(sizes).offsets;
  message_bytes_ = memory_.square_sum_sizes(cluster_);
  auto* send = memory_.arena().get(prefix_ + "square_sums.send");
  auto* receive = memory_.arena().get(prefix_ + "square_sums.receive");
  for (std::int32_t p = 0; p < ranks; ++p) {
    const auto at = static_cast<std::size_t>(p);
    PeerSums& peer = peers_[at];
    peer.starts = std::make_unique<bool[]>(starts[at].size());
    std::copy(starts[at].begin(), starts[at].end(), peer.starts.get());
    const auto lists = static_cast<std::int32_t>(peer.packed.size());
    packs_.push_back({lists, peer.unique_counts.data(), peer.packed.data(),
                      reinterpret_cast<float*>(send + message_offsets_[at]), message_bytes_ + p});
    unpacks_.push_back({lists, peer.unique_counts.data(),
                        reinterpret_cast<const float*>(receive + message_offsets_[at]),
                        peer.unpacked.data(), peer.starts.get()});
  }
}

void OwnedRows::local_reduce(Stream& stream) {
  ops_.segment_reduce(stream, reductions_);
}

void OwnedRows::update(Stream& stream, Communicator& communicator, std::int64_t step) {
  for (const std::vector<AddSums>& wave : column_sums_) ops_.add_sums(stream, wave);
  if (exchanges_) exchange_sums(stream, communicator);
  ops_.optimizer_update(stream, updates_, step);
}

// Every owner adds the owners' sums in ascending rank order, its own among them, so that all
// replicas of a row's state stay equal bit for bit.
void OwnedRows::exchange_sums(Stream& stream, Communicator& communicator) {
  ops_.pack_sums(stream, packs_);
  communicator.alltoall_v(
      stream, Group::flat,
      {memory_.arena().get(prefix_ + "square_sums.send"), message_offsets_.data(), message_bytes_,
       memory_.arena().get(prefix_ + "square_sums.receive"), message_offsets_.data(),
       message_bytes_, /*sizes_from_stream=*/true});
  for (const UnpackSums& unpack : unpacks_) ops_.unpack_sums(stream, {&unpack, 1});
}

}  // namespace shardscope::engine
