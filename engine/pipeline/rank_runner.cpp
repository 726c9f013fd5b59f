#include "engine/pipeline/rank_runner.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/cpu/cores.hpp"
#include "engine/pipeline/dp.hpp"
#include "engine/pipeline/rb.hpp"
#include "engine/pipeline/ub.hpp"
#include "layout/codec_bytes.hpp"
#include "layout/invariant.hpp"
#include "profiler/clock.hpp"
#include "profiler/recorder.hpp"
#include "profiler/work_tracer.hpp"

namespace shardscope::engine {

bool codes(const RunPlan& plan, const ScheduleStep& step) {
  const bool forward = step.stage == Stage::network_forward;
  if (!forward && step.stage != Stage::network_backward) return false;
  if (step.work != Work::RB && step.work != Work::UB) return false;
  return is_coded(plan.topology, plan.layout,
                  step.work == Work::RB ? ClusterType::RB : ClusterType::UB,
                  forward ? Direction::forward : Direction::backward);
}

Result<std::unique_ptr<RankRunner>> RankRunner::create(const RunPlan& plan, std::int32_t rank,
                                                       Fabric& fabric, StreamMode mode, Ops& ops,
                                                       const BatchRing& batches,
                                                       const GivenGradients* given) {
  Parts parts;
  auto memory = RankMemory::create(plan, rank);
  if (!memory) return fail(memory.error());
  parts.memory = std::move(*memory);
  if (presence_of(plan.workload, plan.layout).dense) {
    auto created = DenseStage::create(plan, *parts.memory, ops);
    if (!created) return fail(created.error());
    parts.dense = std::move(*created);
  }
  std::vector<const RankBatch*> own;
  for (const std::vector<RankBatch>& ranks : batches) {
    own.push_back(&ranks[static_cast<std::size_t>(rank)]);
  }
  auto staged = StagedBatches::create(plan.device, rank, own);
  if (!staged) return fail(staged.error());
  parts.staged = std::move(*staged);
  if (Status status = make_streams(plan, rank, mode, parts); !status) return fail(status.error());
  if (parts.dense) {
    if (Status status = parts.dense->use_streams(parts.streams); !status) {
      return fail(status.error());
    }
  }
  return std::unique_ptr<RankRunner>(
      new RankRunner(plan, std::move(parts), fabric, mode, ops, batches, given));
}

Status RankRunner::make_streams(const RunPlan& plan, std::int32_t rank, StreamMode mode,
                                Parts& parts) {
  // Stays on the core of that part of the rank's share.
  const auto pinned = [&](const std::string& name, int part, int of) {
    auto made = make_cpu_stream(mode, name.c_str());
    if (mode == StreamMode::threaded) {
      const int core = core_of(rank, plan.topology.ranks(), part, of);
      made->enqueue([core] { stay_on_core(core); });
    }
    return made;
  };
  for (std::int32_t s = 0; s < plan.schedule.streams; ++s) {
    const std::string name = fmt::format("rank {} s{}", rank, s);
    if (plan.device == nullptr) {
      parts.streams.push_back(pinned(name, s, plan.schedule.streams));
      continue;
    }
    auto stream = plan.device->stream(rank, mode, name.c_str());
    if (!stream) return fail(stream.error());
    parts.streams.push_back(std::move(*stream));
  }
  parts.helpers.resize(parts.streams.size());
  if (plan.device != nullptr || mode == StreamMode::inline_) return {};
  for (const ScheduleStep& step : plan.schedule.steps) {
    if (!codes(plan, step) || parts.helpers[step.stream] != nullptr) continue;
    parts.helpers[step.stream] = pinned(fmt::format("rank {} c{}", rank, step.stream), 0, 1);
  }
  return {};
}

RankRunner::RankRunner(const RunPlan& plan, Parts parts, Fabric& fabric, StreamMode mode, Ops& ops,
                       const BatchRing& batches, const GivenGradients* given)
    : plan_(plan),
      memory_(std::move(parts.memory)),
      batches_(batches),
      staged_(std::move(parts.staged)),
      given_(given),
      mode_(mode),
      streams_(std::move(parts.streams)),
      helpers_(std::move(parts.helpers)),
      dense_(std::move(parts.dense)) {
  const std::int32_t rank = memory_->rank();
  for (const ScheduleStep& step : plan.schedule.steps) {
    labels_.push_back(fmt::format("{} {}", to_string(step.work), to_string(step.stage)));
    step_helpers_.push_back(codes(plan, step) ? helpers_[step.stream].get() : nullptr);
  }
  for (std::int32_t s = 0; s < plan.schedule.streams; ++s) {
    std::unique_ptr<Communicator> communicator = fabric.communicator(rank, s);
    if (plan.wrap_communicator) communicator = plan.wrap_communicator(std::move(communicator));
    communicators_.push_back(
        std::make_unique<ProbedCommunicator>(std::move(communicator), plan.topology));
  }
  const SchedulePresence presence = presence_of(plan.workload, plan.layout);
  const auto place = [&](ClusterType type, std::unique_ptr<Cluster> cluster) {
    clusters_[static_cast<std::size_t>(type)] = std::move(cluster);
  };
  if (presence.dp) place(ClusterType::DP, std::make_unique<DpCluster>(plan, *memory_, ops));
  if (presence.rb) place(ClusterType::RB, std::make_unique<RbCluster>(plan, *memory_, ops));
  if (presence.ub) place(ClusterType::UB, std::make_unique<UbCluster>(plan, *memory_, ops));
  step_events_.resize(plan.schedule.steps.size());
  codec_work_.resize(streams_.size());
  for (std::vector<Event>& ends : ends_) ends.resize(streams_.size());
  prefetch_times_.resize(plan.schedule.steps.size());
  used_prefetch_times_.resize(plan.schedule.steps.size());
  given_values_.resize(plan.workload.features.size());
  make_segments();
}

RankRunner::~RankRunner() {
  settle();
  dense_.reset();  // computes on them
  helpers_.clear();
  streams_.clear();
}

void RankRunner::settle() {
  for (const auto& stream : streams_) stream->synchronize(stream->record());
  for (const auto& helper : helpers_) {
    if (helper) helper->synchronize(helper->record());
  }
}

Cluster* RankRunner::cluster_of(Work work) const {
  const auto type = static_cast<std::size_t>(work);
  return type < clusters_.size() ? clusters_[type].get() : nullptr;
}

const BatchView& RankRunner::batch(std::int64_t iteration) const {
  return staged_.at(static_cast<std::size_t>(iteration) % staged_.size());
}

Status RankRunner::run(const BlockRequest& request) {
  const std::size_t steps = plan_.schedule.steps.size();
  // A block that failed may have left moments that lead to its times.
  for (const auto& stream : streams_) stream->resolve_marks();
  times_.assign(steps * static_cast<std::size_t>(request.iterations), {});
  recorder_ = request.recorder;
  traced_ = request.traced;
  for (std::vector<CodecWork>& of_stream : codec_work_) of_stream.clear();
  loss_sums_.assign(static_cast<std::size_t>(request.iterations), 0);
  if (dense_) {
    Status status = dense_->begin_block(request.first_iteration, request.iterations);
    if (!status) return status;
  }
  if (Status status = prefetch_first(request.first_iteration); !status) return status;
  for (std::int32_t n = 0; n < request.iterations; ++n) {
    Status status = run_iteration(request.first_iteration + n,
                                  times_.data() + static_cast<std::size_t>(n) * steps);
    if (!status) return status;
  }
  for (const auto& stream : streams_) stream->synchronize(stream->record());
  if (Status status = communicators_.front()->status(); !status) return status;
  for (const auto& stream : streams_) {
    stream->resolve_marks();
    if (Status status = stream->status(); !status) return status;
  }
  for (std::int32_t n = 0; dense_ && n < request.iterations; ++n) {
    loss_sums_[static_cast<std::size_t>(n)] = dense_->loss_sum(n);
  }
  const auto last = times_.end() - static_cast<std::ptrdiff_t>(steps);
  used_prefetch_times_ = prefetch_times_;
  if (request.iterations > 1) {
    used_prefetch_times_.assign(last - static_cast<std::ptrdiff_t>(steps), last);
  }
  prefetch_times_.assign(last, times_.end());
  return {};
}

// The first iteration of a prefetching schedule has no predecessor that prepared its batch.
Status RankRunner::prefetch_first(std::int64_t iteration) {
  if (prefetched_iteration_ == iteration) return {};
  for (std::size_t i = 0; i < plan_.schedule.steps.size(); ++i) {
    if (!plan_.schedule.steps[i].next_batch) continue;
    Status status = run_step(i, batch(iteration), iteration, &prefetch_times_[i], /*waits=*/false);
    if (!status) return status;
  }
  prefetched_iteration_ = iteration;
  end_iteration(iteration - 1);
  return {};
}

Status RankRunner::admit_batch(const BatchView& batch) const {
  for (std::size_t f = 0; f < batch.features.size(); ++f) {
    const std::int64_t capacity = ids_of_rank(plan_.capacity, f, memory_->rank(), plan_.ranks());
    const std::int64_t count = batch.features[f].count;
    if (count <= capacity) continue;
    const Feature& feature = plan_.workload.features[f];
    return fail({ErrorKind::runtime,
                 fmt::format("{} ids of feature {} do not fit the buffers of {}", count,
                             feature.name, capacity),
                 fmt::format("table {}, rank {}", plan_.table(feature.table).name, memory_->rank()),
                 "", "Count the batch ahead, or lower the feature's hotness"});
  }
  return {};
}

Status RankRunner::run_iteration(std::int64_t iteration, StepTimes* times) {
  if (Status status = admit_batch(batch(iteration)); !status) return status;
  begin_iteration(iteration);
  for (std::size_t n = 0; n < segments_.size(); ++n) {
    const GraphSegment& segment = segments_[n].steps;
    Status status =
        segment.graph ? run_graph(n, iteration, times) : run_steps(segment, iteration, times);
    if (!status) return status;
  }
  end_iteration(iteration);
  return {};
}

Status RankRunner::run_steps(const GraphSegment& segment, std::int64_t iteration,
                             StepTimes* times) {
  for (std::size_t i = segment.first; i < segment.first + segment.count; ++i) {
    const std::int64_t of = iteration + (plan_.schedule.steps[i].next_batch ? 1 : 0);
    if (of != iteration) await_slot(of);
    Status status = run_step(i, batch(of), of, &times[i], /*waits=*/true);
    if (!status) return status;
    if (of != iteration) prefetched_iteration_ = of;
  }
  return {};
}

// A batch's lists are reused two iterations later: the host fills them only when the streams have
// ended that iteration, so it runs at most one ahead.
void RankRunner::await_slot(std::int64_t iteration) {
  for (const Event& end : ends_[slot_of(iteration)]) streams_.front()->synchronize(end);
}

// No stream begins an iteration before all have ended the one before.
void RankRunner::begin_iteration(std::int64_t iteration) {
  await_slot(iteration);
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    for (std::size_t other = 0; other < streams_.size(); ++other) {
      if (other != s) streams_[s]->wait(ends_[slot_of(iteration + 1)][other]);
    }
  }
  for (const auto& cluster : clusters_) {
    if (cluster) cluster->begin(slot_of(iteration), batch(iteration));
  }
  if (dense_) dense_->begin(slot_of(iteration), batch(iteration));
  if (given_ != nullptr && *given_) give_gradients(iteration);
}

