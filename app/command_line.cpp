#include "app/command_line.hpp"

#include <sstream>
#include <string>

#include "app/command_line_parts.hpp"
#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/options.hpp"
#include "app/service/serve.hpp"
#include "app/service/worker.hpp"
#include "app/values.hpp"

namespace shardscope::app {
namespace {

constexpr const char* kFormats = "docs/formats.md describes the files.";

/// Help of at most 100 columns: descriptions are broken between words.
class WrappingFormatter : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(CLI::Formatter::make_option_desc(option));
  }
  std::string make_subcommand(const CLI::App* command) const override {
    std::stringstream out;
    CLI::detail::format_help(out, command->get_display_name(true),
                             wrapped(command->get_description()), column_width_);
    return out.str();
  }

 private:
  [[nodiscard]] std::string wrapped(const std::string& text) const {
    constexpr std::size_t kColumns = 100;
    const std::size_t width = kColumns - column_width_;
    std::string lines;
    std::size_t column = 0;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      if (column > 0 && column + 1 + word.size() > width) {
        lines += '\n';
        column = 0;
      }
      if (column > 0) lines += ' ';
      lines += word;
      column += word.size() + (column > 0 ? 1 : 0);
    }
    return lines;
  }
};

void add_session(CLI::App& command, std::string& session) {
  command
      .add_option("--session", session,
                  "Session file to write; default ./COMMAND-DATE-TIME.shardscope")
      ->type_name("FILE");
}

void add_run(CLI::App& command, RunOptions& options) {
  command.add_option("--backend", options.backend, "Device that runs the ranks")
      ->type_name("cpu|cuda|sim")
      ->capture_default_str();
  command
      .add_option("--comm", options.comm,
                  "threads: ranks are threads; loopback: ranks one after another, wires modelled "
                  "(all there is on one GPU); nccl: a GPU a rank. GPUs: loopback if not given")
      ->type_name("threads|loopback|nccl")
      ->capture_default_str();
  command.parse_complete_callback([&command, &options] {
    if (options.backend == "cuda" && command.count("--comm") == 0) options.comm = "loopback";
  });
  command
      .add_option("--wire", options.wire,
                  "Bandwidth of a rank, for both link classes or intra,inter; delays every byte")
      ->type_name("GB/s[,GB/s]");
  command
      .add_option("--dense-math", options.dense_math,
                  "GPUs: products of the dense part by cuBLAS in tf32 or bf16, or by the host")
      ->type_name("tf32|bf16|host")
      ->capture_default_str();
  command.add_flag("--graphs", options.graphs,
                   "GPUs: launch iterations as CUDA graphs, cut where exchanges vary");
  command
      .add_option("--schedule", into(options.schedule, parse_schedule),
                  "serial; intra: overlap inside an iteration; inter: and with the next batch")
      ->type_name("serial|intra|inter")
      ->default_str("serial");
  command.add_option("--iterations", options.iterations, "Iterations to measure")
      ->check(positive())
      ->type_name("N");
  add_seed(command, options.seed, "ids, initial weights and block order");
  add_range_policy(command, options.range_policy);
}

void add_budget(CLI::App& command, double& budget_s, const char* help) {
  command
      .add_option("--budget",
                  into(budget_s, [](const auto& text) { return parse_seconds(text, "--budget"); }),
                  help)
      ->type_name("TIME");
}

void add_models(CLI::App& app, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand("models", "List the built-in models, or show one");
  const auto options = choose<ModelsOptions>(command, chosen, models);
  command.add_option("name", options->name, "Model to show; with --json as a workload file");
  add_json(command, options->json);
  command.footer("Example: shardscope models dcnv2 --json > my-model.json");
}

void add_topologies(CLI::App& app, Chosen& chosen) {
  CLI::App& command =
      *app.add_subcommand("topologies", "List the built-in machines, or show one with its origins");
  const auto options = choose<TopologiesOptions>(command, chosen, topologies);
  command.add_option("name", options->name,
                     "NAME[:NODES[xGPUS]] to show; with --json as a topology file");
  add_json(command, options->json);
  command.footer("Example: shardscope topologies dgx-h100:16");
}

