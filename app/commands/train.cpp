#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/interrupt.hpp"
#include "app/machine.hpp"
#include "app/progress.hpp"
#include "app/run_setup.hpp"
#include "app/text_table.hpp"
#include "engine/batches/task.hpp"
#include "engine/run_recorder.hpp"
#include "storage/curves.hpp"

namespace shardscope::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kDefaultIterations = 1000;
constexpr std::int64_t kPoints = 20;
constexpr std::int64_t kCeilingSamples = 200'000;
constexpr double kRingShareOfMemory = 0.25;

/// One evaluation with the training loss since the one before.
struct CurveRow {
  std::int64_t iteration = 0;
  std::int64_t samples = 0;
  std::int64_t time_ns = 0;
  double train_loss = 0;
  engine::Engine::Evaluation held_out;
};

struct Trained {
  const TrainOptions& options;
  const Inputs& inputs;
  const Layout& layout;
  std::vector<CurveRow> curve;
  std::optional<double> ceiling;
  std::int64_t distinct_batches = 0;
  double iteration_ms = 0;
  bool interrupted = false;
  Mode mode = Mode::measured;
  std::string session;
  std::int64_t run = 0;
};

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

Result<std::unique_ptr<engine::Engine>> make_training_engine(const TrainOptions& options,
                                                             const Inputs& inputs,
                                                             const Layout& layout,
                                                             std::int64_t iterations) {
  Result<engine::EngineConfig> config = engine_config(options.run, inputs, layout);
  if (!config) return fail(config.error());
  const std::int64_t bytes = process_bytes(inputs, layout);
  if (Status fits = require_memory(bytes); !fits) return fail(fits.error());
  config->batches = ring_size(inputs.workload, iterations);
  announce_preparation(bytes);
  Result<std::unique_ptr<engine::BatchSource>> source = engine::make_batch_source(
      inputs.workload, options.run.seed, options.run.range_policy, engine::Split::training);
  if (!source) return fail(source.error());
  return engine::Engine::create(std::move(*config), std::move(*source));
}

/// The training loop; the engine, its recorder and the held-out samples stay the same throughout.
class Trainer {
 public:
  Trainer(const TrainOptions& options, engine::Engine& engine, engine::RunRecorder& recorder,
          const engine::BatchSource& held_out, Interrupt& interrupt)
      : options_(options),
        engine_(engine),
        recorder_(recorder),
        held_out_(held_out),
        interrupt_(interrupt) {}

  /// Fills the curve; stops early on Ctrl-C.
  Status run(std::int64_t iterations, Trained& trained) {
    Progress progress("train");
    const LateAction abort(interrupt_, [&] {
      engine_.abort({ErrorKind::runtime, "stopped by the user", "", "", ""});
    });
    const std::int64_t every = options_.evaluate_every > 0
                                   ? options_.evaluate_every
                                   : std::max<std::int64_t>(1, iterations / kPoints);
    for (std::int64_t done = 0; done < iterations && !trained.interrupted;) {
      const std::int64_t next = std::min(every, iterations - done);
      if (Status status = advance(next, progress, static_cast<double>(done) / iterations);
          !status) {
        return interrupt_.requested() ? Status{} : status;
      }
      done += next;
      if (Status status = evaluate(done, trained); !status) return status;
      trained.interrupted = interrupt_.requested();
    }
    trained.iteration_ms = iterations_ > 0 ? total_ms_ / static_cast<double>(iterations_) : 0;
    return {};
  }

 private:
  Status advance(std::int64_t iterations, Progress& progress, double share) {
    progress.update(share, detail_);
    losses_.clear();
    while (iterations > 0 && !interrupt_.requested()) {
      const auto length = static_cast<std::int32_t>(std::min<std::int64_t>(iterations, 64));
      const auto block = recorder_.run_block(engine_, length, engine::BlockUse::measured);
      if (!block) return fail(block.error());
      losses_.insert(losses_.end(), block->losses.begin(), block->losses.end());
      total_ms_ += std::accumulate(block->iteration_ms.begin(), block->iteration_ms.end(), 0.0);
      iterations_ += length;
      iterations -= length;
      progress.update(share, detail_);
    }
    return {};
  }

  Status evaluate(std::int64_t iteration, Trained& trained) {
    const auto held_out =
        engine_.evaluate(held_out_, static_cast<std::int32_t>(options_.evaluation_batches));
    if (!held_out) return fail(held_out.error());
    const double train_loss = losses_.empty()
                                  ? std::nan("")
                                  : std::accumulate(losses_.begin(), losses_.end(), 0.0) /
                                        static_cast<double>(losses_.size());
    trained.curve.push_back(
        {iteration, iteration * engine_.config().workload.global_batch,
         std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count(),
         train_loss, *held_out});
    detail_ = fmt::format("AUC {:.4f}", held_out->auc);
    return {};
  }

  const TrainOptions& options_;
  engine::Engine& engine_;
  engine::RunRecorder& recorder_;
  const engine::BatchSource& held_out_;
  Interrupt& interrupt_;
  Clock::time_point start_ = Clock::now();
  std::vector<double> losses_;  ///< since the last evaluation
  double total_ms_ = 0;
  std::int64_t iterations_ = 0;
  std::string detail_;
};

std::vector<storage::CurvePoint> curve_points(const std::vector<CurveRow>& curve) {
  std::vector<storage::CurvePoint> points;
  for (const CurveRow& row : curve) {
    points.push_back(
        {"train", row.iteration, row.samples, row.time_ns, row.train_loss, std::nan("")});
    points.push_back(
        {"eval", row.iteration, row.samples, row.time_ns, row.held_out.loss, row.held_out.auc});
  }
  return points;
}