void RankRunner::end_iteration(std::int64_t iteration) {
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    ends_[slot_of(iteration)][s] = streams_[s]->record();
  }
}

void RankRunner::give_gradients(std::int64_t iteration) {
  Stream& stream = *streams_.front();
  stream.enqueue([this, iteration] {
    const auto rank = static_cast<std::size_t>(memory_->rank());
    const auto& parts = batches_[static_cast<std::size_t>(iteration) % batches_.size()];
    (*given_)(iteration, memory_->rank(), parts[rank], given_values_);
    for (std::size_t f = 0; f < given_values_.size(); ++f) {
      const FeatureMemory& place = memory_->feature(static_cast<std::int32_t>(f));
      std::copy(given_values_[f].begin(), given_values_[f].end(), place.gradient);
    }
  });
  const Event given = stream.record();
  for (std::size_t s = 1; s < streams_.size(); ++s) streams_[s]->wait(given);
}

Status RankRunner::run_step(std::size_t index, const BatchView& batch, std::int64_t iteration,
                            StepTimes* times, bool waits) {
  const ScheduleStep& step = plan_.schedule.steps[index];
  if (step.next_batch) {
    if (Status status = admit_batch(batch); !status) return status;
  }
  Stream& stream = *streams_[step.stream];
  ProbedCommunicator& communicator = *communicators_[step.stream];
  if (waits && plan_.fault != Fault::missing_wait) {
    for (const std::uint16_t wait : step.waits) stream.wait(step_events_[wait]);
  }
  communicator.set_label(labels_[index].c_str());
  communicator.set_step(times);
  if (plan_.tracer != nullptr) {
    plan_.tracer->begin_work(
        {memory_->rank(), static_cast<std::int32_t>(iteration), step.stage, step.work});
  }
  stream.mark(&times->start);
  // A host thread of its own is work of the rank as well; otherwise the stream's clock has it.
  const bool host_apart = mode_ == StreamMode::threaded && !stream.has_device_clock();
  const std::int64_t host_cpu_ns = host_apart ? thread_cpu_ns() : 0;
  Stream* helper = step_helpers_[index];
  if (helper != nullptr) helper->mark(&times->helper_start);
  const StageCall call{stream, communicator, slot_of(iteration), batch, iteration + 1,
                       true,   helper};
  Status status = run_stage(step, call);
  if (helper != nullptr) {
    helper->mark(&times->helper_end);
    stream.wait(helper->record());
  }
  const Cluster* cluster = cluster_of(step.work);
  times->host_cpu_ns = host_apart ? thread_cpu_ns() - host_cpu_ns : 0;
  times->rows = cluster == nullptr ? batch.samples : cluster->rows(slot_of(iteration));
  end_step(stream, times, index, iteration);
  if (plan_.tracer != nullptr) plan_.tracer->end_work();
  step_events_[index] = stream.record();
  return status;
}