void add_stats(CLI::App& app, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "stats", "Measure the id streams: bag lengths, distinct rows, hot rows, working set");
  const auto options = choose<StatsOptions>(command, chosen, stats);
  add_inputs(command, options->inputs);
  command.add_option("--iterations", options->iterations, "Global batches to look at")
      ->check(positive())
      ->type_name("N")
      ->capture_default_str();
  add_seed(command, options->seed, "the ids");
  add_range_policy(command, options->range_policy);
  command.add_flag("--compression", options->compression,
                   "What each codec makes of each table's vectors, instead");
  add_session(command, options->session);
  add_json(command, options->json);
  command.footer("Example: shardscope stats --workload dcnv2 --rows-cap 100000 --batch 2048");
}

void add_check(CLI::App& app, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "check", "Check a layout against a model and a machine: every rule broken, with its cure");
  const auto options = choose<CheckOptions>(command, chosen, check_layout);
  add_inputs(command, options->inputs);
  add_no_dense(command, options->inputs.no_dense);
  options->layout = "table_row_wise";
  add_layout(command, options->layout);
  command
      .add_option("--executor", into(options->executor, parse_executor),
                  "Whose rules and memory: engine, hugectr or torchrec")
      ->type_name("NAME")
      ->default_str("engine");
  command
      .add_option("--save", options->save,
                  "Write the layout to this file (a baseline as a start for editing)")
      ->type_name("FILE");
  add_json(command, options->json);
  command.footer(
      "Example: shardscope check --workload dcnv2 --topology dgx-h100:2 --layout table_row_wise "
      "--save my-layout.json\n"
      "Exit code 2 where the layout breaks a rule. " +
      std::string(kFormats));
}

void add_profile(CLI::App& app, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "profile",
      "Run a layout (--backend sim: simulate it) and show where an iteration's time goes");
  const auto options = choose<ProfileOptions>(command, chosen, profile);
  add_inputs(command, options->inputs);
  add_calibration(command, options->inputs.calibration);
  add_no_dense(command, options->inputs.no_dense);
  options->layout = "table_row_wise";
  add_layout(command, options->layout);
  add_run(command, options->run);
  command.get_option("--schedule")->each([options = options.get()](const std::string&) {
    options->schedule_given = true;
  });
  command
      .add_option("--executor", into(options->executor, parse_executor),
                  "--backend sim: whose rules, buffers and schedule are simulated: engine, hugectr "
                  "or torchrec")
      ->type_name("NAME")
      ->default_str("engine");
  add_budget(command, options->run.budget_s,
             "Time to measure (60s, 2min) where --iterations is not given; default 10s");
  add_codec_request(command, options->codecs, "vectors");
  add_session(command, options->session);
  command.add_flag("--no-gpu-trace", options->no_gpu_trace,
                   "cuda: do not record the GPU's activity behind the measurement");
  command.add_option("--trace-into", options->trace_into)->group("");
  add_json(command, options->json);
  command.footer(
      "Example: shardscope profile --workload dcnv2 --no-dense --rows-cap 100000 --batch 2048 "
      "--topology host-cpu:1x2 --session run.shardscope\n"
      "Ctrl-C keeps what was measured (exit code 0; 3 if nothing was yet).");
}

void add_compare(CLI::App& app, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "compare", "Run two layouts in turns: which is faster, by how much, how sure, and why");
  const auto options = choose<CompareOptions>(command, chosen, compare);
  command
      .add_option("layouts,--layout", options->layouts,
                  "A and B: baseline names or JSON files (see check --help)")
      ->type_name("NAME|FILE")
      ->expected(2)
      ->required();
  add_inputs(command, options->inputs);
  add_no_dense(command, options->inputs.no_dense);
  add_run(command, options->run);
  command
      .add_option("--ci",
                  into(options->target, [](const auto& text) { return parse_share(text, "--ci"); }),
                  "Stop when the ratio's 95 % interval is +- this narrow; default 1%")
      ->type_name("SHARE");
  add_budget(command, options->run.budget_s,
             "Stop after this time (60s, 2min) in any case; default 60s");
  add_codec_request(command, options->codecs, "the vectors of B");
  add_session(command, options->session);
  add_json(command, options->json);
  command.footer(
      "Example: shardscope compare table_row_wise table_wise --workload dcnv2 --no-dense "
      "--rows-cap 100000 --batch 2048 --topology host-cpu:2x2 --wire 10,1 --budget 30s\n"
      "Ctrl-C keeps what was measured and widens the interval for it (exit code 0; 3 if there is "
      "no interval yet).");
}

