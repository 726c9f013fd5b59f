#include "layout/models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "app/commands/commands.hpp"
#include "app/inputs.hpp"
#include "app/text_table.hpp"
#include "layout/json.hpp"

namespace shardscope::app {
namespace {

struct ModelFacts {
  std::int64_t rows = 0;
  double elements = 0;
  double bytes = 0;
  double ids_per_sample = 0;
  std::int32_t smallest_dim = 0;
  std::int32_t largest_dim = 0;
};

ModelFacts facts_of(const Workload& workload) {
  ModelFacts facts;
  for (const Table& table : workload.tables) {
    const double elements = static_cast<double>(table.rows) * table.dim;
    facts.rows += table.rows;
    facts.elements += elements;
    facts.bytes += elements * static_cast<double>(bytes_of(table.dtype));
    facts.largest_dim = std::max(facts.largest_dim, table.dim);
    facts.smallest_dim =
        facts.smallest_dim == 0 ? table.dim : std::min(facts.smallest_dim, table.dim);
  }
  for (const Feature& feature : workload.features) {
    facts.ids_per_sample += feature.hotness.mean() * feature.num_poolings;
  }
  return facts;
}

std::string dims_text(const ModelFacts& facts) {
  return facts.smallest_dim == facts.largest_dim
             ? std::to_string(facts.largest_dim)
             : fmt::format("{}-{}", facts.smallest_dim, facts.largest_dim);
}

Status list_models(bool json) {
  TextTable table({{"model", Align::left},
                   {"tables"},
                   {"features"},
                   {"rows"},
                   {"dim"},
                   {"parameters"},
                   {"weights"},
                   {"ids/sample"},
                   {"batch"}});
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const std::string& name : model_names()) {
    const Result<Workload> model = model_by_name(name);
    if (!model) return fail(model.error());
    const ModelFacts facts = facts_of(*model);
    list.push_back({{"name", name},
                    {"tables", model->tables.size()},
                    {"features", model->features.size()},
                    {"rows", facts.rows},
                    {"parameters", facts.elements},
                    {"weight_bytes", facts.bytes},
                    {"ids_per_sample", facts.ids_per_sample},
                    {"global_batch", model->global_batch},
                    {"source", model->source}});
    table.row({name, std::to_string(model->tables.size()), std::to_string(model->features.size()),
               count_text(static_cast<double>(facts.rows)), dims_text(facts),
               count_text(facts.elements), bytes_text(facts.bytes),
               count_text(facts.ids_per_sample), grouped(model->global_batch)});
  }
  if (json) {
    fmt::print("{}\n", list.dump(2));
  } else {
    fmt::print("{}\n'shardscope models NAME' shows the tables and where the facts come from.\n",
               table.text());
  }
  return {};
}

std::string hotness_text(const Feature& feature) {
  const Hotness& hotness = feature.hotness;
  if (hotness.kind == HotnessKind::fixed) return std::to_string(hotness.minimum);
  return fmt::format("{}-{} (mean {:.3g})", hotness.minimum, hotness.maximum, hotness.mean());
}

void print_model(const Workload& model) {
  const ModelFacts facts = facts_of(model);
  fmt::print("{}: {} parameters in {}, {} of weights, global batch {}\n{}\n\n", model.name,
             count_text(facts.elements),
             counted(static_cast<long long>(model.tables.size()), "table"), bytes_text(facts.bytes),
             grouped(model.global_batch), model.source);
  TextTable table({{"table", Align::left},
                   {"rows"},
                   {"dim"},
                   {"dtype", Align::left},
                   {"optimizer", Align::left},
                   {"weights"},
                   {"features: pooling and ids a bag", Align::left}});
  const auto readers = features_by_table(model);
  for (std::size_t index = 0; index < model.tables.size(); ++index) {
    const Table& entry = model.tables[index];
    std::string features;
    for (const std::int32_t reader : readers[index]) {
      const Feature& feature = model.features[static_cast<std::size_t>(reader)];
      if (!features.empty()) features += ", ";
      features += fmt::format("{} {}", to_string(feature.pooling), hotness_text(feature));
    }
    table.row({entry.name, grouped(entry.rows), std::to_string(entry.dim), to_string(entry.dtype),
               to_string(entry.optimizer.kind),
               bytes_text(static_cast<double>(entry.rows) * entry.dim *
                          static_cast<double>(bytes_of(entry.dtype))),
               features});
  }
  fmt::print("{}", table.text());
}

}  // namespace

Status models(const ModelsOptions& options) {
  if (options.name.empty()) return list_models(options.json);
  const Result<Workload> model = load_workload(options.name);
  if (!model) return fail(model.error());
  if (options.json) {
    fmt::print("{}\n", to_json(*model));
  } else {
    print_model(*model);
  }
  return {};
}

}  // namespace shardscope::app
