#pragma once
// An engine of scripted iteration times for tests of what drives engines: no work, no clock.

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "profiler/forgetting_sink.hpp"
#include "profiler/recorder.hpp"

namespace shardscope::engine {

/// Iteration i takes time_ms(i, traced). Errors after `fail_after` iterations where that is >= 0.
class ScriptedEngine : public Engine {
 public:
  using Times = std::function<double(std::int64_t iteration, bool traced)>;

  ScriptedEngine(std::int32_t ranks, Times times) : times_(std::move(times)) {
    config_.topology.gpus_per_host = ranks;
    config_.topology.fast_domain = ranks;
    config_.workload.global_batch = 100;
    config_.batches = 2;
  }

  Result<Block> run(std::int32_t iterations, Recorder* recorder) override {
    Block block;
    for (std::int32_t count = 0; count < iterations; ++count, ++next_) {
      if (fail_after >= 0 && next_ >= fail_after) {
        return fail({ErrorKind::runtime, "a rank is lost", "rank 1", "", ""});
      }
      const double ms = times_(next_, recorder != nullptr);
      Iteration iteration;
      iteration.index = static_cast<std::int32_t>(next_);
      iteration.start_ns = now_ns_;
      iteration.end_ns = now_ns_ += static_cast<std::int64_t>(ms * 1e6);
      iteration.loss = 0.5;
      block.iterations.push_back(iteration);
      block.critical_path_ms.push_back(ms / 2);
      if (recorder != nullptr) record_spans(*recorder, iteration);
    }
    layouts_run.push_back(config_.layout.name);
    return block;
  }

  Status apply(const Layout& layout) override {
    config_.layout = layout;
    ++applied;
    return {};
  }
  std::vector<float> weights(std::int32_t) const override { return {}; }
  std::vector<float> output(std::int32_t, std::int32_t) const override { return {}; }
  Result<Evaluation> evaluate(const BatchSource&, std::int32_t) override { return Evaluation{}; }
  std::vector<RankTraffic> traffic() const override { return {}; }
  std::vector<std::int64_t> arena_peak_bytes() const override { return {}; }
  const EngineConfig& config() const override { return config_; }
  std::int64_t epoch_ns() const override { return 1; }
  Mode mode() const override { return Mode::measured; }
  void abort(const Error&) override {}

  /// The times are a virtual clock's from now on.
  void emulate() { config_.comm = CommKind::loopback; }

  std::int64_t fail_after = -1;
  int applied = 0;
  std::vector<std::string> layouts_run;  ///< by block
  [[nodiscard]] std::int64_t iterations_run() const { return next_; }

 private:
  void record_spans(Recorder& recorder, const Iteration& iteration) const {
    for (std::int32_t rank = 0; rank < config_.topology.ranks(); ++rank) {
      Span span;
      span.rank = rank;
      span.iteration = iteration.index;
      span.stage = Stage::update;
      span.start_ns = iteration.start_ns;
      span.end_ns = iteration.end_ns;
      recorder.record(span);
    }
  }

  EngineConfig config_;
  Times times_;
  std::int64_t next_ = 0;
  std::int64_t now_ns_ = 0;
};

/// Keeps what it is given.
class KeepingSink : public ForgettingSink {
 public:
  Result<std::int64_t> begin_run(const RunInfo&) override {
    const std::lock_guard guard(mutex_);
    return ++runs;
  }
  void spans(std::int64_t, std::span<const Span> batch) override {
    const std::lock_guard guard(mutex_);
    kept_spans.insert(kept_spans.end(), batch.begin(), batch.end());
  }
  void iterations(std::int64_t, std::span<const Iteration> batch) override {
    const std::lock_guard guard(mutex_);
    kept_iterations.insert(kept_iterations.end(), batch.begin(), batch.end());
  }
  Status end_run(std::int64_t, const RunSummary& summary) override {
    const std::lock_guard guard(mutex_);
    summaries.push_back(summary);
    return {};
  }

  std::int64_t runs = 0;
  std::vector<Span> kept_spans;
  std::vector<Iteration> kept_iterations;
  std::vector<RunSummary> summaries;

 private:
  std::mutex mutex_;  // several drain threads deliver
};

}  // namespace shardscope::engine
