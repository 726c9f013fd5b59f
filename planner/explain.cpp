#include "planner/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "layout/names.hpp"
#include "planner/edits.hpp"
#include "planner/load_fields.hpp"
#include "planner/plan_context.hpp"
#include "planner/step_loads.hpp"
#include "planner/timeline.hpp"
#include "planner/what_if.hpp"

namespace shardscope {

namespace {

constexpr std::size_t kTablesShown = 5;
constexpr std::size_t kTablesEdited = 10;
constexpr std::size_t kEditsShown = 3;
constexpr double kFree = 1e6;  ///< as many times faster as makes a cost vanish
constexpr double kWorthTelling = 1e-4;

void make_free(LinkModel& link) {
  link.latency_s.value = 0;
  link.latency_per_doubling_s.value = 0;
  link.bytes_per_s.value *= kFree;
  for (BandwidthPoint& point : link.by_size) point.bytes_per_s *= kFree;
}

Topology without(Topology topology, Limit limit) {
  switch (limit) {
    case Limit::memory_bandwidth:
      topology.gpu.memory_bytes_per_s.value *= kFree;
      break;
    case Limit::compute:
      topology.gpu.gemm_flops_per_s.value *= kFree;
      break;
    case Limit::fast_wires:
      make_free(topology.intra);
      break;
    case Limit::network:
      make_free(topology.inter);
      break;
    case Limit::launches:
      topology.gpu.launch_s.value = 0;
      break;
    case Limit::input:
      topology.reader_bytes_per_s.value = 0;  // no limit
      break;
    case Limit::imbalance:
      break;
  }
  return topology;
}

/// The iteration if every rank had the mean rank's work.
double balanced_seconds(const PlanContext& context, const Layout& layout) {
  const LayoutLoads loads = context.loads.of(layout);
  LayoutLoads mean = mean_loads(to_fields(loads), context.topology);
  mean.coded_tables = loads.coded_tables;  // no field
  const Schedule schedule = executor_schedule(context.options.executor, context.options.schedule,
                                              presence_of(context.workload, layout));
  const StepModel model(context.facts, context.topology, context.executor, context.dense);
  std::vector<TimedStep> timed;
  in_seconds(model.steps(schedule, mean), context.topology.intra, context.topology.inter, timed);
  Timeline timeline(schedule, 1, 1, context.topology.gpu.overlap_cost.value);
  return std::max(timeline.run(timed), context.reader_s);
}

std::vector<LimitEffect> limits_of(const PlanContext& context, const Layout& layout,
                                   double iteration_s) {
  std::vector<LimitEffect> effects;
  for (std::size_t l = 0; l < kLimits; ++l) {
    const auto limit = static_cast<Limit>(l);
    const double seconds =
        limit == Limit::imbalance
            ? balanced_seconds(context, layout)
            : *predicted_seconds(context.workload, without(context.topology, limit), layout,
                                 context.options);
    effects.push_back({limit, std::min(seconds, iteration_s)});
  }
  std::stable_sort(effects.begin(), effects.end(), [](const LimitEffect& a, const LimitEffect& b) {
    return a.without_s < b.without_s;
  });
  return effects;
}

TableCost cost_on(const PlanContext& context, const BoardScale& scale, const Layout& layout,
                  std::size_t table, std::int32_t rank) {
  TableCost cost;
  cost.table = static_cast<std::int32_t>(table);
  const TablePlacement& placement = layout.tables[table];
  if (placement.cluster == ClusterType::DP) {
    const ReplicatedLoad load = context.loads.replicated(context.facts.tables[table]);
    const Gpu& gpu = context.topology.gpu;
    const double memory = gpu.memory_bytes_per_s.value;
    cost.lookup_s = load.gather_bytes / (memory * gpu.gather_efficiency.value);
    cost.reduction_s = load.reduce_bytes / (memory * gpu.reduce_efficiency.value) +
                       load.update_bytes / gpu.update_bytes_per_s();
    cost.indexing_s = gpu.sort_bytes_per_key.value * load.keys / memory;
    const double bytes = 2 * load.allreduce_elements * context.facts.wire_bytes;
    const Topology& topology = context.topology;
    const LinkModel& link = topology.domains() > 1 ? topology.inter : topology.intra;
    const double share = topology.domains() > 1 ? 1.0 / topology.fast_domain : 1.0;
    if (topology.ranks() > 1)
      cost.wire_s =
          link.seconds(bytes * share, topology.ranks() - 1) - link.seconds(0, topology.ranks() - 1);
    return cost;
  }
  if (std::find(placement.owners.begin(), placement.owners.end(), rank) == placement.owners.end())
    return cost;
  LayoutLoads loads = context.loads.empty();
  context.loads.add(loads, table, placement, exchange_choice(layout, table), 1);
  const auto r = static_cast<std::size_t>(rank);
  const RankSeconds seconds =
      scale.rank_seconds(placement.cluster == ClusterType::UB ? loads.ub[r] : loads.rb[r]);
  cost.lookup_s = seconds[kLookup];
  cost.reduction_s = seconds[kReduction];
  cost.indexing_s = seconds[kIndexing];
  cost.wire_s = std::max(seconds[kNearWire], seconds[kFarWire]) + seconds[kIdWire];
  return cost;
}

std::vector<TableCost> costs_on(const PlanContext& context, const Layout& layout,
                                std::int32_t rank) {
  const BoardScale scale(context);
  std::vector<TableCost> costs;
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    costs.push_back(cost_on(context, scale, layout, t, rank));
    if (costs.back().total_s() <= 0) costs.pop_back();
  }
  std::stable_sort(costs.begin(), costs.end(), [](const TableCost& a, const TableCost& b) {
    return a.total_s() > b.total_s();
  });
  return costs;
}

std::string ranks_text(std::vector<std::int32_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (!text.empty()) text += ", ";
    text +=
        end - i > 2 ? fmt::format("{}-{}", ranks[i], ranks[end - 1]) : fmt::format("{}", ranks[i]);
    i = end - i > 2 ? end : i + 1;
  }
  return text;
}

