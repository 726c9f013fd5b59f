#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/inputs.hpp"
#include "app/planning_codecs.hpp"
#include "app/prediction_report.hpp"
#include "app/priced_inputs.hpp"
#include "app/recorded_stats.hpp"
#include "app/report.hpp"
#include "app/run_setup.hpp"
#include "app/text_table.hpp"
#include "planner/explain.hpp"
#include "planner/layout_diff.hpp"

namespace shardscope::app {
namespace {

constexpr std::size_t kTablesShown = 20;

/// One side: a valid layout and its prediction.
struct Side {
  Layout layout;
  Prediction prediction;
};

Result<Side> side_of(const std::string& name, const Inputs& inputs, PredictOptions& how,
                     bool json) {
  Result<Layout> layout = load_valid_layout(name, inputs, how, json);
  if (!layout) return fail(layout.error());
  if (Status known = measure_codecs_of(inputs, *layout, how); !known) return fail(known.error());
  Result<Prediction> prediction = predict(inputs.workload, inputs.topology, *layout, how);
  if (!prediction) return fail(prediction.error());
  return Side{std::move(*layout), std::move(*prediction)};
}

double speedup(const Side& a, const Side& b) {
  return a.prediction.iteration_s / b.prediction.iteration_s;
}

void print_diff(const Inputs& inputs, const PredictOptions& how, const Side& a, const Side& b,
                const LayoutDiff& diff, const TimeRatio& ratio) {
  const Console console = Console::of_stdout();
  fmt::print("{}  {} -> {}\n{}\n\n", console.bold(mode_word(Mode::simulated)), a.layout.name,
             b.layout.name, setting_line(inputs, how));
  fmt::print("B/A = {} in throughput\n\n", ratio_text(ratio));
  for (const auto& [letter, side] : {std::pair{"A", &a}, std::pair{"B", &b}})
    fmt::print("{}  {:24} {:>10} ms/iteration  {:>13} samples/s  fullest rank {}\n", letter,
               side->layout.name, ms_text(side->prediction.iteration_s * 1e3),
               grouped(static_cast<long long>(side->prediction.samples_per_s)),
               bytes_text(static_cast<double>([&] {
                 std::int64_t most = 0;
                 for (const std::int64_t bytes : memory_by_rank(inputs, side->layout, how.executor))
                   most = std::max(most, bytes);
                 return most;
               }())));
  const auto changed = static_cast<long long>(diff.tables.size());
  fmt::print("\n{} change{}, {} and {} move\n\n", counted(changed, "table"),
             changed == 1 ? "s" : "", counted(diff.moved_shards, "shard"),
             bytes_text(diff.moved_bytes));
  TextTable table(
      {{"table", Align::left}, {"moves"}, {"shards"}, {"A", Align::left}, {"B", Align::left}});
  for (std::size_t i = 0; i < diff.tables.size() && i < kTablesShown; ++i) {
    const TableChange& change = diff.tables[i];
    const auto t = static_cast<std::size_t>(change.table);
    table.row({inputs.workload.tables[t].name, bytes_text(change.moved_bytes),
               std::to_string(change.moved_shards),
               describe(a.layout.tables[t], a.layout.exchange_of(t)),
               describe(b.layout.tables[t], b.layout.exchange_of(t))});
  }
  if (!diff.tables.empty()) fmt::print("{}", table.text());
  if (diff.tables.size() > kTablesShown)
    fmt::print("and {} more; --json lists all\n", diff.tables.size() - kTablesShown);
  const std::int32_t ranks = inputs.topology.ranks();
  fmt::print("\n{}", stage_difference_text(stage_profile_of(a.prediction, ranks),
                                           stage_profile_of(b.prediction, ranks)));
}

void print_diff_json(const Inputs& inputs, const PredictOptions& how, const Side& a, const Side& b,
                     const LayoutDiff& diff, const TimeRatio& ratio) {
  nlohmann::ordered_json json = {
      {"mode", to_string(Mode::simulated)},
      {"a", prediction_json(inputs, a.layout, how, a.prediction)},
      {"b", prediction_json(inputs, b.layout, how, b.prediction)},
      {"speedup", speedup(a, b)},
      {"speedup_interval", {ratio.low, ratio.high}},
      {"gain_ms", (a.prediction.iteration_s - b.prediction.iteration_s) * 1e3},
      {"moved_shards", diff.moved_shards},
      {"moved_bytes", diff.moved_bytes},
      {"tables", nlohmann::ordered_json::array()}};
  for (const TableChange& change : diff.tables) {
    const auto t = static_cast<std::size_t>(change.table);
    json["tables"].push_back({{"table", inputs.workload.tables[t].name},
                              {"cluster_changes", change.cluster},
                              {"cut_changes", change.cut},
                              {"moved_shards", change.moved_shards},
                              {"moved_bytes", change.moved_bytes},
                              {"a", describe(a.layout.tables[t], a.layout.exchange_of(t))},
                              {"b", describe(b.layout.tables[t], b.layout.exchange_of(t))}});
  }
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

Status diff_command(const DiffOptions& options) {
  const Result<Inputs> inputs = load_inputs(options.inputs);
  if (!inputs) return fail(inputs.error());
  PredictOptions how = measured_options(*inputs, options.how);
  const Result<Side> a = side_of(options.layouts[0], *inputs, how, options.json);
  if (!a) return fail(a.error());
  const Result<Side> b = side_of(options.layouts[1], *inputs, how, options.json);
  if (!b) return fail(b.error());
  const Result<LayoutDiff> diff = layout_diff(inputs->workload, a->layout, b->layout);
  if (!diff) return fail(diff.error());
  // Throughput of B over A is A's time over B's.
  const Result<TimeRatio> ratio =
      predicted_ratio(inputs->workload, inputs->topology, a->layout, b->layout, how);
  if (!ratio) return fail(ratio.error());
  options.json ? print_diff_json(*inputs, how, *a, *b, *diff, *ratio)
               : print_diff(*inputs, how, *a, *b, *diff, *ratio);
  return {};
}

}  // namespace shardscope::app
