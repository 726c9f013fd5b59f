#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "app/coded_layout.hpp"
#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/console_watch.hpp"
#include "app/inputs.hpp"
#include "app/jobs/train_job.hpp"
#include "app/run_setup.hpp"
#include "app/text_table.hpp"

namespace shardscope::app {
namespace {

void print_training(const TrainJob& job, const Trained& done, const std::string& session) {
  const Console console = Console::of_stdout();
  fmt::print("{}  layout {}{}\n{}\n\n", console.bold(mode_word(done.mode)), job.layout.name,
             done.interrupted ? "  (stopped early)" : "", run_line(job.run, job.inputs));
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
    fmt::print("Batches repeat after {}.\n", counted(done.distinct_batches, "iteration"));
  }
  fmt::print("\nSession: {} (run {})\n", session, done.run);
}

/// A line an evaluation; figures that were not computed are empty.
Status write_curve(const std::string& path, const Trained& done) {
  if (path.empty()) return {};
  std::string csv = "iteration,samples,train_loss,loss,auc\n";
  const auto figure = [](double value) {
    return std::isnan(value) ? std::string() : fmt::format("{:.9g}", value);
  };
  for (const CurveRow& row : done.curve) {
    csv += fmt::format("{},{},{},{},{}\n", row.iteration, row.samples, figure(row.train_loss),
                       figure(row.held_out.loss), figure(row.held_out.auc));
  }
  return write_text_file(path, csv, "the curve");
}

}  // namespace

Status train(const TrainOptions& options) {
  ConsoleWatch watch("train");
  const Result<Inputs> inputs = load_inputs(options.inputs);
  if (!inputs) return fail(inputs.error());
  Result<Layout> layout = load_layout(options.layout, *inputs);
  if (!layout) return fail(layout.error());
  const Result<CodedLayout> coded =
      coded_layout(std::move(*layout), *inputs, options.codecs, options.run);
  if (!coded) return fail(coded.error());
  Result<std::unique_ptr<OpenSession>> session = OpenSession::open(options.session, "train");
  if (!session) return fail(session.error());
  const TrainJob job{options.run, *inputs, coded->layout, options.evaluate_every,
                     options.evaluation_batches};
  const Result<Trained> done = run_training(job, **session, watch);
  watch.finish();
  const Status closed = (*session)->close();
  if (!done) return fail(done.error());
  if (!closed) return closed;
  if (Status written = write_curve(options.curve, *done); !written) return written;
  if (options.json) {
    nlohmann::ordered_json json = training_json(job, *done);
    json["codecs"] = choices_json(*inputs, *coded);
    json["session"] = (*session)->path();
    fmt::print("{}\n", json.dump(2));
  } else {
    print_choices(*inputs, *coded);
    print_training(job, *done, (*session)->path());
  }
  return {};
}

}  // namespace shardscope::app
