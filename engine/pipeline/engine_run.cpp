#include "engine/pipeline/engine_run.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "engine/comm/loopback.hpp"
#include "engine/comm/threads.hpp"
#include "engine/dense/metrics.hpp"
#include "engine/pipeline/admission.hpp"
#include "engine/pipeline/blocks.hpp"
#include "profiler/clock.hpp"
#include "profiler/recorder.hpp"

namespace shardscope::engine {

namespace {

/// Runs work(rank) on a thread a rank and returns when all are done.
template <class Work>
void on_all_ranks(std::int32_t ranks, const Work& work) {
  std::vector<std::thread> threads;
  for (std::int32_t rank = 0; rank < ranks; ++rank) threads.emplace_back([&, rank] { work(rank); });
  for (std::thread& thread : threads) thread.join();
}

template <class Kind>
Result<std::shared_ptr<Fabric>> fabric_of(const RunPlan& plan, const FabricOptions& options) {
  auto fabric = Kind::create(plan.topology, plan.schedule.streams, options);
  if (!fabric) return fail(fabric.error());
  return std::shared_ptr<Fabric>(std::move(*fabric));
}

Result<std::shared_ptr<Fabric>> make_fabric(CommKind kind, const RunPlan& plan,
                                            const FabricOptions& options) {
  switch (kind) {
    case CommKind::threads:
      return fabric_of<ThreadsFabric>(plan, options);
    case CommKind::loopback:
      return fabric_of<LoopbackFabric>(plan, options);
    case CommKind::nccl:
      return plan.device->fabric(plan.topology, plan.schedule.streams, options);
  }
  return fabric_of<ThreadsFabric>(plan, options);
}

/// Iterations whose spans are handed on at once where they come behind the block.
constexpr std::int32_t kFlushedIterations = 8;

/// The layout as the planted fault runs it.
Layout with_fault(Layout layout, Fault fault) {
  if (fault == Fault::ub_sends_everything) {
    layout.clusters[static_cast<std::size_t>(ClusterType::UB)].dedup = false;
  }
  if (fault == Fault::hierarchical_calls_flat) {
    layout.clusters[static_cast<std::size_t>(ClusterType::RB)].exchange = Exchange::flat;
    for (TablePlacement& placement : layout.tables) placement.exchange.reset();
  }
  return layout;
}

/// A wrong owner meets rows that the counts do not know of.
void make_room_for_wrong_owner(BatchCounts& capacity, const Workload& workload,
                               const Layout& layout) {
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    if (layout.tables[t].cluster == ClusterType::DP) continue;
    for (std::int32_t j = 0; j < layout.tables[t].row_shards; ++j) {
      capacity.unique[t][static_cast<std::size_t>(j)] =
          layout.tables[t].rows_in(j, workload.tables[t].rows);
    }
  }
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::create(EngineConfig config,
                                               std::shared_ptr<const BatchSource> source,
                                               GivenGradients given) {
  auto engine = std::make_unique<EngineRun>(std::move(config), std::move(source), std::move(given));
  if (Status status = engine->open(); !status) return fail(status.error());
  return engine;
}

EngineRun::EngineRun(EngineConfig config, std::shared_ptr<const BatchSource> source,
                     GivenGradients given)
    : config_(std::move(config)),
      source_(std::move(source)),
      given_(std::move(given)),
      epoch_ns_(steady_ns()),
      cpu_ops_(make_cpu_ops()),
      ops_(config_.device != nullptr ? &config_.device->ops() : cpu_ops_.get()) {}

EngineRun::~EngineRun() {
  clear_ranks();
}

// Ranks may write into each other's memory: it goes when none of them works any more.
void EngineRun::clear_ranks() {
  for (const auto& runner : runners_) runner->settle();
  runners_.clear();
}

Status EngineRun::open() {
  if (Status status = admit(config_, config_.layout); !status) return status;
  if (Status status = make_batches(); !status) return status;
  plan_ = make_plan(config_.layout);
  if (Status status = admit_memory(*plan_, 0); !status) return status;
  if (Status status = make_ranks(); !status) return status;
  fill_tables();
  return {};
}

Result<std::vector<RankBatch>> EngineRun::parts_of(const BatchSource& source,
                                                   std::int64_t iteration) const {
  const std::int32_t ranks = config_.topology.ranks();
  std::vector<RankBatch> parts;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    Result<RankBatch> part = source.make(iteration, rank, ranks);
    if (!part) return fail(part.error());
    parts.push_back(std::move(*part));
  }
  return parts;
}

Status EngineRun::make_batches() {
  for (std::int32_t b = 0; b < std::max(config_.batches, 1); ++b) {
    Result<std::vector<RankBatch>> parts = parts_of(*source_, b);
    if (!parts) return fail(parts.error());
    batches_.push_back(std::move(*parts));
  }
  return {};
}

std::unique_ptr<RunPlan> EngineRun::make_plan(const Layout& layout) const {
  auto plan = std::make_unique<RunPlan>();
  plan->workload = config_.workload;
  plan->topology = config_.topology;
  plan->layout = with_fault(layout, config_.fault);
  plan->schedule = make_schedule(config_.schedule, presence_of(plan->workload, plan->layout));
  for (const std::vector<RankBatch>& parts : batches_) {
    raise_to(plan->capacity, count_batch(plan->workload, plan->layout, parts));
  }
  for (const std::vector<RankBatch>& parts : evaluation_parts_) {
    raise_to(plan->capacity, count_batch(plan->workload, plan->layout, parts));
  }
  if (config_.fault == Fault::wrong_owner) {
    make_room_for_wrong_owner(plan->capacity, plan->workload, plan->layout);
  }
  plan->routes = routes_of(plan->workload, plan->topology, plan->layout);
  plan->readers = features_by_table(plan->workload);
  plan->seed = config_.seed;
  // Emulated ranks on the CPU exchange by messages alone: their composed times are those of
  // messages. Where a fabric has no windows, ranks send messages too.
  plan->peer_writes = config_.comm == CommKind::threads || config_.device != nullptr;
  plan->device = config_.device.get();
  plan->tracer = config_.tracer.get();
  plan->loss_scale = static_cast<float>(config_.loss_scale);
  plan->decay = config_.decay;
  plan->fault = config_.fault;
  plan->wrap_communicator = config_.wrap_communicator;
  return plan;
}

Status EngineRun::make_ranks() {
  FabricOptions options;
  options.wire = config_.wire;
  if (config_.device != nullptr) options.mover = config_.device->mover();
  Result<std::shared_ptr<Fabric>> fabric = make_fabric(config_.comm, *plan_, options);
  if (!fabric) return fail(fabric.error());
  {
    const std::lock_guard lock(fabric_mutex_);
    fabric_ = std::move(*fabric);
  }
  const StreamMode mode = config_.deferred_streams ? StreamMode::deferred : fabric_->stream_mode();
  for (std::int32_t rank = 0; rank < plan_->ranks(); ++rank) {
    auto runner = RankRunner::create(*plan_, rank, *fabric_, mode, *ops_, batches_, &given_);
    if (!runner) return fail(runner.error());
    runners_.push_back(std::move(*runner));
  }
  return {};
}

void EngineRun::fill_tables() {
  on_all_ranks(plan_->ranks(), [&](std::int32_t rank) {
    for (const ShardMemory& shard : runners_[static_cast<std::size_t>(rank)]->memory().shards()) {
      fill_shard(*plan_, shard, config_.initial);
    }
  });
}

/// Work of every rank on its host thread; the first failure ends all.
template <class Work>
Status EngineRun::on_turns(const Work& work) {
  on_all_ranks(plan_->ranks(), [&](std::int32_t rank) {
    const RankTurn turn(*fabric_, rank);
    if (Status status = work(rank); !status) fabric_->abort(status.error());
  });
  return fabric_->status();
}

Result<Block> EngineRun::run(std::int32_t iterations, Recorder* recorder) {
  const bool emulated = config_.comm == CommKind::loopback;
  const BlockRequest request{iteration_, iterations, emulated ? nullptr : recorder,
                             recorder != nullptr};
  const std::int64_t began_ns = steady_ns();
  Status status = on_turns(
      [&](std::int32_t rank) { return runners_[static_cast<std::size_t>(rank)]->run(request); });
  if (!status) return fail(status.error());
  iteration_ += iterations;
  const std::int64_t epoch_ns = recorder != nullptr ? recorder->epoch_ns() : epoch_ns_;
  if (!emulated) {
    if (recorder != nullptr) record_behind(request, *recorder);
    Block block = measured_block(*plan_, runners_, request, epoch_ns);
    block.codec_work = codec_work_of(runners_);
    for (CodecWork& work : block.codec_work) work.start_ns -= epoch_ns;
    return block;
  }
  // Virtual time never goes back: a block may have taken longer on it than by the clock.
  const std::int64_t start_ns = std::max(began_ns, virtual_ns_);
  Block block = emulated_block(*plan_, runners_, request, start_ns - epoch_ns, recorder);
  block.codec_work = codec_work_of(runners_);
  for (CodecWork& work : block.codec_work) {
    const auto n = static_cast<std::size_t>(work.iteration - request.first_iteration);
    work.start_ns = block.iterations[n].start_ns;
  }
  if (!block.iterations.empty()) virtual_ns_ = block.iterations.back().end_ns + epoch_ns;
  return block;
}

/// Hands on the spans of a device whose clock is read behind the block.
void EngineRun::record_behind(const BlockRequest& request, Recorder& recorder) const {
  if (!runners_.front()->has_device_clock()) return;
  for (std::int32_t n = 0; n < request.iterations; ++n) {
    for (const auto& runner : runners_) runner->record_iteration(request, n, recorder);
    if (n % kFlushedIterations == kFlushedIterations - 1) recorder.flush();
  }
}

std::vector<TableImage> EngineRun::read_tables() const {
  std::vector<TableImage> images;
  for (const Table& table : plan_->workload.tables) images.push_back(empty_image(table));
  for (const auto& runner : runners_) {
    for (const ShardMemory& shard : runner->memory().shards()) {
      read_shard(*plan_, shard, images[static_cast<std::size_t>(shard.table)]);
    }
  }
  return images;
}

void EngineRun::write_tables(const std::vector<TableImage>& images) {
  on_all_ranks(plan_->ranks(), [&](std::int32_t rank) {
    for (const ShardMemory& shard : runners_[static_cast<std::size_t>(rank)]->memory().shards()) {
      write_shard(*plan_, shard, images[static_cast<std::size_t>(shard.table)]);
    }
  });
}

Status EngineRun::apply(const Layout& layout) {
  if (Status status = admit(config_, layout); !status) return status;
  if (Status status = rebuild(layout); !status) return status;
  config_.layout = layout;
  return {};
}

// The old ranks' memory goes before the new ones' comes; if the new ones then cannot be made, the
// old ones are made again.
Status EngineRun::rebuild(const Layout& layout) {
  std::unique_ptr<RunPlan> plan = make_plan(layout);
  std::int64_t reclaimed = 0;
  for (const std::int64_t bytes : arena_peak_bytes()) reclaimed += bytes;
  if (Status status = admit_memory(*plan, reclaimed); !status) return status;
  const std::vector<TableImage> tables = read_tables();
  const DenseImage dense = read_dense();
  const FeedbackImage feedback = read_feedback();
  clear_ranks();
  std::swap(plan_, plan);
  Status status = make_ranks();
  if (!status) {
    clear_ranks();
    std::swap(plan_, plan);
    if (Status back = make_ranks(); !back) return back;
  }
  write_tables(tables);
  write_dense(dense);
  write_feedback(feedback);
  return status;
}

EngineRun::FeedbackImage EngineRun::read_feedback() const {
  FeedbackImage image;
  for (const auto& runner : runners_) {
    Arena& arena = runner->memory().arena();
    std::vector<std::vector<float>>& of_rank = image.emplace_back();
    for (std::size_t t = 0; t < plan_->workload.tables.size(); ++t) {
      const auto table = static_cast<std::int32_t>(t);
      std::vector<float>& lost = of_rank.emplace_back();
      if (!arena.has("ub.feedback", table)) continue;
      const auto* from = arena.get<float>("ub.feedback", table);
      lost.assign(from, from + plan_->table(table).rows * plan_->table(table).dim);
    }
  }
  return image;
}

// A table that has left UB, or no longer feeds back, has nothing to be added to.
void EngineRun::write_feedback(const FeedbackImage& image) {
  for (std::size_t rank = 0; rank < runners_.size(); ++rank) {
    Arena& arena = runners_[rank]->memory().arena();
    for (std::size_t t = 0; t < image[rank].size(); ++t) {
      const auto table = static_cast<std::int32_t>(t);
      const std::vector<float>& lost = image[rank][t];
      if (lost.empty() || !arena.has("ub.feedback", table)) continue;
      std::copy(lost.begin(), lost.end(), arena.get<float>("ub.feedback", table));
    }
  }
}

// Replicas are equal: the first rank speaks for all.
EngineRun::DenseImage EngineRun::read_dense() const {
  DenseImage image;
  if (runners_.front()->dense() == nullptr) return image;
  Arena& arena = runners_.front()->memory().arena();
  const auto copy = [&](const char* name) {
    const std::byte* from = arena.get(name);
    return std::vector<std::byte>(from, from + arena.bytes(name));
  };
  image.parameters = copy("dense.parameters");
  image.state = copy("dense.state");
  return image;
}

void EngineRun::write_dense(const DenseImage& image) {
  for (const auto& runner : runners_) {
    if (runner->dense() == nullptr) continue;
    Arena& arena = runner->memory().arena();
    std::copy(image.parameters.begin(), image.parameters.end(), arena.get("dense.parameters"));
    std::copy(image.state.begin(), image.state.end(), arena.get("dense.state"));
  }
}

std::vector<float> EngineRun::weights(std::int32_t table) const {
  TableImage image = empty_image(plan_->table(table));
  for (const auto& runner : runners_) {
    for (const ShardMemory& shard : runner->memory().shards()) {
      if (shard.table == table) read_shard(*plan_, shard, image);
    }
  }
  return weights_of(plan_->table(table), image);
}

std::vector<float> EngineRun::output(std::int32_t feature, std::int32_t rank) const {
  const RunPlan& plan = *plan_;
  const auto last = static_cast<std::size_t>(std::max<std::int64_t>(iteration_ - 1, 0));
  const RankBatch& batch = batches_[last % batches_.size()][static_cast<std::size_t>(rank)];
  const FeatureBatch& input = batch.features[static_cast<std::size_t>(feature)];
  const std::int64_t rows = is_pooled(plan.feature(feature).pooling)
                                ? static_cast<std::int64_t>(input.lengths.size())
                                : input.ids.size();
  const std::int64_t dim = plan.table(plan.feature(feature).table).dim;
  const float* values = runners_[static_cast<std::size_t>(rank)]->memory().feature(feature).output;
  return {values, values + rows * dim};
}

Result<Engine::Evaluation> EngineRun::evaluate(const BatchSource& source, std::int32_t batches) {
  if (runners_.front()->dense() == nullptr) {
    return fail({ErrorKind::usage, "there is no loss to evaluate without a dense part",
                 fmt::format("workload {}", config_.workload.name),
                 "an interaction other than none", "Add a dense part to the workload"});
  }
  std::vector<float> logits, labels;
  for (std::int32_t b = 0; b < batches; ++b) {
    Result<std::vector<RankBatch>> parts = parts_of(source, b);
    if (!parts) return fail(parts.error());
    if (Status status = make_room(*parts); !status) return fail(status.error());
    if (Status status = evaluate_batch(*parts); !status) return fail(status.error());
    for (std::size_t rank = 0; rank < runners_.size(); ++rank) {
      const float* values = runners_[rank]->dense()->logits();
      logits.insert(logits.end(), values, values + (*parts)[rank].samples);
      labels.insert(labels.end(), (*parts)[rank].labels.begin(), (*parts)[rank].labels.end());
    }
  }
  return Evaluation{mean_log_loss(logits, labels), exact_auc(logits, labels),
                    static_cast<std::int64_t>(labels.size())};
}

Status EngineRun::evaluate_batch(const std::vector<RankBatch>& parts) {
  // The slot that no prefetched batch stands in.
  const std::int64_t iteration = iteration_ + 1;
  return on_turns([&](std::int32_t rank) {
    const auto at = static_cast<std::size_t>(rank);
    return runners_[at]->evaluate(parts[at], iteration);
  });
}

// Evaluation batches may be larger than every training batch: the ranks are then made again with
// room for them.
Status EngineRun::make_room(const std::vector<RankBatch>& parts) {
  BatchCounts needed = plan_->capacity;
  raise_to(needed, count_batch(plan_->workload, plan_->layout, parts));
  if (needed == plan_->capacity) return {};
  evaluation_parts_.push_back(parts);
  return rebuild(config_.layout);
}

GraphCounts EngineRun::graph_counts() const {
  GraphCounts counts;
  for (const auto& runner : runners_) counts += runner->graph_counts();
  return counts;
}

std::vector<Engine::CodedTraffic> EngineRun::coded() const {
  std::vector<CodedTraffic> coded;
  for (const auto& runner : runners_) coded.push_back(runner->coded());
  return coded;
}

std::vector<RankTraffic> EngineRun::traffic() const {
  std::vector<RankTraffic> traffic;
  for (const auto& runner : runners_) traffic.push_back(runner->traffic());
  return traffic;
}

std::vector<std::int64_t> EngineRun::arena_peak_bytes() const {
  std::vector<std::int64_t> bytes;
  for (const auto& runner : runners_) bytes.push_back(runner->memory().arena().used_bytes());
  return bytes;
}

Mode EngineRun::mode() const {
  return config_.comm == CommKind::loopback || config_.wire.any() ? Mode::emulated : Mode::measured;
}

void EngineRun::abort(const Error& reason) {
  const std::lock_guard lock(fabric_mutex_);
  if (fabric_) fabric_->abort(reason);
}

}  // namespace shardscope::engine