bool fits(const PlanContext& context, const Layout& layout, std::size_t table,
          const TablePlacement& placement, Exchange exchange, MemoryLoads& memory) {
  const bool dedup = layout.options(ClusterType::UB).dedup;
  const MemoryModel& model = context.memory;
  model.add(memory, table, layout.tables[table], layout.exchange_of(table), dedup, -1);
  model.add(memory, table, placement, exchange, dedup, 1);
  const bool fit = model.most(memory) <= model.capacity();
  model.add(memory, table, placement, exchange, dedup, -1);
  model.add(memory, table, layout.tables[table], layout.exchange_of(table), dedup, 1);
  return fit;
}

std::vector<SuggestedEdit> best_edits(const PlanContext& context, WhatIf& what_if,
                                      const std::vector<TableCost>& costs, std::int32_t rank) {
  const Layout& layout = what_if.layout();
  const std::vector<FormSet> allowed = legal_forms(context);
  EditMaker maker(context, allowed,
                  std::vector<bool>(static_cast<std::size_t>(layout.ranks), true));
  maker.look(layout);
  MemoryLoads memory = context.memory.of(layout);
  std::vector<SuggestedEdit> edits;
  for (std::size_t i = 0; i < costs.size() && i < kTablesEdited; ++i) {
    const auto table = static_cast<std::size_t>(costs[i].table);
    SuggestedEdit best;
    best.seconds = what_if.seconds() * (1 - kWorthTelling);
    bool found = false;
    for (TablePlacement& placement : maker.edits_of(table, rank)) {
      const Exchange exchange =
          placement.exchange.value_or(layout.options(placement.cluster).exchange);
      if (!fits(context, layout, table, placement, exchange, memory)) continue;
      const double seconds = what_if.try_table(table, placement);
      if (seconds >= best.seconds) continue;
      found = true;
      best.seconds = seconds;
      best.table = costs[i].table;
      best.what = fmt::format("{}: {} instead of {}", context.workload.tables[table].name,
                              describe(placement, exchange),
                              describe(layout.tables[table], layout.exchange_of(table)));
      best.placement = std::move(placement);
    }
    if (found) edits.push_back(std::move(best));
  }
  std::stable_sort(edits.begin(), edits.end(), [](const SuggestedEdit& a, const SuggestedEdit& b) {
    return a.seconds < b.seconds;
  });
  if (edits.size() > kEditsShown) edits.resize(kEditsShown);
  return edits;
}

