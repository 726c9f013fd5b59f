#include <fmt/format.h>

#include "app/command_line_parts.hpp"
#include "app/commands/commands.hpp"
#include "app/values.hpp"

namespace shardscope::app {
namespace {

/// Above 0, below 1.
CLI::Validator share() {
  const auto check = [](std::string& text) -> std::string {
    const auto value = parse_share(text, "");
    if (!value) return to_string(value.error());
    text = fmt::format("{}", *value);
    return {};
  };
  return {check, ""};
}

}  // namespace

void add_codec(CLI::App& app, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "codec", "Compress a file of fp32 rows: ratio, largest error, throughput of each codec");
  const auto options = choose<CodecOptions>(command, chosen, codec);
  command.add_option("file", options->file, "fp32 values, little-endian, row after row")
      ->required()
      ->type_name("FILE");
  command.add_option("--rows", options->rows)->required()->check(positive())->type_name("N");
  command.add_option("--dim", options->dim, "Values of a row")
      ->required()
      ->check(positive())
      ->type_name("N");
  command
      .add_option("--codec", options->codec,
                  "raw, fp16, bf16, row-int8, row-int4, fixed, dedup-fixed, dedup-huffman, "
                  "vector-lz, const, zstd, lz4, or all of them")
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option("--bound", options->bound,
                  "Largest error of a value, as a share of the range of the values")
      ->type_name("NUMBER")
      ->capture_default_str();
  command.add_flag("--absolute", options->absolute, "The bound is an absolute error");
  add_json(command, options->json);
  command.footer("Example: shardscope codec batch.f32 --rows 2048 --dim 64 --bound 0.03");
}

void add_tune_bounds(CLI::App& app, Chosen& chosen) {
  CLI::App& command = *app.add_subcommand(
      "tune-bounds",
      "Choose bounds and codecs of a layout's tables for the hop between fast domains");
  const auto options = choose<TuneBoundsOptions>(command, chosen, tune_bounds);
  add_inputs(command, options->inputs);
  options->layout = "table_row_wise";
  add_layout(command, options->layout);
  const auto add_class = [&](const char* name, double& bound, const char* help) {
    command.add_option(name, bound, help)
        ->transform(share())
        ->type_name("SHARE")
        ->capture_default_str();
  };
  add_class("--tight", options->tight, "Bound of large tables and those that quantizing blurs");
  add_class("--base", options->base, "Bound of the tables between");
  add_class("--loose", options->loose, "Bound of tables of up to 1,000 rows");
  command
      .add_option("--wire", options->wire,
                  "Choose for links of this bandwidth (a second number: between domains)")
      ->type_name("GB/s[,GB/s]");
  command.add_option("--save", options->save, "Write the layout with its codecs to this file")
      ->type_name("FILE");
  add_seed(command, options->seed, "the ids");
  add_range_policy(command, options->range_policy);
  add_json(command, options->json);
  command.footer(
      "Example: shardscope tune-bounds --workload dcnv2 --topology dgx-h100:2 --save tuned.json\n"
      "docs/compression.md tells what the bounds and the choice rest on.");
}

void add_codec_terms(CLI::App& command, CodecRequest& request, const char* backward) {
  command
      .add_option("--bound", request.bound,
                  "Largest error of a value through --codec NAME, as a share of the chunk's range "
                  "(auto: by the table's class, see tune-bounds)")
      ->type_name("NUMBER")
      ->capture_default_str();
  command.add_flag("--absolute", request.absolute, "The bound is an absolute error");
  command.add_option("--backward-codec", request.backward_codec, backward)
      ->type_name("NAME")
      ->capture_default_str();
}

void add_codec_request(CLI::App& command, CodecRequest& request, const char* whose) {
  command
      .add_option("--codec", request.codec,
                  fmt::format("Send {} between fast domains through this codec (see codec "
                              "--help), or auto: the best for each table and hop, measured first, "
                              "raw where none pays; default the layout's own",
                              whose))
      ->type_name("NAME|auto");
  add_codec_terms(command, request, "Codec of gradients, with --codec NAME");
}

void add_training_codecs(CLI::App& command, TrainOptions& options) {
  add_codec_request(command, options.codecs, "vectors");
  command
      .add_option("--curve", options.curve,
                  "Write the evaluations to this file as comma-separated values")
      ->type_name("FILE");
  command
      .add_option("--decay", into(options.run.decay.kind, parse_decay),
                  "Bounds wider at first: none, step, linear, logarithmic or constant")
      ->type_name("KIND")
      ->default_str("none");
  command
      .add_option("--decay-iterations", options.run.decay.iterations,
                  "Iterations until the bounds have their value")
      ->check(positive())
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace shardscope::app
