#include "planner/executor_wishes.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "layout/check.hpp"
#include "planner/baselines.hpp"
#include "planner/edits.hpp"
#include "planner/executor_form.hpp"

namespace shardscope {

std::optional<Error> refused_workload(const PlanContext& context) {
  if (!check_is_cheap(context)) return std::nullopt;
  const Executor executor = context.options.executor;
  auto layout = baseline("round_robin", context.workload, context.topology);
  if (!layout) return std::nullopt;
  const std::vector<Violation> violations = check(
      context.workload, context.topology,
      in_executor_form(std::move(*layout), context.workload, context.topology, executor), executor);
  const auto of_a_part = [&](const std::string& rule) {
    return std::any_of(violations.begin(), violations.end(), [&](const Violation& one) {
      return one.rule == rule && (one.table >= 0 || one.rank >= 0);
    });
  };
  for (const Violation& one : violations)
    if (one.severity == Severity::error && !one.rule.starts_with("memory") && !of_a_part(one.rule))
      return Error{ErrorKind::infeasible, one.message, "", "", one.cure};
  return std::nullopt;
}

Layout finished_for_executor(const PlanContext& context, Layout layout) {
  if (context.options.executor != Executor::hugectr) return layout;
  std::vector<bool> used(static_cast<std::size_t>(layout.ranks), false);
  Exchange exchange = Exchange::flat;
  bool replicated = false;
  for (TablePlacement& table : layout.tables) {
    if (table.cluster == ClusterType::DP) replicated = true;
    if (table.exchange) exchange = *table.exchange;
    table.exchange.reset();
    for (const std::int32_t owner : table.owners) used[static_cast<std::size_t>(owner)] = true;
    table = in_hugectr_order(std::move(table));
  }
  layout.clusters[static_cast<std::size_t>(ClusterType::RB)].exchange = exchange;
  // A GPU without tables is refused: the smallest table then goes everywhere.
  if (!replicated && std::find(used.begin(), used.end(), false) != used.end()) {
    std::size_t smallest = 0;
    const auto elements = [&](std::size_t t) {
      return context.facts.tables[t].rows * context.facts.tables[t].dim;
    };
    for (std::size_t t = 1; t < layout.tables.size(); ++t)
      if (elements(t) < elements(smallest)) smallest = t;
    layout.tables[smallest] = data_parallel(context.workload.tables[smallest]);
  }
  return layout;
}

}  // namespace shardscope
