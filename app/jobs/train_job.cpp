#include "app/jobs/train_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "app/machine.hpp"
#include "app/run_setup.hpp"
#include "engine/batches/task.hpp"
#include "engine/run_recorder.hpp"
#include "storage/queries/runs.hpp"

namespace shardscope::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kDefaultIterations = 1000;
constexpr std::int64_t kPoints = 20;
constexpr std::int64_t kCeilingSamples = 200'000;
constexpr double kRingShareOfMemory = 0.25;
constexpr std::int64_t kLongestBlock = 64;  // iterations between two looks at the watch

bool is_recorded(const Workload& workload) {
  return std::any_of(
      workload.features.begin(), workload.features.end(),
      [](const Feature& feature) { return feature.ids.kind == IdDistributionKind::recorded; });
}

std::int64_t bytes_of_batch(const Workload& workload) {
  double per_sample = (workload.dense.dense_features + 1) * 4.0;
  for (const Feature& feature : workload.features) {
    const double ids = feature.hotness.mean() * feature.num_poolings;
    per_sample += ids * static_cast<double>(bytes_of(workload.key)) + 4.0 * feature.num_poolings;
  }
  return static_cast<std::int64_t>(per_sample * static_cast<double>(workload.global_batch));
}

/// Fresh batches for every iteration, as far as a quarter of the memory holds them.
std::int32_t ring_size(const Workload& workload, std::int64_t iterations) {
  const double room =
      static_cast<double>(this_machine().memory_available_bytes) * kRingShareOfMemory;
  const auto most = static_cast<std::int64_t>(
      room / static_cast<double>(std::max<std::int64_t>(bytes_of_batch(workload), 1)));
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(most, 1, iterations));
}

std::int64_t iterations_of(const TrainJob& job) {
  return job.run.iterations > 0 ? job.run.iterations : kDefaultIterations;
}

Status require_dense_part(const Workload& workload) {
  if (workload.dense.interaction != Interaction::none) return {};
  return fail({ErrorKind::usage, "the workload has no dense part, so there is nothing to learn",
               "workload " + workload.name, "bottom MLP, interaction and top MLP",
               "Choose a model with a dense part, such as dcnv2 or criteo-kaggle"});
}

Result<std::unique_ptr<engine::Engine>> make_training_engine(const TrainJob& job) {
  Result<engine::EngineConfig> config = engine_config(job.run, job.inputs, job.layout);
  if (!config) return fail(config.error());
  const std::int64_t bytes = process_bytes(job.inputs, job.layout);
  if (Status fits = require_memory(bytes, config->device.get()); !fits) return fail(fits.error());
  config->batches = ring_size(job.inputs.workload, iterations_of(job));
  announce_preparation(bytes);
  Result<std::unique_ptr<engine::BatchSource>> source = engine::make_batch_source(
      job.inputs.workload, job.run.seed, job.run.range_policy, engine::Split::training);
  if (!source) return fail(source.error());
  return engine::Engine::create(std::move(*config), std::move(*source));
}

std::array<storage::CurvePoint, 2> curve_points(const CurveRow& row) {
  return {{{"train", row.iteration, row.samples, row.time_ns, row.train_loss, std::nan("")},
           {"eval", row.iteration, row.samples, row.time_ns, row.held_out.loss, row.held_out.auc}}};
}

/// What the training loop works on; all outlive it.
struct Parts {
  engine::Engine& engine;
  std::unique_ptr<engine::RunRecorder>& recorder;
  const engine::BatchSource& held_out;
  JobOutput& output;
  JobWatch& watch;
};

RunSummary training_summary(const TrainJob& job, double iteration_ms, bool complete,
                            std::string message) {
  RunSummary summary;
  summary.tracing_overhead = std::numeric_limits<double>::quiet_NaN();
  summary.iteration_ms = iteration_ms;
  if (iteration_ms > 0) {
    summary.samples_per_s =
        static_cast<double>(job.inputs.workload.global_batch) / iteration_ms * 1e3;
  }
  summary.complete = complete;
  summary.message = std::move(message);
  return summary;
}

class Trainer {
 public:
  Trainer(const TrainJob& job, Parts parts) : job_(job), parts_(parts) {}

  /// Fills the curve; stops early where the watch asks for it.
  Status run(Trained& trained) {
    const std::int64_t iterations = iterations_of(job_);
    const LateAction abort(parts_.watch, [&] { parts_.engine.abort(stopped_by_the_user()); });
    const std::int64_t every = job_.evaluate_every > 0
                                   ? job_.evaluate_every
                                   : std::max<std::int64_t>(1, iterations / kPoints);
    for (std::int64_t done = 0; done < iterations && !trained.interrupted;) {
      const std::int64_t next = std::min(every, iterations - done);
      if (Status status = advance(done, next, iterations); !status) {
        trained.interrupted = parts_.watch.stop_requested();
        if (!trained.interrupted) return status;
        break;
      }
      done += losses_count_;
      if (Status status = evaluate(done, trained); !status) return status;
      trained.interrupted = parts_.watch.stop_requested() && done < iterations;
    }
    trained.iteration_ms = iteration_ms();
    trained.run = parts_.recorder->run();
    return {};
  }

