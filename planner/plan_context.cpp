#include "planner/plan_context.hpp"

#include <algorithm>

#include "layout/schedule.hpp"
#include "planner/trust.hpp"

namespace shardscope {

namespace {

FormSet forms_of(ClusterType type) {
  switch (type) {
    case ClusterType::DP:
      return form_bit(TableForm::replicated);
    case ClusterType::RB:
      return form_bit(TableForm::flat) | form_bit(TableForm::hierarchical);
    case ClusterType::UB:
      return form_bit(TableForm::by_unique);
  }
  return 0;
}

}  // namespace

PlanContext::PlanContext(const Workload& workload_given, const Topology& topology_given,
                         const PredictOptions& options_given)
    : workload(workload_given),
      topology(topology_given),
      options(options_given),
      facts(workload_facts(workload, topology.ranks(), options.stats)),
      executor(executor_model(options.executor, workload)),
      dense(dense_cost(workload, topology.gpu, executor, facts.rank_batch)),
      loads(facts, topology, executor, options.codecs),
      memory(workload, topology, options.executor),
      reader_s(reader_seconds(workload, topology)) {}

Schedule PlanContext::schedule_for(FormSet present) const {
  const auto has = [&](TableForm form) { return (present & form_bit(form)) != 0; };
  return executor_schedule(options.executor, options.schedule,
                           {.dp = has(TableForm::replicated),
                            .rb = has(TableForm::flat) || has(TableForm::hierarchical),
                            .ub = has(TableForm::by_unique),
                            .dense = workload.dense.interaction != Interaction::none});
}

std::vector<FormSet> legal_forms(const PlanContext& context) {
  const Executor executor = context.options.executor;
  const bool hierarchical = executor != Executor::hugectr ||
                            context.topology.fast_domain == context.topology.gpus_per_host;
  const double room = context.memory.capacity() - context.memory.empty().common;
  std::vector<FormSet> forms;
  for (std::size_t t = 0; t < context.facts.tables.size(); ++t) {
    const TableFacts& table = context.facts.tables[t];
    FormSet legal = 0;
    const bool all_pooled = table.unpooled == 0;
    if (context.memory.replicated_bytes(t) <= room) legal |= form_bit(TableForm::replicated);
    if (all_pooled) {
      legal |= form_bit(TableForm::flat);
      if (hierarchical) legal |= form_bit(TableForm::hierarchical);
    }
    // TorchRec has no UB for pooled features; HugeCTR's open training loop never updates it.
    if (executor == Executor::engine ||
        (executor == Executor::hugectr ? !all_pooled : table.pooled == 0))
      legal |= form_bit(TableForm::by_unique);
    forms.push_back(legal);
  }
  return forms;
}

std::vector<FormSet> constrained_forms(const PlanConstraints& constraints,
                                       std::vector<FormSet> legal) {
  constexpr FormSet kReplicated = form_bit(TableForm::replicated);
  const auto at = [&](std::int32_t table) -> FormSet& {
    return legal[static_cast<std::size_t>(table)];
  };
  for (const auto& [table, cluster] : constraints.clusters) at(table) &= forms_of(cluster);
  for (const auto& [table, ranks] : constraints.only_ranks) at(table) &= ~kReplicated;
  for (const std::vector<std::int32_t>& group : constraints.together)
    for (const std::int32_t table : group) at(table) &= ~kReplicated;
  for (const auto& [table, placement] : constraints.pinned) {
    FormSet form = forms_of(placement.cluster);
    if (placement.cluster == ClusterType::RB)
      form = form_bit(placement.exchange == Exchange::hierarchical ? TableForm::hierarchical
                                                                   : TableForm::flat);
    at(table) = form;
  }
  return legal;
}

bool may_fit(const PlanContext& context) {
  const double ranks = context.topology.ranks();
  double bytes = ranks * context.memory.empty().common;
  for (std::size_t t = 0; t < context.facts.tables.size(); ++t) {
    const double width = context.facts.tables[t].dim;
    double least = ranks * context.memory.replicated_bytes(t);
    for (const ClusterType cluster : {ClusterType::RB, ClusterType::UB})
      least = std::min(least, context.memory.shard_bytes(t, cluster, 1, width));
    bytes += least;
  }
  return bytes <= ranks * context.memory.capacity();
}

bool check_is_cheap(const PlanContext& context) {
  constexpr double kCheapCheck = 4e7;
  const double ranks = context.topology.ranks();
  return context.options.executor != Executor::engine ||
         static_cast<double>(context.facts.tables.size()) * ranks * ranks <= kCheapCheck;
}

bool may_mix(Executor executor, FormSet present) {
  const FormSet both = form_bit(TableForm::flat) | form_bit(TableForm::hierarchical);
  return executor != Executor::hugectr || (present & both) != both;
}

}  // namespace shardscope
