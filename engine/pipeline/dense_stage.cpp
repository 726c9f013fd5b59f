#include "engine/pipeline/dense_stage.hpp"

#include <utility>

#include "layout/invariant.hpp"

namespace shardscope::engine {

Result<std::unique_ptr<DenseStage>> DenseStage::create(const RunPlan& plan, RankMemory& memory,
                                                       Ops& ops) {
  Arena& arena = memory.arena();
  const DenseBuffers buffers{arena.get<float>("dense.parameters"),
                             arena.get<float>("dense.gradients"), arena.get<float>("dense.state"),
                             arena.get<float>("dense.activations"),
                             arena.get<float>("dense.scratch")};
  Result<DenseNetwork> network =
      DenseNetwork::create(plan.workload, plan.samples(memory.rank()), buffers);
  if (!network) return fail(network.error());
  network->initialise(plan.seed);
  return std::unique_ptr<DenseStage>(new DenseStage(plan, memory, ops, std::move(*network)));
}

DenseStage::DenseStage(const RunPlan& plan, RankMemory& memory, Ops& ops, DenseNetwork network)
    : plan_(plan),
      memory_(memory),
      ops_(ops),
      samples_(plan.samples(memory.rank())),
      network_(std::move(network)) {}

void DenseStage::begin(std::size_t slot, const BatchView& input) {
  Batch& batch = batches_[slot];
  batch.outputs.clear();
  batch.means.clear();
  batch.gradients.clear();
  batch.spreads.clear();
  std::int64_t column = 0;
  for (std::size_t f = 0; f < plan_.workload.features.size(); ++f) {
    const Feature& feature = plan_.workload.features[f];
    begin_feature(batch, input, static_cast<std::int32_t>(f), column);
    const bool wide = feature.pooling == Pooling::concat;
    column += std::int64_t{feature.num_poolings} * (wide ? feature.hotness.maximum : 1) *
              plan_.table(feature.table).dim;
  }
}

void DenseStage::begin_feature(Batch& batch, const BatchView& input, std::int32_t f,
                               std::int64_t column) {
  const Feature& feature = plan_.feature(f);
  const FeatureMemory& place = memory_.feature(f);
  const FeatureView& from = input.feature(f);
  const std::int32_t dim = plan_.table(feature.table).dim;
  const std::int64_t stride = network_.input_stride();
  if (feature.pooling == Pooling::sequence) {
    batch.means.push_back({from.bags, from.lengths, place.output, dim, feature.num_poolings,
                           network_.embeddings() + column, stride});
    batch.spreads.push_back({from.bags, from.lengths, network_.embedding_gradients() + column,
                             stride, feature.num_poolings, dim, place.gradient});
    return;
  }
  const std::int32_t wide = feature.pooling == Pooling::concat ? feature.hotness.maximum : 1;
  CopyColumns call;
  call.from = place.output;
  call.from_stride = std::int64_t{feature.num_poolings} * wide * dim;
  call.to = network_.embeddings() + column;
  call.to_stride = stride;
  call.rows = samples_;
  call.width = feature.num_poolings * wide * dim;
  batch.outputs.push_back(call);
  std::swap(call.from_stride, call.to_stride);
  call.from = network_.embedding_gradients() + column;
  call.to = place.gradient;
  batch.gradients.push_back(call);
}

void DenseStage::enqueue(Stage stage, Work work, const StageCall& call) {
  const float* dense = call.batch.dense;
  if (stage == Stage::dense_forward && work == Work::bottom_mlp) {
    call.stream.enqueue([this, dense] { network_.forward_bottom(dense, samples_); });
  } else if (stage == Stage::dense_forward) {
    forward_top(call);
  } else if (stage == Stage::dense_backward && work == Work::top_mlp) {
    backward_top(call);
  } else if (stage == Stage::dense_backward) {
    call.stream.enqueue([this, dense] { network_.backward_bottom(dense, samples_); });
  } else if (stage == Stage::allreduce) {
    call.communicator.all_reduce(call.stream, Group::flat, network_.gradients(),
                                 network_.parameter_count(), DType::fp32);
  } else {
    SHARDSCOPE_CHECK(stage == Stage::update, "a stage that the dense part does not have");
    call.stream.enqueue([this, step = call.step] { network_.update(step); });
  }
}

void DenseStage::forward_top(const StageCall& call) {
  Batch& batch = batches_[call.slot];
  ops_.copy_columns(call.stream, batch.outputs);
  ops_.mean_bags(call.stream, batch.means);
  call.stream.enqueue([this, &batch, labels = call.batch.labels] {
    network_.forward_top(samples_);
    batch.loss_sum = network_.loss_sum(labels, samples_);
  });
}

void DenseStage::backward_top(const StageCall& call) {
  const Batch& batch = batches_[call.slot];
  call.stream.enqueue([this, labels = call.batch.labels] {
    network_.backward_top(labels, samples_, plan_.workload.global_batch);
  });
  ops_.copy_columns(call.stream, batch.gradients);
  ops_.spread_bags(call.stream, batch.spreads);
}

}  // namespace shardscope::engine
