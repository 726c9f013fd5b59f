#include "planner/plan_context.hpp"

#include "layout/schedule.hpp"
#include "planner/trust.hpp"

namespace shardscope {

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

bool may_mix(Executor executor, FormSet present) {
  const FormSet both = form_bit(TableForm::flat) | form_bit(TableForm::hierarchical);
  return executor != Executor::hugectr || (present & both) != both;
}

}  // namespace shardscope
