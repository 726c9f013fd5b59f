#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "app/coded_layout.hpp"
#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/console_watch.hpp"
#include "app/jobs/compare_job.hpp"
#include "app/report.hpp"
#include "app/run_setup.hpp"
#include "app/text_table.hpp"

namespace shardscope::app {
namespace {

std::string ratio_line(const RatioResult& result) {
  return fmt::format("B/A = {:.3f}  ({:.3f} to {:.3f}, {:.0f} %, +-{:.2f} %)",
                     result.ratio.estimate, result.ratio.low, result.ratio.high,
                     result.ratio.confidence * 100, result.ratio.half_width() * 100);
}

std::string reason_text(const CompareOptions& options, const RatioResult& result) {
  switch (result.reason) {
    case StopReason::target:
      return "the interval is as narrow as asked";
    case StopReason::interrupted:
      return "stopped early; the interval is widened for it";
    case StopReason::budget:
      break;
  }
  return options.target > 0 && !result.target_reached
             ? "the time was used up before the interval was as narrow as asked"
             : "the time was used up";
}

void print_side(const char* name, const Layout& layout, const engine::SideOutcome& side) {
  fmt::print("{}  {:<24}  {:>9} ms/iteration  {:>12} samples/s  critical path {} ms\n", name,
             layout.name, ms_text(side.iteration_ms),
             grouped(static_cast<long long>(side.samples_per_s)), ms_text(side.critical_path_ms));
}

void print_comparison(const CompareOptions& options, const CompareJob& job, const Compared& done,
                      const std::string& session) {
  const Console console = Console::of_stdout();
  const engine::ComparisonOutcome& outcome = done.outcome;
  fmt::print("{}  {}\n\n", console.bold(mode_word(done.mode)), run_line(options.run, job.inputs));
  print_side("A", job.a, outcome.a);
  print_side("B", job.b, outcome.b);
  fmt::print("\n{}\n", console.bold(ratio_line(*outcome.ratio)));
  fmt::print("{}", medians_apart_text(outcome));
  fmt::print("{} of blocks of {}, {}; {}.\n", counted(outcome.ratio->pairs, "pair"),
             counted(outcome.block_iterations, "iteration"), counted(outcome.ratio->looks, "look"),
             reason_text(options, *outcome.ratio));
  fmt::print("{} left out; {}.\n", counted(outcome.dropped_iterations, "settling iteration"),
             outcome.resident && outcome.trades == 0 ? "both layouts stayed in memory"
             : outcome.resident
                 ? fmt::format("the layouts traded engines {}, {} in all, left out",
                               counted(outcome.trades, "time"), duration_text(outcome.swap_s))
                 : fmt::format("layouts were swapped between blocks, {} in all, left out",
                               duration_text(outcome.swap_s)));
  fmt::print("\n{}\n\n{}\n{}\nSession: {}\n", done.sentence,
             stage_difference_text(outcome.a.stages, outcome.b.stages),
             rank_difference_text(outcome.a.stages, outcome.b.stages), session);
}

}  // namespace

Status compare(const CompareOptions& options) {
  ConsoleWatch watch("compare");
  const Result<Inputs> inputs = load_inputs(options.inputs);
  if (!inputs) return fail(inputs.error());
  const Result<Layout> a = load_layout(options.layouts[0], *inputs);
  if (!a) return fail(a.error());
  Result<Layout> b = load_layout(options.layouts[1], *inputs);
  if (!b) return fail(b.error());
  const Result<CodedLayout> coded =
      coded_layout(std::move(*b), *inputs, options.codecs, options.run);
  if (!coded) return fail(coded.error());
  Result<std::unique_ptr<OpenSession>> session = OpenSession::open(options.session, "compare");
  if (!session) return fail(session.error());
  const CompareJob job{options.run, options.target, *inputs, *a, coded->layout};
  const Result<Compared> done = run_comparison(job, **session, watch);
  watch.finish();
  const Status closed = (*session)->close();
  if (!done) return fail(done.error());
  if (!closed) return closed;
  if (options.json) {
    nlohmann::ordered_json json = comparison_json(job, *done);
    json["codecs"] = choices_json(*inputs, *coded);
    json["session"] = (*session)->path();
    fmt::print("{}\n", json.dump(2));
  } else {
    print_choices(*inputs, *coded);
    print_comparison(options, job, *done, (*session)->path());
  }
  return {};
}

}  // namespace shardscope::app
