#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "app/coded_layout.hpp"
#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/inputs.hpp"
#include "app/text_table.hpp"
#include "layout/json.hpp"
#include "planner/cost_model.hpp"

namespace shardscope::app {
namespace {

struct Tuned {
  TunedCodecs codecs;
  double raw_s = 0;    ///< predicted iteration of the layout as it came
  double tuned_s = 0;  ///< and with the codecs
};

Result<Tuned> tune(const TuneBoundsOptions& options, const Inputs& inputs, const Layout& layout) {
  CodecTuning tuning;
  tuning.seed = options.seed;
  tuning.range_policy = options.range_policy;
  tuning.bounds = {options.tight, options.base, options.loose};
  auto codecs = tune_codecs(inputs, layout, tuning);
  if (!codecs) return fail(codecs.error());
  PredictOptions predicting;
  predicting.codecs = profiles_of(codecs->tables);
  const auto raw = predicted_seconds(inputs.workload, inputs.topology, layout, predicting);
  if (!raw) return fail(raw.error());
  const auto coded =
      predicted_seconds(inputs.workload, inputs.topology, codecs->layout, predicting);
  if (!coded) return fail(coded.error());
  return Tuned{std::move(*codecs), *raw, *coded};
}

nlohmann::ordered_json choice_json(const CodecChoice& choice) {
  return {{"codec", choice.codec},
          {"ratio", choice.ratio},
          {"speedup", choice.speedup},
          {"chunk_bytes", choice.chunk_bytes},
          {"break_even_gb_s", choice.break_even_bytes_per_s / 1e9},
          {"reason", choice.reason}};
}

nlohmann::ordered_json tuned_json(const Inputs& inputs, const Tuned& tuned) {
  nlohmann::ordered_json json = {{"workload", inputs.workload.name},
                                 {"topology", inputs.topology.name},
                                 {"layout", tuned.codecs.layout.name},
                                 {"predicted_ms", tuned.tuned_s * 1e3},
                                 {"predicted_ms_without_codecs", tuned.raw_s * 1e3},
                                 {"tables", nlohmann::ordered_json::array()}};
  for (std::size_t t = 0; t < tuned.codecs.tables.size(); ++t) {
    const TableCodecs& table = tuned.codecs.tables[t];
    nlohmann::ordered_json one = {
        {"table", inputs.workload.tables[t].name}, {"rows", inputs.workload.tables[t].rows},
        {"sampled_vectors", table.sampled_rows},   {"homogenization", table.homogenization},
        {"class", to_string(table.bound_class)},   {"bound", table.bound}};
    one.update(choice_json(tuned.codecs.between[t]));
    one["inside_domain"] = choice_json(tuned.codecs.inside[t]);
    json["tables"].push_back(std::move(one));
  }
  return json;
}

void print_tuned(const Inputs& inputs, const Tuned& tuned) {
  const Console console = Console::of_stdout();
  fmt::print(
      "{}\nBounds are shares of a chunk's range. Throughputs were measured here on one core, "
      "with the tables' first values; gradients of coded tables travel as bf16.\n",
      tuned_codecs_text(inputs, tuned.codecs, console));
  fmt::print("{}: {} ms an iteration with these codecs, {} ms without.\n",
             console.bold("SIMULATED"), ms_text(tuned.tuned_s * 1e3), ms_text(tuned.raw_s * 1e3));
}

}  // namespace

Status tune_bounds(const TuneBoundsOptions& options) {
  Result<Inputs> inputs = load_inputs(options.inputs);
  if (!inputs) return fail(inputs.error());
  auto topology = topology_at_wire(std::move(inputs->topology), options.wire);
  if (!topology) return fail(topology.error());
  inputs->topology = std::move(*topology);
  const Result<Layout> layout = load_layout(options.layout, *inputs);
  if (!layout) return fail(layout.error());
  const Result<Tuned> tuned = tune(options, *inputs, *layout);
  if (!tuned) return fail(tuned.error());
  const Status saved = save_layout_file(options.save, tuned->codecs.layout);
  if (!saved) return saved;
  if (options.json) {
    fmt::print("{}\n", tuned_json(*inputs, *tuned).dump(2));
  } else {
    print_tuned(*inputs, *tuned);
    if (!options.save.empty()) fmt::print("\nLayout: {}\n", options.save);
  }
  return {};
}

}  // namespace shardscope::app
