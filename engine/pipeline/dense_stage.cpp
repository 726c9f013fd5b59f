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

Status DenseStage::use_streams(std::span<const std::unique_ptr<Stream>> streams) {
  if (plan_.device == nullptr) return {};
  std::vector<bool> computes(streams.size(), false);
  computes.front() = true;  // evaluation runs there
  for (const ScheduleStep& step : plan_.schedule.steps) {
    if (step.work == Work::bottom_mlp || step.work == Work::top_mlp || step.work == Work::dense) {
      computes[step.stream] = true;
    }
  }
  for (std::size_t s = 0; s < streams.size(); ++s) {
    if (!computes[s]) continue;
    auto math = plan_.device->dense_math(memory_.rank(), *streams[s]);
    if (!math) return fail(math.error());
    if (*math != nullptr) maths_.emplace_back(streams[s].get(), std::move(*math));
  }
  if (maths_.empty() || !streams.front()->has_graphs()) return {};
  copy_dense_.bytes = samples_ * plan_.workload.dense.dense_features * 4;
  auto memory = plan_.device->allocate(memory_.rank(), copy_dense_.bytes, "dense features");
  if (!memory) return fail(memory.error());
  dense_ = std::move(*memory);
  copy_dense_.to = dense_.get();
  return {};
}

Status DenseStage::begin_block(std::int64_t first_iteration, std::int32_t iterations) {
  first_iteration_ = first_iteration;
  if (iterations <= loss_room_) return {};
  if (plan_.device == nullptr) {
    losses_ = std::shared_ptr<double>(new double[static_cast<std::size_t>(iterations)](),
                                      std::default_delete<double[]>());
  } else {
    auto memory = plan_.device->allocate(
        memory_.rank(), iterations * static_cast<std::int64_t>(sizeof(double)), "losses");
    if (!memory) return fail(memory.error());
    losses_ = std::shared_ptr<double>(*memory, reinterpret_cast<double*>(memory->get()));
  }
  loss_room_ = iterations;
  return {};
}

template <class Function>
void DenseStage::compute(Stream& stream, const Function& work) {
  for (const auto& [of, math] : maths_) {
    if (of == &stream) return work(*math);
  }
  stream.enqueue([work] { work(cpu_dense_math()); });
}

void DenseStage::enqueue(Stage stage, Work work, const StageCall& call) {
  const float* dense = dense_ ? reinterpret_cast<const float*>(dense_.get()) : call.batch.dense;
  if (stage == Stage::dense_forward && work == Work::bottom_mlp) {
    if (dense_) {
      copy_dense_.from = call.batch.dense;
      ops_.copy_bytes(call.stream, {&copy_dense_, 1});
    }
    compute(call.stream,
            [this, dense](DenseMath& math) { network_.forward_bottom(math, dense, samples_); });
  } else if (stage == Stage::dense_forward) {
    forward_top(call);
  } else if (stage == Stage::dense_backward && work == Work::top_mlp) {
    backward_top(call);
  } else if (stage == Stage::dense_backward) {
    compute(call.stream,
            [this, dense](DenseMath& math) { network_.backward_bottom(math, dense, samples_); });
  } else if (stage == Stage::allreduce) {
    call.communicator.all_reduce(call.stream, Group::flat, network_.gradients(),
                                 network_.parameter_count(), DType::fp32);
  } else {
    SHARDSCOPE_CHECK(stage == Stage::update, "a stage that the dense part does not have");
    compute(call.stream,
            [this, step = call.step](DenseMath& math) { network_.update(math, step); });
  }
}

void DenseStage::forward_top(const StageCall& call) {
  Batch& batch = batches_[call.slot];
  ops_.copy_columns(call.stream, batch.outputs);
  ops_.mean_bags(call.stream, batch.means);
  double* loss = losses_.get() + (call.step - 1 - first_iteration_);
  compute(call.stream, [this, labels = call.batch.labels, loss](DenseMath& math) {
    network_.forward_top(math, samples_);
    network_.loss_sum(math, labels, samples_, loss);
  });
}

void DenseStage::backward_top(const StageCall& call) {
  const Batch& batch = batches_[call.slot];
  compute(call.stream, [this, labels = call.batch.labels](DenseMath& math) {
    network_.backward_top(math, labels, samples_, plan_.workload.global_batch);
  });
  ops_.copy_columns(call.stream, batch.gradients);
  ops_.spread_bags(call.stream, batch.spreads);
}

}  // namespace shardscope::engine
