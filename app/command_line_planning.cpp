// Options of the commands that predict: nothing runs.

#include <fmt/format.h>

#include "app/command_line_parts.hpp"
#include "app/commands/commands.hpp"
#include "app/values.hpp"

namespace shardscope::app {
namespace {

constexpr const char* kPlanners =
    "Planners: optimize (ours, with a proven bound); the baselines round_robin, table_wise, "
    "uniform, table_row_wise, data_parallel; the published heuristics dim, size, lookup, "
    "size_lookup; mlperf, mlperf-hier, embark, embark-hier (HugeCTR's) and torchrec.\n";

void add_how(CLI::App& command, PredictHow& how) {
  command
      .add_option("--executor", into(how.executor, parse_executor),
                  "Who will train: engine, hugectr or torchrec; fixes schedule, memory and rules")
      ->type_name("NAME")
      ->default_str("engine");
  command
      .add_option("--schedule", into(how.schedule, parse_schedule),
                  "serial, intra or inter; default the executor's usual one")
      ->type_name("serial|intra|inter");
}

/// Codecs that are looked at, at these bandwidths.
void add_planned_codecs(CLI::App& command, CodecRequest& request, std::string& wire,
                        const char* what) {
  command
      .add_option("--codec", request.codec,
                  fmt::format("{}: the best of those that keep a bound for each table and hop, "
                              "measured here first (executor engine)",
                              what))
      ->type_name("NAME|auto");
  add_codec_terms(command, request, "Codec that gradients may take");
  command
      .add_option("--wire", wire,
                  "For links of this bandwidth (a second number: between domains) instead of the "
                  "topology's")
      ->type_name("GB/s[,GB/s]");
}

}  // namespace

void add_plan(CLI::App& app, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "plan", "Find a layout: predicted time, memory, and how far from the best it can be");
  const auto options = choose<PlanOptions>(command, chosen, plan_command);
  add_inputs(command, options->inputs);
  add_no_dense(command, options->inputs.no_dense);
  add_calibration(command, options->inputs.calibration);
  add_how(command, options->how);
  command.add_option("--planner", options->planner, "Who plans; see below")
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option("--set", options->settings,
                  "A planner's setting; may be repeated. optimize: effort (1); embark*, mlperf*: "
                  "mem_comm_bw_ratio, mem_comm_work_ratio, dp_threshold, dense_threshold, "
                  "dp_threshold_gb, memory_cap_gib, column_wise, optimizer; torchrec: hbm_cap_gib, "
                  "reserve, "
                  "hbm_bw_gib, intra_bw_gib, inter_bw_gib, balanced")
      ->type_name("KEY=VALUE");
  command
      .add_option("--pin", options->pins,
                  "TABLE=DP, RB or UB fixes its cluster; TABLE=RANK[,RANK...] its ranks; may be "
                  "repeated")
      ->type_name("TABLE=WHAT");
  command.add_option("--forbid", options->forbidden, "A rank that owns nothing; may be repeated")
      ->type_name("RANK");
  command
      .add_option("--together", options->together,
                  "Tables that stay whole on one rank; may be repeated")
      ->type_name("TABLE,TABLE");
  command
      .add_option("--time-limit",
                  into(options->time_limit_s,
                       [](const auto& text) { return parse_seconds(text, "--time-limit"); }),
                  "Stop with the best so far after this time (500ms, 10s)")
      ->type_name("TIME");
  add_planned_codecs(command, options->codecs, options->wire,
                     "Let the plan send vectors through this codec where it pays, or auto");
  add_seed(command, options->seed, "the search");
  command.add_option("--out", options->out, "Write the layout to this file")->type_name("FILE");
  add_json(command, options->json);
  command.footer(std::string(kPlanners) +
                 "Example: shardscope plan --workload dcnv2 --topology dgx-h100:2 --executor "
                 "hugectr --out plan.json\n"
                 "Ctrl-C keeps the best so far. Exit code 2 where nothing fits, or where the "
                 "planner's layout breaks a rule of the executor.");
}

void add_predict(CLI::App& app, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "predict", "Predict a layout's iteration: time with its interval, stages, links, trust");
  const auto options = choose<PredictCommandOptions>(command, chosen, predict_command);
  options->layout = "table_row_wise";
  add_inputs(command, options->inputs);
  add_no_dense(command, options->inputs.no_dense);
  add_calibration(command, options->inputs.calibration);
  add_layout(command, options->layout);
  add_how(command, options->how);
  add_json(command, options->json);
  command.footer(
      "Example: shardscope predict --workload dcnv2 --topology dgx-h100:2 --layout embark-hier "
      "--executor hugectr\n"
      "docs/planner.md has the formulas, the constants' origins and the validation.");
}

void add_explain(CLI::App& app, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "explain", "Say what a layout's time goes to, what binds, and which edits would help most");
  const auto options = choose<ExplainOptions>(command, chosen, explain_command);
  options->layout = "table_row_wise";
  add_inputs(command, options->inputs);
  add_no_dense(command, options->inputs.no_dense);
  add_calibration(command, options->inputs.calibration);
  add_layout(command, options->layout);
  add_how(command, options->how);
  add_planned_codecs(command, options->codecs, options->wire,
                     "Show what this codec would do for every exchange, or auto");
  command
      .add_option("--table", options->table,
                  "Show this table as DP, RB and UB; default the costliest of the critical rank")
      ->type_name("TABLE");
  add_json(command, options->json);
  command.footer(
      "Example: shardscope explain --workload dcnv2 --topology dgx-h100:2 --layout table_row_wise "
      "--table cat_20");
}

