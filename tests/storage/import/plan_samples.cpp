#include "tests/storage/import/plan_samples.hpp"

#include "layout/models.hpp"

namespace shardscope::test_plans {
namespace {

void add_table(Workload& workload, const char* name, std::int64_t rows, std::int32_t dim,
               std::int32_t hotness) {
  Table table;
  table.name = name;
  table.rows = rows;
  table.dim = dim;
  Feature feature;
  feature.name = name;
  feature.table = static_cast<std::int32_t>(workload.tables.size());
  feature.hotness = Hotness::fixed(hotness);
  workload.tables.push_back(table);
  workload.features.push_back(feature);
}

}  // namespace

Workload small_workload() {
  Workload workload;
  workload.name = "small";
  workload.global_batch = 64;
  add_table(workload, "a", 1000, 32, 5);
  add_table(workload, "b", 40, 16, 1);
  add_table(workload, "c", 12, 16, 1);
  add_table(workload, "d", 900, 32, 20);
  return workload;
}

Topology small_topology(std::int32_t hosts) {
  return topology_by_name("dgx-h100:" + std::to_string(hosts) + "x2").value();
}

Layout small_layout() {
  const Workload workload = small_workload();
  Layout layout;
  layout.name = "small";
  layout.ranks = 4;
  for (const Table& table : workload.tables) layout.table_names.push_back(table.name);
  TablePlacement grid = row_wise(workload.tables[0], {0, 2, 1, 3});
  grid.row_shards = 2;
  grid.column_cuts = {0, 16, 32};
  layout.tables = {grid, data_parallel(workload.tables[1]), table_wise(workload.tables[2], 1),
                   row_wise(workload.tables[3], {2, 3})};
  return layout;
}

}  // namespace shardscope::test_plans
