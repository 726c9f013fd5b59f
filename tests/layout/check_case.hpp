#pragma once
// Small valid cases that tests of the rules break one at a time.

#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "layout/check.hpp"
#include "layout/models.hpp"

namespace shardscope::check_case {

struct Case {
  Workload workload;
  Topology topology;
  Layout layout;
  Executor executor = Executor::engine;

  TablePlacement& placement(std::size_t table) { return layout.tables[table]; }
  ClusterOptions& options(ClusterType type) {
    return layout.clusters[static_cast<std::size_t>(type)];
  }
  [[nodiscard]] std::vector<Violation> check() const {
    return shardscope::check(workload, topology, layout, executor);
  }
};

/// Valid for that executor: table "rb" (pooled, 2 x 2 shards on 2 x 2 ranks, or the executor's
/// nearest form), "dp" (pooled, replicated), "ub" (concatenated pairs).
[[nodiscard]] inline Case valid_case(Executor executor) {
  Case one;
  one.executor = executor;
  one.topology = *topology_by_name("host-cpu:2x2");
  Workload& workload = one.workload;
  workload.name = "three";
  workload.global_batch = 64;
  workload.tables = {{.name = "rb", .rows = 1000, .dim = 16},
                     {.name = "dp", .rows = 50, .dim = 8},
                     {.name = "ub", .rows = 400, .dim = 8}};
  for (Table& table : workload.tables) table.optimizer = make_optimizer(OptimizerKind::adagrad);
  workload.features = {
      {.name = "f", .table = 0, .hotness = Hotness::fixed(3)},
      {.name = "g", .table = 1, .pooling = Pooling::mean},
      {.name = "h", .table = 2, .pooling = Pooling::concat, .hotness = Hotness::fixed(2)}};
  Layout& layout = one.layout;
  layout.name = "valid";
  layout.ranks = 4;
  for (const Table& table : workload.tables) layout.table_names.push_back(table.name);
  layout.tables = {row_wise(workload.tables[0], {0, 1, 2, 3}), data_parallel(workload.tables[1]),
                   table_wise(workload.tables[2], 3, ClusterType::UB)};
  TablePlacement& grid = layout.tables[0];
  if (executor == Executor::torchrec) {
    grid.mapping = RowMapping::block;
    grid.row_cuts = {0, 250, 500, 750, 1000};
  } else {
    grid.row_shards = 2;
    grid.column_cuts = {0, 8, 16};
    grid.owners = {0, 2, 1, 3};
  }
  return one;
}

/// The rules that the case breaks.
[[nodiscard]] inline std::set<std::string> broken_rules(const Case& one) {
  std::set<std::string> rules;
  for (const Violation& violation : one.check()) rules.insert(violation.rule);
  return rules;
}

/// One way to break one rule.
struct Breaker {
  const char* rule;
  Executor executor;
  std::function<void(Case&)> apply;
};

inline void PrintTo(const Breaker& breaker, std::ostream* out) {
  *out << breaker.rule;
}

}  // namespace shardscope::check_case