void print_training(const Trained& done) {
  const Console console = Console::of_stdout();
  fmt::print("{}  layout {}{}\n{}\n\n", console.bold(mode_word(done.mode)), done.layout.name,
             done.interrupted ? "  (stopped early)" : "", run_line(done.options.run, done.inputs));
  TextTable table(
      {{"iteration"}, {"samples"}, {"train loss"}, {"held-out loss"}, {"held-out AUC"}});
  for (const CurveRow& row : done.curve) {
    table.row({grouped(row.iteration), grouped(row.samples), fmt::format("{:.5f}", row.train_loss),
               fmt::format("{:.5f}", row.held_out.loss), fmt::format("{:.5f}", row.held_out.auc)});
  }
  fmt::print("{}\n{} ms an iteration; {} held-out samples an evaluation", table.text(),
             ms_text(done.iteration_ms), grouped(done.curve.back().held_out.samples));
  if (done.ceiling)
    fmt::print("; no model reaches an AUC above {:.4f} on this task", *done.ceiling);
  fmt::print(".\n");
  if (done.distinct_batches < done.curve.back().iteration) {
    fmt::print("Batches repeat after {} iterations.\n", done.distinct_batches);
  }
  fmt::print("\nSession: {} (run {})\n", done.session, done.run);
}

void print_training_json(const Trained& done) {
  nlohmann::ordered_json json = {{"mode", to_string(done.mode)},
                                 {"executor", "engine"},
                                 {"workload", done.inputs.workload.name},
                                 {"rows_cap", done.inputs.workload.rows_cap},
                                 {"topology", done.inputs.topology.name},
                                 {"layout", done.layout.name},
                                 {"iteration_ms", done.iteration_ms},
                                 {"distinct_batches", done.distinct_batches},
                                 {"ceiling_auc", nullptr},
                                 {"curve", nlohmann::ordered_json::array()},
                                 {"interrupted", done.interrupted},
                                 {"session", done.session},
                                 {"run", done.run}};
  if (done.ceiling) json["ceiling_auc"] = *done.ceiling;
  for (const CurveRow& row : done.curve) {
    json["curve"].push_back({{"iteration", row.iteration},
                             {"samples", row.samples},
                             {"train_loss", row.train_loss},
                             {"loss", row.held_out.loss},
                             {"auc", row.held_out.auc}});
  }
  fmt::print("{}\n", json.dump(2));
}

RunSummary training_summary(const Trained& trained, const Status& status) {
  RunSummary summary;
  summary.iteration_ms = trained.iteration_ms;
  if (trained.iteration_ms > 0) {
    summary.samples_per_s =
        static_cast<double>(trained.inputs.workload.global_batch) / trained.iteration_ms * 1e3;
  }
  summary.complete = status && !trained.interrupted;
  summary.message = !status               ? to_string(status.error())
                    : trained.interrupted ? "stopped by the user"
                                          : "";
  return summary;
}

Status require_dense_part(const Workload& workload) {
  if (workload.dense.interaction != Interaction::none) return {};
  return fail({ErrorKind::usage, "the workload has no dense part, so there is nothing to learn",
               "workload " + workload.name, "bottom MLP, interaction and top MLP",
               "Choose a model with a dense part, such as dcnv2 or criteo-kaggle"});
}

}  // namespace

Status train(const TrainOptions& options) {
  Interrupt interrupt;
  const Result<Inputs> inputs = load_inputs(options.inputs);
  if (!inputs) return fail(inputs.error());
  if (Status dense = require_dense_part(inputs->workload); !dense) return dense;
  const Result<Layout> layout = load_layout(options.layout, *inputs);
  if (!layout) return fail(layout.error());
  const std::int64_t iterations =
      options.run.iterations > 0 ? options.run.iterations : kDefaultIterations;
  const auto held_out = engine::make_batch_source(
      inputs->workload, options.run.seed, options.run.range_policy, engine::Split::evaluation);
  if (!held_out) return fail(held_out.error());
  Result<std::unique_ptr<OpenSession>> session = OpenSession::open(options.session, "train");
  if (!session) return fail(session.error());
  auto engine = make_training_engine(options, *inputs, *layout, iterations);
  if (!engine) return fail(engine.error());
  auto recorder = engine::RunRecorder::begin(
      (*session)->writer(), run_info(options.run, *inputs, *layout, **engine), **engine);
  if (!recorder) return fail(recorder.error());
  Trained trained{options, *inputs, *layout};
  trained.mode = (*engine)->mode();
  trained.distinct_batches = (*engine)->config().batches;
  trained.session = (*session)->path();
  trained.run = (*recorder)->run();
  const Status status =
      Trainer(options, **engine, **recorder, **held_out, interrupt).run(iterations, trained);
  const Status ended = (*recorder)->end(training_summary(trained, status));
  const Status saved =
      storage::save_curve((*session)->session(), trained.run, curve_points(trained.curve));
  recorder->reset();
  const Status closed = (*session)->close();
  for (const Status& step : {status, ended, saved, closed}) {
    if (!step) return step;
  }
  if (trained.curve.empty()) {
    return fail({ErrorKind::runtime, "stopped before the first evaluation", "train", "", ""});
  }
  if (!is_recorded(inputs->workload)) {
    if (const auto ceiling =
            engine::ceiling_auc(inputs->workload, options.run.seed, kCeilingSamples)) {
      trained.ceiling = *ceiling;
    }
  }
  options.json ? print_training_json(trained) : print_training(trained);
  return {};
}

}  // namespace shardscope::app