void add_train(CLI::App& app, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "train", "Train for N iterations; loss and AUC on held-out samples along the way");
  const auto options = choose<TrainOptions>(command, chosen, train);
  add_inputs(command, options->inputs);
  options->layout = "table_row_wise";
  add_layout(command, options->layout);
  add_run(command, options->run);
  command
      .add_option("--evaluate-every", options->evaluate_every,
                  "Iterations between two evaluations; default 20 evaluations in all")
      ->check(positive())
      ->type_name("N");
  command
      .add_option("--evaluation-batches", options->evaluation_batches,
                  "Held-out global batches of an evaluation")
      ->check(positive())
      ->type_name("N")
      ->capture_default_str();
  add_training_codecs(command, *options);
  add_session(command, options->session);
  add_json(command, options->json);
  command.footer(
      "Example: shardscope train --workload criteo-kaggle --rows-cap 20000 --batch 1024 "
      "--iterations 2000\n"
      "Ctrl-C keeps the curve so far (exit code 0; 3 if it has no point yet).");
}

void add_inspect(CLI::App& app, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "inspect", "Show a session: its runs, stage tables, bars of every rank, comparisons");
  const auto options = choose<InspectOptions>(command, chosen, inspect);
  command.add_option("session", options->session, "Session file")->required()->type_name("FILE");
  command.add_option("--run", options->run, "Only this run")->check(positive())->type_name("N");
  add_json(command, options->json);
  command.footer("Example: shardscope inspect run.shardscope --run 1");
}

void add_import(CLI::App& app, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "import", "Take over a plan, a planner's report or traces from a training job");
  const auto options = choose<ImportOptions>(command, chosen, import_command);
  command.add_option("files", options->files, "Files; for traces also a directory or an archive")
      ->required()
      ->type_name("FILE");
  command
      .add_option("--from", options->from,
                  "torchrec, torchrec-stats, hugectr, kineto, nsys, tbe, mlperf or nccl-tests; "
                  "default by the content")
      ->type_name("KIND");
  command
      .add_option("--workload", options->workload,
                  "Model of the file: sizes and features where the file has none")
      ->type_name("NAME|FILE");
  command
      .add_option("--topology", options->topology,
                  "Machine of the file; default what the file tells, else dgx-h100 with a warning")
      ->type_name("NAME|FILE");
  command
      .add_option("--kernel-map", options->kernel_map,
                  "Rules that give kernels of a trace to stages, before the built-in ones")
      ->type_name("FILE");
  command.add_option("--plan", options->plan, "Which of several plans --out writes, from 1")
      ->check(positive())
      ->type_name("N");
  command.add_option("--out", options->out, "Write the layout to this file")->type_name("FILE");
  command.add_option("--workload-out", options->workload_out, "Write the workload to this file")
      ->type_name("FILE");
  command.add_option("--topology-out", options->topology_out, "Write the topology to this file")
      ->type_name("FILE");
  add_session(command, options->session);
  add_json(command, options->json);
  command.footer(
      "Example: shardscope import --from hugectr train.py --workload dcnv2 --out layout.json\n"
      "docs/imports.md describes what is read of each kind.");
}