/// All RB tables exchanged the other way.
void price_other_exchange(const PlanContext& context, Layout layout, Explanation& found) {
  if (context.topology.domains() < 2 || context.options.executor == Executor::torchrec) return;
  bool flat = false, any = false;
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    if (layout.tables[t].cluster != ClusterType::RB) continue;
    any = true;
    flat |= layout.exchange_of(t) == Exchange::flat;
  }
  if (!any) return;
  found.other_exchange = flat ? Exchange::hierarchical : Exchange::flat;
  layout.clusters[static_cast<std::size_t>(ClusterType::RB)].exchange = found.other_exchange;
  for (TablePlacement& table : layout.tables) table.exchange.reset();
  found.other_exchange_s =
      *predicted_seconds(context.workload, context.topology, layout, context.options);
}

std::string verdict_of(const Explanation& found, const Workload& workload) {
  const LimitEffect& first = found.limits.front();
  std::string text = fmt::format(
      "{} binds: without it {:.3f} ms would be {:.3f} ms. Rank {} is waited for, longest in {} {}",
      to_string(first.limit), found.iteration_s * 1e3, first.without_s * 1e3, found.critical_rank,
      to_string(found.critical_work), to_string(found.critical_stage));
  if (!found.costliest.empty())
    text +=
        fmt::format("; its dearest table is {}",
                    workload.tables[static_cast<std::size_t>(found.costliest.front().table)].name);
  return text + ".";
}

}  // namespace

const char* to_string(Limit value) {
  switch (value) {
    case Limit::memory_bandwidth:
      return "memory bandwidth";
    case Limit::compute:
      return "compute";
    case Limit::fast_wires:
      return "fast wires";
    case Limit::network:
      return "network";
    case Limit::launches:
      return "launches";
    case Limit::imbalance:
      return "imbalance";
    case Limit::input:
      return "input";
  }
  return "";
}

std::string describe(const TablePlacement& placement, Exchange exchange) {
  if (placement.cluster == ClusterType::DP) return "DP on every rank";
  std::string cut = "whole";
  if (placement.row_shards > 1 || placement.column_shards() > 1) {
    cut = placement.column_shards() == 1 ? fmt::format("{} row shards", placement.row_shards)
          : placement.row_shards == 1
              ? fmt::format("{} column shards", placement.column_shards())
              : fmt::format("{} row x {} column shards", placement.row_shards,
                            placement.column_shards());
  }
  const std::string how =
      placement.cluster == ClusterType::RB ? std::string(" ") + to_string(exchange) : std::string();
  return fmt::format("{}{}, {} on rank{} {}", to_string(placement.cluster), how, cut,
                     placement.owners.size() > 1 ? "s" : "", ranks_text(placement.owners));
}

Result<Explanation> explain_layout(const Workload& workload, const Topology& topology,
                                   const Layout& layout, const PredictOptions& options) {
  const Result<Prediction> prediction = predict(workload, topology, layout, options);
  if (!prediction) return fail(prediction.error());
  Result<WhatIf> what_if = WhatIf::create(workload, topology, layout, options);
  if (!what_if) return fail(what_if.error());
  const PlanContext context(workload, topology, options);
  Explanation found;
  found.iteration_s = prediction->iteration_s;
  found.critical_rank = prediction->critical_rank;
  found.critical_stage = prediction->critical_stage;
  found.critical_work = prediction->critical_work;
  found.limits = limits_of(context, layout, prediction->iteration_s);
  found.costliest = costs_on(context, layout, prediction->critical_rank);
  found.edits = best_edits(context, *what_if, found.costliest, prediction->critical_rank);
  price_other_exchange(context, layout, found);
  if (found.costliest.size() > kTablesShown) found.costliest.resize(kTablesShown);
  found.verdict = verdict_of(found, workload);
  return found;
}

}  // namespace shardscope
