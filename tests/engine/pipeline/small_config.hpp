#pragma once
// The small model that tests of a whole engine run.

#include <cstdint>

#include "engine/engine.hpp"

namespace shardscope::engine {

/// Three tables a, b, c of that many rows x 8 on two hosts of two ranks: replicated, cut into three
/// row shards and pooled by owners, unique rows for a sequence.
[[nodiscard]] inline EngineConfig small_config(std::int64_t rows, std::int32_t hotness) {
  EngineConfig config;
  Workload& workload = config.workload;
  workload.name = "small";
  workload.global_batch = 64;
  for (const char* name : {"a", "b", "c"}) {
    Table table{.name = name, .rows = rows, .dim = 8};
    table.optimizer = make_optimizer(OptimizerKind::rowwise_adagrad, 0.05);
    Feature feature;
    feature.name = name;
    feature.table = static_cast<std::int32_t>(workload.tables.size());
    feature.hotness = Hotness::fixed(hotness);
    workload.tables.push_back(table);
    workload.features.push_back(feature);
  }
  workload.features[2].pooling = Pooling::sequence;
  workload.features[2].hotness = Hotness::uniform(0, 3);
  config.topology.name = "two hosts";
  config.topology.hosts = 2;
  config.topology.gpus_per_host = 2;
  config.topology.fast_domain = 2;
  Layout& layout = config.layout;
  layout.name = "mixed";
  layout.ranks = 4;
  layout.table_names = {"a", "b", "c"};
  layout.tables = {data_parallel(workload.tables[0]), row_wise(workload.tables[1], {0, 1, 3}),
                   row_wise(workload.tables[2], {2, 0}, ClusterType::UB)};
  config.seed = 5;
  return config;
}

}  // namespace shardscope::engine