 private:
  /// Up to `count` iterations after the first `done`; fewer where the watch asks to stop.
  Status advance(std::int64_t done, std::int64_t count, std::int64_t iterations) {
    losses_.clear();
    losses_count_ = 0;
    while (losses_count_ < count && !parts_.watch.stop_requested()) {
      const auto length = static_cast<std::int32_t>(std::min(count - losses_count_, kLongestBlock));
      const auto block =
          parts_.recorder->run_block(parts_.engine, length, engine::BlockUse::measured);
      if (!block) return fail(block.error());
      if (Status kept = parts_.output.status(); !kept) return kept;
      losses_.insert(losses_.end(), block->losses.begin(), block->losses.end());
      total_ms_ += std::accumulate(block->iteration_ms.begin(), block->iteration_ms.end(), 0.0);
      iterations_ += length;
      losses_count_ += length;
      parts_.watch.progress(
          static_cast<double>(done + losses_count_) / static_cast<double>(iterations), detail_);
      if (Status moved = move_where_asked(); !moved) return moved;
    }
    return {};
  }

  /// Of the run that is open: since the start, or since the last move.
  [[nodiscard]] double iteration_ms() const {
    return iterations_ > 0 ? total_ms_ / static_cast<double>(iterations_) : 0;
  }

  /// A new layout begins a run of its own in the session; the curve goes on.
  Status move_where_asked() {
    if (job_.requests == nullptr || !job_.requests->wanted()) return {};
    const std::optional<Layout> layout = job_.requests->move(parts_.engine);
    if (!layout) return {};
    if (Status ended =
            parts_.recorder->end(training_summary(job_, iteration_ms(), true, storage::kMovedOn));
        !ended) {
      return ended;
    }
    auto next = engine::RunRecorder::begin(parts_.output.records(),
                                           run_info(job_.run, job_.inputs, *layout, parts_.engine),
                                           parts_.engine);
    if (!next) return fail(next.error());
    parts_.recorder = std::move(*next);
    total_ms_ = 0;
    iterations_ = 0;
    job_.requests->moved();
    return {};
  }

  Status evaluate(std::int64_t iteration, Trained& trained) {
    const auto held_out =
        parts_.engine.evaluate(parts_.held_out, static_cast<std::int32_t>(job_.evaluation_batches));
    if (!held_out) return fail(held_out.error());
    const double train_loss = losses_.empty()
                                  ? std::nan("")
                                  : std::accumulate(losses_.begin(), losses_.end(), 0.0) /
                                        static_cast<double>(losses_.size());
    trained.curve.push_back(
        {iteration, iteration * job_.inputs.workload.global_batch,
         std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count(),
         train_loss, *held_out});
    detail_ = fmt::format("AUC {:.4f}", held_out->auc);
    return parts_.output.save_curve(parts_.recorder->run(), curve_points(trained.curve.back()));
  }

  const TrainJob& job_;
  Parts parts_;
  Clock::time_point start_ = Clock::now();
  std::vector<double> losses_;  ///< since the last evaluation
  std::int64_t losses_count_ = 0;
  double total_ms_ = 0;
  std::int64_t iterations_ = 0;
  std::string detail_;
};

RunSummary training_summary(const TrainJob& job, const Trained& trained, const Status& status) {
  return training_summary(job, trained.iteration_ms, status && !trained.interrupted,
                          !status               ? to_string(status.error())
                          : trained.interrupted ? "stopped by the user"
                                                : "");
}

}  // namespace

Result<Trained> run_training(const TrainJob& job, JobOutput& output, JobWatch& watch) {
  if (Status dense = require_dense_part(job.inputs.workload); !dense) return fail(dense.error());
  const auto held_out = engine::make_batch_source(job.inputs.workload, job.run.seed,
                                                  job.run.range_policy, engine::Split::evaluation);
  if (!held_out) return fail(held_out.error());
  const auto engine = make_training_engine(job);
  if (!engine) return fail(engine.error());
  auto recorder = engine::RunRecorder::begin(
      output.records(), run_info(job.run, job.inputs, job.layout, **engine), **engine);
  if (!recorder) return fail(recorder.error());
  Trained trained;
  trained.mode = (*engine)->mode();
  trained.distinct_batches = (*engine)->config().batches;
  trained.run = (*recorder)->run();
  const Status status = Trainer(job, {**engine, *recorder, **held_out, output, watch}).run(trained);
  const Status ended = (*recorder)->end(training_summary(job, trained, status));
  if (!status) return fail(status.error());
  if (!ended) return fail(ended.error());
  if (trained.curve.empty()) {
    return fail({ErrorKind::runtime, "stopped before the first evaluation", "train", "", ""});
  }
  if (!is_recorded(job.inputs.workload)) {
    const auto ceiling = engine::ceiling_auc(job.inputs.workload, job.run.seed, kCeilingSamples);
    if (ceiling) trained.ceiling = *ceiling;
  }
  return trained;
}

nlohmann::ordered_json training_json(const TrainJob& job, const Trained& done) {
  nlohmann::ordered_json json = {{"mode", to_string(done.mode)},
                                 {"executor", "engine"},
                                 {"workload", job.inputs.workload.name},
                                 {"rows_cap", job.inputs.workload.rows_cap},
                                 {"topology", job.inputs.topology.name},
                                 {"layout", job.layout.name},
                                 {"iteration_ms", done.iteration_ms},
                                 {"distinct_batches", done.distinct_batches},
                                 {"ceiling_auc", nullptr},
                                 {"curve", nlohmann::ordered_json::array()},
                                 {"interrupted", done.interrupted},
                                 {"run", done.run}};
  if (done.ceiling) json["ceiling_auc"] = *done.ceiling;
  for (const CurveRow& row : done.curve) {
    json["curve"].push_back({{"iteration", row.iteration},
                             {"samples", row.samples},
                             {"train_loss", row.train_loss},
                             {"loss", row.held_out.loss},
                             {"auc", row.held_out.auc}});
  }
  return json;
}

}  // namespace shardscope::app