Status RankRunner::run_stage(const ScheduleStep& step, const StageCall& call) {
  Cluster* cluster = cluster_of(step.work);
  if (cluster == nullptr) {
    SHARDSCOPE_CHECK(dense_ != nullptr, "a step of a part that the layout does not have");
    dense_->enqueue(step.stage, step.work, call);
    return {};
  }
  switch (step.stage) {
    case Stage::input_dist:
      return cluster->input_dist(call);
    case Stage::model_forward:
      cluster->model_forward(call);
      break;
    case Stage::network_forward:
      cluster->network_forward(call);
      break;
    case Stage::network_backward:
      cluster->network_backward(call);
      break;
    case Stage::index_calculation:
      cluster->index_calculation(call);
      break;
    case Stage::local_reduce:
      cluster->local_reduce(call);
      break;
    case Stage::allreduce:
      cluster->allreduce(call);
      break;
    case Stage::update:
      cluster->update(call);
      break;
    case Stage::dense_forward:
    case Stage::dense_backward:
      SHARDSCOPE_CHECK(false, "a dense stage of a cluster");
  }
  return {};
}

// One stream and its channel suffice: nothing overlaps, and no step writes to the tables.
Status RankRunner::evaluate(const RankBatch& given, std::int64_t iteration) {
  const Schedule serial =
      make_schedule(ScheduleKind::serial, presence_of(plan_.workload, plan_.layout));
  auto staged = StagedBatches::create(plan_.device, memory_->rank(), {&given});
  if (!staged) return fail(staged.error());
  evaluation_ = std::move(*staged);
  const BatchView& batch = evaluation_.at(0);
  if (Status status = admit_batch(batch); !status) return status;
  const std::size_t slot = slot_of(iteration);
  for (const auto& cluster : clusters_) {
    if (cluster) cluster->begin(slot, batch);
  }
  if (dense_) {
    dense_->begin(slot, batch);
    if (Status status = dense_->begin_block(0, 1); !status) return status;
  }
  communicators_.front()->set_step(nullptr);
  Stream& stream = *streams_.front();
  for (const ScheduleStep& step : serial.steps) {
    const bool forward = step.stage == Stage::input_dist || step.stage == Stage::model_forward ||
                         step.stage == Stage::network_forward || step.stage == Stage::dense_forward;
    if (!forward) continue;
    Status status = run_stage(step, {stream, *communicators_.front(), slot, batch, 1, false});
    if (!status) return status;
  }
  stream.synchronize(stream.record());
  if (Status status = stream.status(); !status) return status;
  return communicators_.front()->status();
}

