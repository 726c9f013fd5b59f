#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/codec_report.hpp"
#include "app/codec_tuning.hpp"
#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/fit_report.hpp"
#include "app/inputs.hpp"
#include "app/interrupt.hpp"
#include "app/plan_request.hpp"
#include "app/planning_codecs.hpp"
#include "app/prediction_report.hpp"
#include "app/progress.hpp"
#include "app/recorded_stats.hpp"
#include "app/report.hpp"
#include "app/run_setup.hpp"
#include "app/text_table.hpp"
#include "layout/json.hpp"
#include "planner/layout_warnings.hpp"

namespace shardscope::app {
namespace {

/// Everything the report needs.
struct PlanReport {
  const Inputs& inputs;
  const PredictOptions& how;
  const PlannedLayout& plan;
  const Prediction& prediction;
  const std::vector<Violation>& warnings;
  const std::vector<CodecAccount>& codecs;
  std::string out;
};

std::string gap_text(const PlannedLayout& plan, const PredictOptions& how) {
  if (plan.lower_bound_s <= 0) return "no bound: no form of these tables is legal";
  return fmt::format(
      "{} ms: no valid layout {} is predicted to be faster; this one is within {:.2g} % of it",
      ms_text(plan.lower_bound_s * 1e3),
      how.allowed_codecs.any() ? "with any of the codecs allowed" : "with plain wires",
      plan.gap * 100);
}

void print_plan(const PlanReport& report) {
  const Console console = Console::of_stdout();
  const PlannedLayout& plan = report.plan;
  fmt::print("{}  planned by {} in {}{}\n{}\n\n", console.bold(mode_word(Mode::simulated)),
             plan.planner, duration_text(plan.seconds),
             plan.cancelled ? " (stopped early; the best so far)" : "",
             setting_line(report.inputs, report.how));
  fmt::print("{}{}bound          {}\n{}",
             reference_text(ratio_to_reference(report.inputs, plan.layout, report.how)),
             prediction_text(report.inputs, report.prediction), gap_text(plan, report.how),
             layout_text(report.inputs, plan.layout, report.how.executor));
  if (!plan.cost_unit.empty())
    fmt::print("own cost       {:.6g} {} (what {} minimises)\n", plan.cost, plan.cost_unit,
               plan.planner);
  fmt::print("\n{}{}", warnings_text(report.warnings),
             stage_table_text(stage_profile_of(report.prediction, report.inputs.topology.ranks())));
  if (const std::string codecs = codec_accounts_text(report.inputs, report.codecs); !codecs.empty())
    fmt::print("\n{}", codecs);
  if (!report.out.empty()) {
    fmt::print("\nLayout: {}\n", report.out);
  } else {
    fmt::print("\nKeep the layout with --out FILE.\n");
  }
}

void print_plan_json(const PlanReport& report) {
  const PlannedLayout& plan = report.plan;
  nlohmann::ordered_json json = {{"planner", plan.planner}};
  json.update(prediction_json(report.inputs, plan.layout, report.how, report.prediction));
  json["layout"] = nlohmann::ordered_json::parse(to_json(plan.layout));
  json["ratio"] = reference_json(ratio_to_reference(report.inputs, plan.layout, report.how));
  json["lower_bound_ms"] = plan.lower_bound_s * 1e3;
  json["gap"] = plan.gap;
  json["seconds"] = plan.seconds;
  json["cancelled"] = plan.cancelled;
  json["warnings"] = warnings_json(report.warnings, report.inputs.workload);
  if (report.how.allowed_codecs.any())
    json["codecs"] = codec_accounts_json(report.inputs, report.codecs);
  if (!plan.cost_unit.empty()) {
    json["cost"] = plan.cost;
    json["cost_unit"] = plan.cost_unit;
  }
  if (!report.out.empty()) json["out"] = report.out;
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

Status plan_command(const PlanOptions& options) {
  Interrupt interrupt;
  Result<Inputs> inputs = load_inputs(options.inputs);
  if (!inputs) return fail(inputs.error());
  auto topology = topology_at_wire(std::move(inputs->topology), options.wire);
  if (!topology) return fail(topology.error());
  inputs->topology = std::move(*topology);
  PredictOptions how = measured_options(*inputs, options.how);
  if (Status allowed = allow_codecs(*inputs, options.codecs, options.seed, how); !allowed)
    return allowed;
  Progress progress("plan");
  const Result<PlannedLayout> plan =
      plan_layout(options, *inputs, how, [&](const OptimizeProgress& now) {
        progress.update(now.share, now.best_s > 0 ? fmt::format("{}: {} ms", now.phase,
                                                                ms_text(now.best_s * 1e3))
                                                  : now.phase);
        return !interrupt.requested();
      });
  progress.finish();
  if (!plan) return report_misfit(*inputs, how, nullptr, options.json, plan.error());
  if (Status saved = save_layout_file(options.out, plan->layout); !saved) return saved;
  const Result<Prediction> prediction =
      predict(inputs->workload, inputs->topology, plan->layout, how);
  if (!prediction) return fail(prediction.error());
  const Status valid = require_valid(*inputs, plan->layout, how.executor);
  std::vector<Violation> warnings;
  if (valid) warnings = layout_warnings(inputs->workload, inputs->topology, plan->layout, how);
  std::vector<CodecAccount> codecs;
  if (how.allowed_codecs.any())
    codecs = codec_accounts(PlanContext(inputs->workload, inputs->topology, how), plan->layout);
  const PlanReport report{*inputs, how, *plan, *prediction, warnings, codecs, options.out};
  options.json ? print_plan_json(report) : print_plan(report);
  // The layout is printed all the same: a published heuristic may not fit the machine.
  if (!valid && !options.json) {
    fmt::print("\n");
    return report_misfit(*inputs, how, &plan->layout, false, valid.error());
  }
  return valid;
}

}  // namespace shardscope::app
