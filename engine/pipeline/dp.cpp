#include "engine/pipeline/dp.hpp"

#include "layout/bytes.hpp"

namespace shardscope::engine {

DpCluster::DpCluster(const RunPlan& plan, RankMemory& memory, Ops& ops)
    : plan_(plan),
      memory_(memory),
      ops_(ops),
      rank_(memory.rank()),
      key_bytes_(bytes_of(plan.workload.key)),
      staging_(IndexStaging::of(memory.arena(), "dp.staging.")),
      wgrad_(memory.arena().get<float>("dp.wgrad")),
      gradients_(memory.arena().get<float>("dp.gradients")),
      square_sums_(memory.arena().get<float>("dp.square_sums")),
      elements_(dp_gradient_elements(plan.workload, plan.layout)) {
  std::int64_t offset = 0;
  for (std::size_t t = 0; t < plan.layout.tables.size(); ++t) {
    if (plan.layout.tables[t].cluster == ClusterType::DP) {
      place_table(static_cast<std::int32_t>(t), offset);
    }
  }
  clear_ = {gradients_, elements_ * static_cast<std::int64_t>(sizeof(float))};
  for (Batch& batch : batches_) {
    batch.index_copies.resize(tables_.size());
    batch.index_expands.resize(tables_.size());
  }
}

void DpCluster::place_table(std::int32_t t, std::int64_t& offset) {
  Arena& arena = memory_.arena();
  const Table& table = plan_.table(t);
  TableState state;
  state.table = t;
  state.weighted = has_occurrence_weights(plan_, t);
  state.index = sorted_index_of(arena, "dp.index.", "", t, state.weighted);
  state.gradients = gradients_ + offset;
  state.touched = state.gradients + table.rows * table.dim;
  state.touched_rows = arena.get<std::int64_t>("dp.touched_rows", t);
  state.touched_count = arena.get<std::int64_t>("dp.touched_count", t);
  offset += table.rows * (std::int64_t{table.dim} + 1);

  SegmentReduce reduce;
  reduce.unique_count = state.index.unique_count;
  reduce.offsets = state.index.offsets;
  reduce.gradient_row = state.index.sorted_gradient_row;
  reduce.weights = state.index.sorted_weights;
  reduce.gradients = memory_.table_gradient(t);
  reduce.stride = table.dim;
  reduce.width = table.dim;
  reduce.out = wgrad_;
  reductions_.push_back(reduce);
  scatters_.push_back({state.index.unique_count, state.index.unique_rows, wgrad_, table.dim,
                       state.gradients, state.touched});
  compactions_.push_back({table.rows, table.dim, state.touched, state.gradients, state.touched_rows,
                          state.touched_count});
  const ShardMemory& shard = memory_.shard(t, 0, 0);
  squares_.push_back({state.touched_count, state.gradients, table.dim, square_sums_});
  OptimizerUpdate update;
  update.optimizer = table.optimizer;
  update.unique_count = state.touched_count;
  update.unique_rows = state.touched_rows;
  update.gradients = state.gradients;
  update.row_square_sum = square_sums_;
  update.rows = shard.weights;
  update.row_type = table.dtype;
  update.width = table.dim;
  update.full_width = table.dim;
  update.state = shard.state;
  update.row_count = table.rows;
  update.seed = plan_.seed;
  update.table = t;
  updates_.push_back(update);
  tables_.push_back(state);
}

void DpCluster::begin(std::size_t slot, const BatchView& input) {
  Batch& batch = batches_[slot];
  batch.ids = 0;
  batch.lookups.clear();
  batch.sorts.clear();
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const std::int32_t t = tables_[i].table;
    for (const std::int32_t f : plan_.features_of(t)) {
      const FeatureView& ids = input.feature(f);
      batch.ids += ids.count;
      batch.lookups.add(plan_, memory_, f, ids,
                        {memory_.shard(t, 0, 0).weights, plan_.table(t).dtype, plan_.table(t).dim,
                         ids.ids, plan_.workload.key});
    }
    begin_index(batch, input, i);
  }
}

void DpCluster::begin_index(Batch& batch, const BatchView& input, std::size_t i) {
  const TableState& state = tables_[i];
  batch.index_copies[i].clear();
  batch.index_expands[i].clear();
  std::int64_t count = 0;
  for (const std::int32_t f : plan_.features_of(state.table)) {
    const FeatureView& ids = input.feature(f);
    batch.index_copies[i].push_back(
        {ids.ids, staging_.rows + count * key_bytes_, ids.count * key_bytes_});
    batch.index_expands[i].push_back(
        expand_feature(plan_, memory_, f, ids, staging_.gradient_row + count,
                       state.weighted ? staging_.weights + count : nullptr));
    count += ids.count;
  }
  if (plan_.fault == Fault::lost_duplicate && count > 1) --count;
  SortIndex sort = sort_into(state.index, staging_);
  sort.count = count;
  sort.rows = staging_.rows;
  sort.key = plan_.workload.key;
  sort.row_limit = plan_.table(state.table).rows;
  sort.gradient_row = staging_.gradient_row;
  sort.weights = state.weighted ? staging_.weights : nullptr;
  batch.sorts.push_back(sort);
}

void DpCluster::model_forward(const StageCall& call) {
  const Batch& batch = batches_[call.slot];
  batch.lookups.enqueue_scales(ops_, call.stream);
  batch.lookups.enqueue_lookups(ops_, call.stream);
}

void DpCluster::index_calculation(const StageCall& call) {
  const Batch& batch = batches_[call.slot];
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    ops_.copy_bytes(call.stream, batch.index_copies[i]);
    ops_.expand_bags(call.stream, batch.index_expands[i]);
    ops_.sort_index(call.stream, {&batch.sorts[i], 1});
  }
}

void DpCluster::local_reduce(const StageCall& call) {
  ops_.fill_zero(call.stream, {&clear_, 1});
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    ops_.segment_reduce(call.stream, {&reductions_[i], 1});
    ops_.scatter_rows(call.stream, {&scatters_[i], 1});
  }
}

void DpCluster::allreduce(const StageCall& call) {
  if (elements_ == 0) return;
  call.communicator.all_reduce(call.stream, Group::flat, gradients_, elements_, DType::fp32);
}

void DpCluster::update(const StageCall& call) {
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    ops_.compact_rows(call.stream, {&compactions_[i], 1});
    if (updates_[i].optimizer.kind == OptimizerKind::rowwise_adagrad) {
      ops_.square_sum(call.stream, {&squares_[i], 1});
    }
    ops_.optimizer_update(call.stream, {&updates_[i], 1}, call.step);
  }
}

}  // namespace shardscope::engine