void add_export(CLI::App& app, Chosen& chosen) {
  CLI::App& command =
      *app.add_subcommand("export", "Write a layout for a training job, or a run for other tools");
  const auto options = choose<ExportOptions>(command, chosen, export_command);
  command.add_option("input", options->input, "Session or layout file")
      ->required()
      ->type_name("SESSION|LAYOUT");
  command.add_option("--to", options->to, "hugectr or torchrec; runs: perfetto, nsys or csv")
      ->type_name("KIND")
      ->required();
  command.add_option("--run", options->run, "Run of the session; default the last")
      ->check(positive())
      ->type_name("N");
  command
      .add_option("--layout", options->layout,
                  "Layout of the session; default the run's, the starred or the latest")
      ->check(positive())
      ->type_name("N");
  command.add_option("--workload", options->inputs.workload, "Model of a layout file (see check)")
      ->type_name("NAME|FILE");
  command.add_option("--topology", options->inputs.topology, "Machine of a layout file")
      ->type_name("NAME|FILE");
  command.add_option("--batch", options->inputs.batch, "Global batch; default the model's")
      ->check(positive())
      ->type_name("N");
  command.add_option("--format", options->format, "hugectr: python (default) or json")
      ->type_name("python|json");
  command
      .add_option("--out", options->out,
                  "File to write; default stdout. torchrec: the JSON, its loader is written beside "
                  "it as .py")
      ->type_name("FILE");
  add_json(command, options->json);
  command.footer(
      "Example: shardscope export my-layout.json --to hugectr --workload dcnv2 --topology "
      "dgx-h100:2 --out plan.py\n"
      "Exit code 2 where the framework cannot train the layout; the reason is told.");
}

void add_report(CLI::App& app, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "report", "Write a session as one HTML page: pictures, tables, predictions, environment");
  const auto options = choose<ReportOptions>(command, chosen, report_command);
  command.add_option("session", options->session, "Session file")->required()->type_name("FILE");
  command.add_option("--out", options->out, "Page to write")->required()->type_name("FILE.html");
  command.add_option("--run", options->run, "Only this run")->check(positive())->type_name("N");
  add_json(command, options->json);
  command.footer("Example: shardscope report run.shardscope --out report.html");
}

void add_doctor(CLI::App& app, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "doctor", "What this machine can do, why not the rest, and what would help");
  const auto options = choose<DoctorOptions>(command, chosen, doctor);
  add_json(command, options->json);
  command.footer("Example: shardscope doctor");
}

void add_service(CLI::App& app, Chosen& chosen) {
  CLI::App& engine = *app.add_subcommand(
      "serve", "Be the engine of a desktop: speak its protocol on standard input and output");
  engine.callback([&chosen] { chosen.command = serve; });
  engine.footer(
      "Example: shardscope-gui --engine 'ssh trainer01 shardscope serve'\n"
      "shardscope-gui starts it by itself on this machine. docs/protocol.md describes the "
      "messages.");
  CLI::App& worker = *app.add_subcommand("worker", "Run one job of 'serve'");
  worker.callback([&chosen] { chosen.command = run_worker; });
  worker.group("");  // started by serve alone
}

}  // namespace

int run(int argc, char** argv) {
  CLI::App app{"Plans, profiles and compares embedding layouts of DLRM-style recommenders."};
  app.name("shardscope");
  app.require_subcommand(1);
  app.set_version_flag("--version", SHARDSCOPE_VERSION);
  auto formatter = std::make_shared<WrappingFormatter>();
  formatter->column_width(30);
  app.formatter(formatter);
  Chosen chosen;
  add_models(app, chosen);
  add_topologies(app, chosen);
  add_stats(app, chosen);
  add_check(app, chosen);
  add_plan(app, chosen);
  add_predict(app, chosen);
  add_explain(app, chosen);
  add_sweep(app, chosen);
  add_diff(app, chosen);
  add_calibrate(app, chosen);
  add_profile(app, chosen);
  add_compare(app, chosen);
  add_train(app, chosen);
  add_inspect(app, chosen);
  add_import(app, chosen);
  add_export(app, chosen);
  add_codec(app, chosen);
  add_tune_bounds(app, chosen);
  add_report(app, chosen);
  add_doctor(app, chosen);
  add_service(app, chosen);
  app.footer("Each command explains itself: shardscope COMMAND --help");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    print_error(usage_error(app, error, argc > 1 ? argv[1] : ""));
    return exit_code(ErrorKind::usage);
  }
  const Status status = chosen.command();
  if (status) return 0;
  print_error(status.error());
  return exit_code(status.error().kind);
}

}  // namespace shardscope::app