void RankRunner::end_step(Stream& stream, StepTimes* times, std::size_t index,
                          std::int64_t iteration) {
  stream.mark(&times->end);
  if (stream.has_device_clock()) return;  // no codecs there, and its spans come behind the block
  if (traced_) stream.enqueue([this, index, iteration] { record_codecs(index, iteration); });
  if (recorder_ == nullptr) return;
  stream.enqueue([this, times, index, iteration] { record(index, iteration, *times, *recorder_); });
}

void RankRunner::record_iteration(const BlockRequest& request, std::int32_t n,
                                  Recorder& recorder) const {
  const std::vector<ScheduleStep>& steps = plan_.schedule.steps;
  const StepTimes* times = times_.data() + static_cast<std::size_t>(n) * steps.size();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    record(i, request.first_iteration + n + (steps[i].next_batch ? 1 : 0), times[i], recorder);
  }
}

void RankRunner::record_codecs(std::size_t index, std::int64_t iteration) {
  const ScheduleStep& step = plan_.schedule.steps[index];
  const bool forward = step.stage == Stage::network_forward;
  const Cluster* cluster = cluster_of(step.work);
  if (cluster == nullptr || (!forward && step.stage != Stage::network_backward)) return;
  CodecWork work;
  work.iteration = static_cast<std::int32_t>(iteration);
  work.rank = memory_->rank();
  work.stage = step.stage;
  work.work = step.work;
  cluster->append_codec_work(forward ? Direction::forward : Direction::backward, work,
                             codec_work_[step.stream]);
}