void add_sweep(CLI::App& app, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "sweep", "Plan over nodes, batches, planners, optimizers and dtypes: a table, a CSV");
  const auto options = choose<SweepOptions>(command, chosen, sweep_command);
  add_inputs(command, options->inputs);
  command.remove_option(command.get_option("--batch"));
  add_no_dense(command, options->inputs.no_dense);
  add_how(command, options->how);
  const auto axis = [&](const char* name, auto& values, const char* help, const char* type) {
    return command.add_option(name, values, help)->delimiter(',')->type_name(type);
  };
  axis("--nodes", options->nodes, "Numbers of hosts; default the topology's", "N,N")
      ->check(positive());
  axis("--batch", options->batches, "Global batches; default the model's", "N,N")
      ->check(positive());
  axis("--planner", options->planners, "Who plans; default optimize", "NAME,NAME");
  axis("--optimizer", options->optimizers,
       "Of every table: sgd, adagrad, rowwise_adagrad, adam; default the model's", "NAME,NAME");
  axis("--dtype", options->dtypes, "Of weights: fp32, fp16, bf16; default the model's",
       "NAME,NAME");
  axis("--wire-dtype", options->wires,
       "Of vectors and gradients on the wire: fp32, fp16, bf16; default the model's", "NAME,NAME");
  command.add_option("--csv", options->csv, "Write the rows to this file as they are computed")
      ->type_name("FILE");
  add_json(command, options->json);
  command.footer(std::string(kPlanners) +
                 "Example: shardscope sweep --workload dcnv2 --topology dgx-h100 --nodes 1,2,4,8 "
                 "--planner optimize,embark-hier --executor hugectr --csv sweep.csv\n"
                 "Ctrl-C keeps the combinations computed so far (exit code 0; 3 if there is none "
                 "yet).");
}

void add_diff(CLI::App& app, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "diff", "Compare two layouts on paper: what moves, how many bytes, predicted gain");
  const auto options = choose<DiffOptions>(command, chosen, diff_command);
  command
      .add_option("layouts,--layout", options->layouts, "A and B: planners' names or JSON files")
      ->type_name("NAME|FILE")
      ->expected(2)
      ->required();
  add_inputs(command, options->inputs);
  add_no_dense(command, options->inputs.no_dense);
  add_calibration(command, options->inputs.calibration);
  add_how(command, options->how);
  add_json(command, options->json);
  command.footer(
      "Example: shardscope diff table_row_wise optimize --workload dcnv2 --topology dgx-h100:2\n"
      "'compare' runs both for real.");
}

void add_calibration(CLI::App& command, std::string& calibration) {
  command
      .add_option("--calibration", calibration,
                  "Constants of the machine as 'shardscope calibrate' measured them")
      ->type_name("FILE");
}

void add_calibrate(CLI::App& app, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "calibrate", "Measure this machine's constants, or fit them to traces and nccl-tests");
  const auto options = choose<CalibrateOptions>(command, chosen, calibrate_command);
  command.add_option("files", options->files, "With --from: traces or nccl-tests' output")
      ->type_name("FILE");
  command
      .add_option("--from", options->from,
                  "Measure nothing; fit what these files tell: kineto, nsys or nccl-tests")
      ->type_name("KIND");
  command.add_option("--backend", options->backend, "Device that is measured")
      ->type_name("cpu|cuda")
      ->capture_default_str();
  command.add_option("--comm", options->comm, "Communicator that is measured")
      ->type_name("threads|nccl")
      ->capture_default_str();
  command
      .add_option("--topology", options->topology,
                  "Machine that is measured, or that the files are of; default host-cpu")
      ->type_name("NAME|FILE");
  command.add_option("--ranks", options->ranks, "Ranks that take part; default 2")
      ->check(positive())
      ->type_name("N");
  command
      .add_option("--only", options->only,
                  "Only this: memory, gather, reduce, update, input, gemm or exchange; may be "
                  "repeated")
      ->type_name("PART");
  command
      .add_option(
          "--budget",
          into(options->budget_s, [](const auto& text) { return parse_seconds(text, "--budget"); }),
          "Measuring time; default 30s")
      ->type_name("TIME");
  add_seed(command, options->seed, "ids and weights");
  command
      .add_option("--kernel-map", options->kernel_map,
                  "Rules that give kernels of a trace to stages, before the built-in ones")
      ->type_name("FILE");
  command
      .add_option("--out", options->out,
                  "Calibration file to write; default ./calibration.json. Other commands take it "
                  "with --calibration")
      ->type_name("FILE");
  command
      .add_option("--topology-out", options->topology_out,
                  "Also write the topology with the measured constants in it")
      ->type_name("FILE");
  add_json(command, options->json);
  command.footer(
      "Example: shardscope calibrate --only exchange --out mine.json\n"
      "Ctrl-C keeps what was measured. docs/calibration.md says what is measured and how it is "
      "fitted.");
}

}  // namespace shardscope::app
