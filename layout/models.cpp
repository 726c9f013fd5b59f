#include "layout/models.hpp"

#include <fmt/core.h>

#include <iterator>

#include "layout/closest.hpp"
#include "layout/models_facts.hpp"

namespace shardscope {

namespace {

struct NamedModel {
  const char* name;
  Workload (*make)();
};

constexpr NamedModel kModels[] = {
    {"dcnv2", make_dcnv2},
    {"t180", make_t180},
    {"t200", make_t200},
    {"t510", make_t510},
    {"criteo-kaggle", make_criteo_kaggle},
    {"criteo-terabyte", make_criteo_terabyte},
    {"rm1", make_rm1},
    {"rm2", make_rm2},
    {"rm3", make_rm3},
    {"merlin-tiny", make_merlin_tiny},
    {"merlin-small", make_merlin_small},
};

void add_tables(const ModelFacts& facts, const TableGroupFact& group, Workload& workload) {
  for (std::int32_t i = 0; i < group.count; ++i) {
    Table table;
    const auto index = static_cast<std::int32_t>(workload.tables.size());
    table.name = fmt::format("{}{}", facts.table_prefix, index);
    table.rows = group.rows;
    table.dim = group.dim;
    table.optimizer = make_optimizer(facts.optimizer, facts.learning_rate);
    Feature feature;
    feature.name = table.name;
    feature.table = index;
    feature.hotness = Hotness::fixed(group.hotness);
    feature.ids.alpha = facts.zipf_alpha;
    if (group.second_hotness > 0) feature.name = table.name + ".0";
    workload.features.push_back(feature);
    if (group.second_hotness > 0) {
      feature.name = table.name + ".1";
      feature.hotness = Hotness::fixed(group.second_hotness);
      workload.features.push_back(feature);
    }
    workload.tables.push_back(std::move(table));
  }
}

}  // namespace

Workload workload_of(const ModelFacts& facts, std::span<const TableGroupFact> groups) {
  Workload workload;
  workload.name = facts.name;
  workload.source = facts.source;
  workload.global_batch = facts.global_batch;
  workload.dense.optimizer = make_optimizer(facts.optimizer, facts.learning_rate);
  for (const TableGroupFact& group : groups) add_tables(facts, group, workload);
  return workload;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const NamedModel& model : kModels) names.emplace_back(model.name);
  return names;
}

Result<Workload> model_by_name(std::string_view name) {
  for (const NamedModel& model : kModels) {
    if (name == model.name) return model.make();
  }
  const std::vector<std::string> names = model_names();
  const std::string meant = closest_name(name, names);
  return fail({ErrorKind::usage, fmt::format("there is no model \"{}\"", name), "",
               "one of " + join_names(names) + ", or a file",
               meant.empty() ? "" : fmt::format("Did you mean {}?", meant)});
}

}  // namespace shardscope