RankTraffic RankRunner::traffic() const {
  RankTraffic traffic;
  const std::vector<ScheduleStep>& steps = plan_.schedule.steps;
  if (times_.size() < steps.size()) return traffic;
  const StepTimes* last = times_.data() + (times_.size() - steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StepTimes& times = steps[i].next_batch ? used_prefetch_times_[i] : last[i];
    LinkBytes& sent = traffic.sent[static_cast<std::size_t>(steps[i].stage)]
                                  [static_cast<std::size_t>(steps[i].work)];
    const LinkBytes of_step = times.sent();
    sent.intra += of_step.intra;
    sent.inter += of_step.inter;
  }
  return traffic;
}

Engine::CodedTraffic RankRunner::coded() const {
  Engine::CodedTraffic coded{};
  for (std::size_t c = 0; c < clusters_.size(); ++c) {
    if (clusters_[c] == nullptr) continue;
    for (const Direction direction : {Direction::forward, Direction::backward}) {
      coded[c][static_cast<std::size_t>(direction)] = clusters_[c]->coded(direction);
    }
  }
  return coded;
}

// The waits of a step's collectives are spans of their own; what was done (bytes, rows, busy time)
// stands on its last working span.
void RankRunner::record(std::size_t index, std::int64_t iteration, const StepTimes& times,
                        Recorder& recorder) const {
  const ScheduleStep& step = plan_.schedule.steps[index];
  Span span;
  span.start_ns = times.start.ns - recorder.epoch_ns();
  span.iteration = static_cast<std::int32_t>(iteration);
  span.rank = memory_->rank();
  span.stage = step.stage;
  span.work = step.work;
  span.stream = step.stream;
  for (std::size_t e = 0; e < times.exchange_count; ++e) {
    const ExchangeTimes& exchange = times.exchanges[e];
    if (exchange.waited_ns <= 0) continue;
    span.end_ns = exchange.begin.ns - recorder.epoch_ns();
    if (span.end_ns > span.start_ns) recorder.record(span);
    span.start_ns = span.end_ns;
    span.end_ns =
        std::min(span.start_ns + exchange.waited_ns, exchange.end.ns - recorder.epoch_ns());
    span.waiting = true;
    recorder.record(span);
    span.waiting = false;
    span.start_ns = span.end_ns;
  }
  const LinkBytes sent = times.sent();
  span.end_ns = times.end.ns - recorder.epoch_ns();
  span.busy_ns = times.busy_ns();
  span.intra_bytes = sent.intra;
  span.inter_bytes = sent.inter;
  span.rows = times.rows;
  recorder.record(span);
}

}  // namespace shardscope::engine
