// `stats --compression`: what every codec makes of every table's vectors.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/codec_tuning.hpp"
#include "app/commands/commands.hpp"
#include "app/text_table.hpp"
#include "layout/layout.hpp"

namespace shardscope::app {
namespace {

/// Pooled sums travel where every feature of a table is pooled (RB), else distinct rows (UB).
Layout exchanged_layout(const Inputs& inputs) {
  Layout layout;
  layout.ranks = inputs.topology.ranks();
  for (const Table& table : inputs.workload.tables) layout.tables.push_back(table_wise(table, 0));
  for (const Feature& feature : inputs.workload.features) {
    if (is_pooled(feature.pooling)) continue;
    layout.tables[static_cast<std::size_t>(feature.table)].cluster = ClusterType::UB;
  }
  return layout;
}

void print_compression(const Inputs& inputs, const Layout& layout,
                       const std::vector<TableCodecs>& tables) {
  std::vector<TextTable::Column> columns = {{"table", Align::left},
                                            {"travel", Align::left},
                                            {"vectors"},
                                            {"class", Align::left},
                                            {"bound"}};
  for (const engine::CodecKind kind : engine::kAllCodecs) {
    columns.push_back({std::string(engine::name_of(kind))});
  }
  TextTable text(std::move(columns));
  for (std::size_t t = 0; t < tables.size(); ++t) {
    std::vector<std::string> row = {inputs.workload.tables[t].name,
                                    layout.tables[t].cluster == ClusterType::UB ? "rows" : "sums",
                                    grouped(tables[t].sampled_rows),
                                    to_string(tables[t].bound_class),
                                    fmt::format("{:g} %", 100 * tables[t].bound)};
    for (const CodecProfile& profile : tables[t].profiles) {
      row.push_back(fmt::format("{:.2f}", profile.ratio));
    }
    text.row(std::move(row));
  }
  fmt::print(
      "{}\nRatios of one rank's vectors of one batch, with the tables' first values (trained "
      "ones are less even and compress better), everything counted. Bounds are shares of "
      "the range.\n",
      text.text());
}

void print_compression_json(const Inputs& inputs, const std::vector<TableCodecs>& tables) {
  nlohmann::ordered_json json = {{"workload", inputs.workload.name},
                                 {"tables", nlohmann::ordered_json::array()}};
  for (std::size_t t = 0; t < tables.size(); ++t) {
    nlohmann::ordered_json codecs = nlohmann::ordered_json::array();
    for (const CodecProfile& profile : tables[t].profiles) {
      codecs.push_back({{"codec", profile.codec},
                        {"ratio", profile.ratio},
                        {"max_error", profile.max_error},
                        {"encode_gb_s", profile.by_size.back().encode_bytes_per_s / 1e9},
                        {"decode_gb_s", profile.by_size.back().decode_bytes_per_s / 1e9}});
    }
    json["tables"].push_back({{"table", inputs.workload.tables[t].name},
                              {"sampled_vectors", tables[t].sampled_rows},
                              {"homogenization", tables[t].homogenization},
                              {"class", to_string(tables[t].bound_class)},
                              {"bound", tables[t].bound},
                              {"codecs", std::move(codecs)}});
  }
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

Status stats_compression(const StatsOptions& options) {
  const Result<Inputs> inputs = load_inputs(options.inputs);
  if (!inputs) return fail(inputs.error());
  const Layout layout = exchanged_layout(*inputs);
  CodecTuning tuning;
  tuning.seed = options.seed;
  tuning.range_policy = options.range_policy;
  tuning.seconds_each = 0.002;
  tuning.codecs.assign(engine::kAllCodecs.begin(), engine::kAllCodecs.end());
  const auto tables = measure_tables(*inputs, layout, tuning);
  if (!tables) return fail(tables.error());
  if (options.json) {
    print_compression_json(*inputs, *tables);
  } else {
    print_compression(*inputs, layout, *tables);
  }
  return {};
}

}  // namespace shardscope::app
