#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/codec_tuning.hpp"
#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/text_table.hpp"
#include "app/values.hpp"
#include "layout/json.hpp"
#include "planner/codec_choice.hpp"
#include "planner/cost_model.hpp"

namespace shardscope::app {
namespace {

struct Tuned {
  std::vector<TableCodecs> tables;
  std::vector<CodecChoice> choices;
  Layout layout;
  double raw_s = 0;    ///< predicted iteration of the layout as it came
  double tuned_s = 0;  ///< and with the codecs
};

Result<Tuned> tune(const TuneBoundsOptions& options, const Inputs& inputs, const Layout& layout) {
  CodecTuning tuning;
  tuning.seed = options.seed;
  tuning.range_policy = options.range_policy;
  tuning.bounds = {options.tight, options.base, options.loose};
  tuning.codecs = codecs_to_choose_from();
  tuning.codecs.push_back(engine::CodecKind::bf16);  // of the gradients
  auto tables = measure_tables(inputs, layout, tuning);
  if (!tables) return fail(tables.error());
  Tuned tuned;
  tuned.tables = std::move(*tables);
  PredictOptions predicting;
  predicting.codecs = profiles_of(tuned.tables);
  std::vector<CodecProfile> forward = predicting.codecs;
  std::erase_if(forward, [](const CodecProfile& one) { return one.codec == "bf16"; });
  tuned.choices = choose_codecs(inputs.workload, inputs.topology, layout, forward);
  std::vector<double> bounds;
  for (const TableCodecs& table : tuned.tables) bounds.push_back(table.bound);
  tuned.layout = with_codecs(layout, tuned.choices, bounds);
  const auto raw = predicted_seconds(inputs.workload, inputs.topology, layout, predicting);
  if (!raw) return fail(raw.error());
  const auto coded = predicted_seconds(inputs.workload, inputs.topology, tuned.layout, predicting);
  if (!coded) return fail(coded.error());
  tuned.raw_s = *raw;
  tuned.tuned_s = *coded;
  return tuned;
}

nlohmann::ordered_json tuned_json(const Inputs& inputs, const Tuned& tuned) {
  nlohmann::ordered_json json = {{"workload", inputs.workload.name},
                                 {"topology", inputs.topology.name},
                                 {"layout", tuned.layout.name},
                                 {"predicted_ms", tuned.tuned_s * 1e3},
                                 {"predicted_ms_without_codecs", tuned.raw_s * 1e3},
                                 {"tables", nlohmann::ordered_json::array()}};
  for (std::size_t t = 0; t < tuned.tables.size(); ++t) {
    const TableCodecs& table = tuned.tables[t];
    const CodecChoice& choice = tuned.choices[t];
    json["tables"].push_back({{"table", inputs.workload.tables[t].name},
                              {"rows", inputs.workload.tables[t].rows},
                              {"sampled_vectors", table.sampled_rows},
                              {"homogenization", table.homogenization},
                              {"class", to_string(table.bound_class)},
                              {"bound", table.bound},
                              {"codec", choice.codec},
                              {"ratio", choice.ratio},
                              {"speedup", choice.speedup},
                              {"chunk_bytes", choice.chunk_bytes},
                              {"break_even_gb_s", choice.break_even_bytes_per_s / 1e9},
                              {"reason", choice.reason}});
  }
  return json;
}

void print_tuned(const Inputs& inputs, const Tuned& tuned) {
  const Console console = Console::of_stdout();
  TextTable table({{"table", Align::left},
                   {"rows"},
                   {"class", Align::left},
                   {"bound"},
                   {"codec", Align::left},
                   {"why", Align::left}});
  for (std::size_t t = 0; t < tuned.tables.size(); ++t) {
    const CodecChoice& choice = tuned.choices[t];
    table.row({inputs.workload.tables[t].name, grouped(inputs.workload.tables[t].rows),
               to_string(tuned.tables[t].bound_class),
               fmt::format("{:g} %", 100 * tuned.tables[t].bound),
               choice.codec == "raw" ? choice.codec : console.green(choice.codec), choice.reason});
  }
  fmt::print(
      "{}\nBounds are shares of a chunk's range. Throughputs were measured here on one core, "
      "with the tables' first values; gradients of coded tables travel as bf16.\n",
      table.text());
  fmt::print("{}: {} ms an iteration with these codecs, {} ms without.\n",
             console.bold("SIMULATED"), ms_text(tuned.tuned_s * 1e3), ms_text(tuned.raw_s * 1e3));
}

/// Links as slow as the wire that a run will be throttled to.
Status slow_down(const std::string& wire, Topology& topology) {
  const Result<engine::WireThrottle> throttle = parse_wire(wire);
  if (!throttle) return fail(throttle.error());
  if (throttle->inter_bytes_per_s <= 0) return {};
  topology.inter.bytes_per_s.value = throttle->inter_bytes_per_s;
  topology.inter.efficiency.value = 1;
  topology.inter.by_size.clear();
  return {};
}

}  // namespace

Status tune_bounds(const TuneBoundsOptions& options) {
  Result<Inputs> inputs = load_inputs(options.inputs);
  if (!inputs) return fail(inputs.error());
  if (Status slow = slow_down(options.wire, inputs->topology); !slow) return slow;
  const Result<Layout> layout = load_layout(options.layout, *inputs);
  if (!layout) return fail(layout.error());
  const Result<Tuned> tuned = tune(options, *inputs, *layout);
  if (!tuned) return fail(tuned.error());
  if (!options.save.empty()) {
    std::ofstream file(options.save);
    file << to_json(tuned->layout) << '\n';
    if (!file) {
      return fail({ErrorKind::runtime, "the layout cannot be written", options.save, "", ""});
    }
  }
  if (options.json) {
    fmt::print("{}\n", tuned_json(*inputs, *tuned).dump(2));
  } else {
    print_tuned(*inputs, *tuned);
    if (!options.save.empty()) fmt::print("\nLayout: {}\n", options.save);
  }
  return {};
}

}  // namespace shardscope::app
