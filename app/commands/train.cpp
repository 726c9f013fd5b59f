#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/console_watch.hpp"
#include "app/jobs/train_job.hpp"
#include "app/run_setup.hpp"
#include "app/text_table.hpp"
#include "engine/codec/codec_kind.hpp"
#include "planner/codec_choice.hpp"

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
    fmt::print("Batches repeat after {} iterations.\n", done.distinct_batches);
  }
  fmt::print("\nSession: {} (run {})\n", session, done.run);
}

/// The layout with the codec that was asked for on every table's hop between fast domains.
Result<Layout> coded_layout(const TrainOptions& options, const Inputs& inputs) {
  Result<Layout> layout = load_layout(options.layout, inputs);
  if (!layout || options.codec.empty()) return layout;
  CodecSlot forward{options.codec, options.bound, !options.absolute};
  const auto spec = engine::codec_spec(forward);
  if (!spec) return fail(spec.error());
  if (!engine::holds_bound(spec->kind)) forward.bound = 0;
  const CodecSlot backward{options.backward_codec};
  if (const auto known = engine::codec_spec(backward); !known) return fail(known.error());
  if (inputs.topology.domains() < 2) {
    return fail({ErrorKind::usage, "no vectors cross between fast domains on this machine",
                 "topology " + inputs.topology.name, "two fast domains or more",
                 "Choose a topology of several hosts, for example --topology host-cpu:2x1"});
  }
  return with_one_codec(*layout, forward, backward);
}

}  // namespace

Status train(const TrainOptions& options) {
  ConsoleWatch watch("train");
  const Result<Inputs> inputs = load_inputs(options.inputs);
  if (!inputs) return fail(inputs.error());
  const Result<Layout> layout = coded_layout(options, *inputs);
  if (!layout) return fail(layout.error());
  Result<std::unique_ptr<OpenSession>> session = OpenSession::open(options.session, "train");
  if (!session) return fail(session.error());
  const TrainJob job{options.run, *inputs, *layout, options.evaluate_every,
                     options.evaluation_batches};
  const Result<Trained> done = run_training(job, **session, watch);
  watch.finish();
  const Status closed = (*session)->close();
  if (!done) return fail(done.error());
  if (!closed) return closed;
  if (options.json) {
    nlohmann::ordered_json json = training_json(job, *done);
    json["session"] = (*session)->path();
    fmt::print("{}\n", json.dump(2));
  } else {
    print_training(job, *done, (*session)->path());
  }
  return {};
}

}  // namespace shardscope::app
