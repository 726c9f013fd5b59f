#include "engine/run_recorder.hpp"

#include <utility>

#include "engine/work_clock.hpp"

namespace shardscope::engine {

/// Passes records on and adds the spans up. spans() comes from the recorder's drain thread;
/// Recorder::flush() orders it before profile().
class RunRecorder::FoldingSink final : public RecordSink {
 public:
  explicit FoldingSink(RecordSink& sink) : sink_(sink) {}

  Result<std::int64_t> begin_run(const RunInfo& info) override { return sink_.begin_run(info); }
  void spans(std::int64_t run, std::span<const Span> batch) override {
    for (const Span& span : batch) sum_.add(span);
    sink_.spans(run, batch);
  }
  void iterations(std::int64_t run, std::span<const Iteration> batch) override {
    sink_.iterations(run, batch);
  }
  void activities(std::int64_t run, std::span<const ActivityRecord> batch) override {
    sink_.activities(run, batch);
  }
  void codec_work(std::int64_t run, std::span<const CodecWork> batch) override {
    sink_.codec_work(run, batch);
  }
  void dropped(std::int64_t run, std::int64_t count) override { sink_.dropped(run, count); }
  Status end_run(std::int64_t run, const RunSummary& summary) override {
    return sink_.end_run(run, summary);
  }

  [[nodiscard]] const StageSum& sum() const { return sum_; }

 private:
  RecordSink& sink_;
  StageSum sum_;
};

RunRecorder::RunRecorder(RecordSink& sink, std::int64_t run, const Engine& engine)
    : run_(run),
      ranks_(engine.config().topology.ranks()),
      folding_(std::make_unique<FoldingSink>(sink)) {
  const EngineConfig& config = engine.config();
  RecorderConfig rings;
  rings.ranks = ranks_;
  rings.streams =
      make_schedule(config.schedule, presence_of(config.workload, config.layout)).streams;
  rings.epoch_ns = engine.epoch_ns();
  recorder_ = std::make_unique<Recorder>(*folding_, run, rings);
}

RunRecorder::~RunRecorder() = default;

Result<std::unique_ptr<RunRecorder>> RunRecorder::begin(RecordSink& sink, const RunInfo& info,
                                                        const Engine& engine) {
  const Result<std::int64_t> run = sink.begin_run(info);
  if (!run) return fail(run.error());
  return std::unique_ptr<RunRecorder>(new RunRecorder(sink, *run, engine));
}

Result<TimedBlock> RunRecorder::run_block(Engine& engine, std::int32_t iterations, BlockUse use) {
  const bool traced = use == BlockUse::traced;
  const WorkClock clock;
  Result<Block> block = engine.run(iterations, traced ? recorder_.get() : nullptr);
  if (!block) return fail(block.error());
  TimedBlock timed;
  timed.use = use;
  timed.emulated = engine.config().comm == CommKind::loopback;
  timed.taken_s = clock.seconds();
  timed.critical_path_ms = std::move(block->critical_path_ms);
  // An engine counts untraced blocks from its own epoch; the run goes on when its engine changes.
  const std::int64_t shift_ns = traced ? 0 : engine.epoch_ns() - recorder_->epoch_ns();
  for (Iteration& iteration : block->iterations) {
    iteration.start_ns += shift_ns;
    iteration.end_ns += shift_ns;
    iteration.block = block_;
    iteration.warm_up = use == BlockUse::warm_up;
    iteration.traced = traced;
    recorder_->record(iteration);
    timed.iteration_ms.push_back(static_cast<double>(iteration.end_ns - iteration.start_ns) / 1e6);
    timed.losses.push_back(iteration.loss);
  }
  ++block_;
  for (const CodecWork& one : block->codec_work) codecs_.add(one);
  if (!block->codec_work.empty()) folding_->codec_work(run_, block->codec_work);
  if (traced) recorder_->flush();
  return timed;
}

StageProfile RunRecorder::profile() {
  recorder_->flush();
  return stage_profile(folding_->sum().totals(), folding_->sum().iterations(), ranks_);
}

Status RunRecorder::end(const RunSummary& summary) {
  recorder_->flush();
  return folding_->end_run(run_, summary);
}

std::int64_t RunRecorder::dropped() const {
  return recorder_->dropped();
}

}  // namespace shardscope::engine
