#include "planner/hugectr_planners.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "planner/split_search.hpp"

namespace shardscope {

namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
constexpr double kGb = 1e9;

/// Ids a sample of each table (HugeCTR has one lookup a table).
std::vector<double> hotness_of(const Workload& workload) {
  std::vector<double> hotness(workload.tables.size(), 0.0);
  for (const Feature& feature : workload.features)
    hotness[static_cast<std::size_t>(feature.table)] +=
        feature.num_poolings * feature.hotness.mean();
  return hotness;
}

Result<double> bytes_an_element(const Workload& workload, const PlanSettings& settings) {
  const auto found = settings.find("optimizer");
  if (found != settings.end()) {
    if (found->second == "adagrad") return 8.0;
    if (found->second == "sgd") return 4.0;
    return fail({ErrorKind::usage,
                 fmt::format("HugeCTR's planners do not know the optimizer '{}'", found->second),
                 "--set optimizer", "adagrad or sgd", ""});
  }
  if (workload.tables.empty()) return 4.0;
  return 4.0 + 4.0 * workload.tables.front().optimizer.words_per_element;
}

Error out_of_memory(const std::string& planner, double cap_gib) {
  return {
      ErrorKind::infeasible,
      fmt::format("{} cannot fit the tables even when every rank holds a part of each", planner),
      "", fmt::format("at most {:.1f} GB of embeddings a rank", cap_gib),
      "Raise memory_cap_gib, lower the DP threshold, or use more ranks"};
}

Status refuse_one_domain(bool hierarchical, const Topology& topology, const std::string& planner) {
  if (!hierarchical || topology.domains() > 1) return {};
  return fail({ErrorKind::usage, fmt::format("{} needs more than one fast domain", planner),
               topology.name, "a topology of several hosts",
               "Use the planner without -hier on one host"});
}

struct Numbers {
  double bandwidth_ratio = 0, work_ratio = 4, cap = 60, element_bytes = 8;
};

Result<Numbers> numbers_of(const Workload& workload, const PlanSettings& settings,
                           double bandwidth_ratio) {
  const auto bandwidth = number_setting(settings, "mem_comm_bw_ratio", bandwidth_ratio);
  if (!bandwidth) return fail(bandwidth.error());
  const auto work = number_setting(settings, "mem_comm_work_ratio", 4);
  if (!work) return fail(work.error());
  const auto cap = number_setting(settings, "memory_cap_gib", 60);
  if (!cap) return fail(cap.error());
  const auto bytes = bytes_an_element(workload, settings);
  if (!bytes) return fail(bytes.error());
  return Numbers{*bandwidth, *work, *cap, *bytes};
}

/// Ranks from buckets: themselves, or every rank of a domain.
std::vector<std::vector<std::int32_t>> matrix_of(
    const std::vector<std::vector<std::int32_t>>& buckets, const std::vector<std::int32_t>& ids,
    const Topology& topology, bool hierarchical) {
  std::vector<std::vector<std::int32_t>> matrix(static_cast<std::size_t>(topology.ranks()));
  for (std::int32_t rank = 0; rank < topology.ranks(); ++rank) {
    const std::int32_t bucket = hierarchical ? topology.domain_of(rank) : rank;
    for (const std::int32_t position : buckets[static_cast<std::size_t>(bucket)])
      matrix[static_cast<std::size_t>(rank)].push_back(ids[static_cast<std::size_t>(position)]);
  }
  return matrix;
}

/// Column factor of each table of the workload, from those of the planned ones.
std::vector<std::int32_t> factors_of(std::size_t tables, const std::vector<std::int32_t>& ids,
                                     const std::vector<std::int32_t>& planned) {
  std::vector<std::int32_t> factors(tables, 1);
  for (std::size_t i = 0; i < ids.size(); ++i)
    factors[static_cast<std::size_t>(ids[i])] = planned[i];
  return factors;
}

Result<NamedPlan> finished(NamedPlan plan, const Workload& workload, const Topology& topology,
                           const std::string& name, bool hierarchical,
                           const std::vector<bool>& replicated,
                           const std::vector<bool>& by_unique) {
  Result<Layout> layout = layout_of_matrix(workload, topology.ranks(), plan.matrix,
                                           plan.column_factors, replicated, by_unique);
  if (!layout) return fail(layout.error());
  plan.layout = std::move(*layout);
  plan.layout.name = name;
  plan.layout.clusters[static_cast<std::size_t>(ClusterType::RB)].exchange =
      hierarchical ? Exchange::hierarchical : Exchange::flat;
  return plan;
}

/// The `count` first tables of `from` in ascending order of `key`; ties keep their order.
template <class Key>
std::vector<std::int32_t> take_smallest(std::vector<std::int32_t>& from, double count, Key key) {
  std::vector<std::int32_t> sorted = from;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](std::int32_t a, std::int32_t b) { return key(a) < key(b); });
  if (static_cast<double>(sorted.size()) > count)
    sorted.resize(static_cast<std::size_t>(std::max(0.0, count)));
  std::erase_if(from, [&](std::int32_t table) {
    return std::find(sorted.begin(), sorted.end(), table) != sorted.end();
  });
  return sorted;
}

std::vector<bool> marked(std::size_t tables, const std::vector<std::int32_t>& ids) {
  std::vector<bool> marks(tables);
  for (const std::int32_t id : ids) marks[static_cast<std::size_t>(id)] = true;
  return marks;
}

}  // namespace

Result<Layout> layout_of_matrix(const Workload& workload, std::int32_t ranks,
                                const std::vector<std::vector<std::int32_t>>& matrix,
                                const std::vector<std::int32_t>& column_factors,
                                const std::vector<bool>& replicated,
                                const std::vector<bool>& by_unique) {
  Layout layout;
  layout.ranks = ranks;
  std::vector<std::vector<std::int32_t>> owners(workload.tables.size());
  for (std::size_t rank = 0; rank < matrix.size(); ++rank)
    for (const std::int32_t table : matrix[rank])
      owners[static_cast<std::size_t>(table)].push_back(static_cast<std::int32_t>(rank));
  for (std::size_t t = 0; t < workload.tables.size(); ++t) {
    const Table& table = workload.tables[t];
    layout.table_names.push_back(table.name);
    if (replicated[t]) {
      layout.tables.push_back(data_parallel(table));
      continue;
    }
    const std::int32_t columns = column_factors[t];
    const auto count = static_cast<std::int32_t>(owners[t].size());
    if (count == 0 || columns < 1 || count % columns != 0 || table.dim % columns != 0) {
      return fail({ErrorKind::usage,
                   fmt::format("{} ranks hold the table in {} column shards", count, columns),
                   fmt::format("table {}", table.name),
                   "column shards that divide the ranks and the table's columns", ""});
    }
    TablePlacement placement;
    placement.cluster = by_unique[t] ? ClusterType::UB : ClusterType::RB;
    placement.row_shards = count / columns;
    for (std::int32_t k = 0; k <= columns; ++k)
      placement.column_cuts.push_back(k * (table.dim / columns));
    for (std::int32_t j = 0; j < placement.row_shards; ++j)
      for (std::int32_t k = 0; k < columns; ++k)
        placement.owners.push_back(
            owners[t][static_cast<std::size_t>(k * placement.row_shards + j)]);
    layout.tables.push_back(std::move(placement));
  }
  return layout;
}

Result<NamedPlan> mlperf_plan(const Workload& workload, const Topology& topology, bool hierarchical,
                              const PlanSettings& settings) {
  const std::string name = hierarchical ? "mlperf-hier" : "mlperf";
  if (Status status = only_settings(settings,
                                    {"mem_comm_bw_ratio", "mem_comm_work_ratio", "dp_threshold_gb",
                                     "memory_cap_gib", "optimizer"},
                                    name);
      !status)
    return fail(status.error());
  if (Status status = refuse_one_domain(hierarchical, topology, name); !status)
    return fail(status.error());
  const Result<Numbers> numbers = numbers_of(workload, settings, 3.35e12 / 450e9);
  if (!numbers) return fail(numbers.error());
  const Result<double> threshold = number_setting(settings, "dp_threshold_gb", 0);
  if (!threshold) return fail(threshold.error());

  const std::vector<double> hotness = hotness_of(workload);
  const double scale = hierarchical ? topology.fast_domain : 1;
  std::vector<std::int32_t> replicated, planned;
  std::vector<SplitTable> all, tables;
  double replicated_gb = 0;
  for (std::size_t t = 0; t < workload.tables.size(); ++t) {
    const Table& table = workload.tables[t];
    const double gb = static_cast<double>(table.rows) * table.dim * numbers->element_bytes / kGb;
    all.push_back({hotness[t], static_cast<double>(table.dim), gb});
    if (gb < *threshold) {
      replicated.push_back(static_cast<std::int32_t>(t));
      replicated_gb += gb;
    } else {
      planned.push_back(static_cast<std::int32_t>(t));
      tables.push_back(all.back());
    }
  }
  SplitRules rules;
  rules.buckets = hierarchical ? topology.domains() : topology.ranks();
  rules.widths_count = false;
  rules.exchange_weight = numbers->bandwidth_ratio / numbers->work_ratio;
  rules.memory_cap = numbers->cap * scale - replicated_gb;
  const SplitResult found = split_search(tables, rules);
  if (!found.feasible) return fail(out_of_memory(name, numbers->cap));

  NamedPlan plan;
  plan.cost = found.cost;
  plan.cost_unit = "ids a sample";
  plan.bucket_cost = found.bucket_cost;
  plan.matrix = matrix_of(found.buckets, planned, topology, hierarchical);
  for (std::vector<std::int32_t>& rank : plan.matrix)
    rank.insert(rank.end(), replicated.begin(), replicated.end());
  plan.column_factors.assign(workload.tables.size(), 1);
  return finished(std::move(plan), workload, topology, name, hierarchical,
                  marked(workload.tables.size(), replicated),
                  std::vector<bool>(workload.tables.size()));
}

Result<NamedPlan> embark_plan(const Workload& workload, const Topology& topology, bool hierarchical,
                              const PlanSettings& settings) {
  const std::string name = hierarchical ? "embark-hier" : "embark";
  if (Status status =
          only_settings(settings,
                        {"mem_comm_bw_ratio", "mem_comm_work_ratio", "dp_threshold",
                         "dense_threshold", "memory_cap_gib", "column_wise", "optimizer"},
                        name);
      !status)
    return fail(status.error());
  if (Status status = refuse_one_domain(hierarchical, topology, name); !status)
    return fail(status.error());
  const Result<Numbers> numbers = numbers_of(workload, settings, 80);
  if (!numbers) return fail(numbers.error());
  const Result<double> dp_count = number_setting(settings, "dp_threshold", 0);
  if (!dp_count) return fail(dp_count.error());
  const Result<double> ub_count = number_setting(settings, "dense_threshold", 0);
  if (!ub_count) return fail(ub_count.error());
  const Result<bool> columns = flag_setting(settings, "column_wise", false);
  if (!columns) return fail(columns.error());

  const std::vector<double> hotness = hotness_of(workload);
  const auto elements = [&](std::int32_t t) {
    const Table& table = workload.tables[static_cast<std::size_t>(t)];
    return static_cast<double>(table.rows) * table.dim;
  };
  const auto hot = [&](std::int32_t t) { return hotness[static_cast<std::size_t>(t)]; };
  std::vector<std::int32_t> rest;
  for (std::size_t t = 0; t < workload.tables.size(); ++t)
    rest.push_back(static_cast<std::int32_t>(t));
  const std::vector<std::int32_t> replicated = take_smallest(
      rest, *dp_count, [&](std::int32_t t) { return std::pair(elements(t), -hot(t)); });
  const std::vector<std::int32_t> by_unique = take_smallest(
      rest, *ub_count, [&](std::int32_t t) { return std::pair(hot(t), elements(t)); });

  double cap = numbers->cap;
  const auto gib = [&](std::int32_t t) { return elements(t) * numbers->element_bytes / kGib; };
  for (const std::int32_t t : replicated) cap -= gib(t);
  for (const std::int32_t t : by_unique) cap -= gib(t) / topology.ranks();

  std::vector<SplitTable> tables;
  for (const std::int32_t t : rest)
    tables.push_back(
        {hot(t), static_cast<double>(workload.tables[static_cast<std::size_t>(t)].dim), gib(t)});
  const auto batch = static_cast<double>(workload.global_batch);
  const double g = topology.fast_domain;
  SplitRules rules;
  rules.buckets = hierarchical ? topology.domains() : topology.ranks();
  rules.memory_cap = hierarchical ? cap * g : cap;
  rules.order_lookup_weight = numbers->work_ratio * batch;
  rules.order_exchange_weight = numbers->bandwidth_ratio * batch;
  // Hierarchical: a domain's ranks share the work; the second hop counts as half of the first.
  rules.lookup_weight = rules.order_lookup_weight / (hierarchical ? g : 1);
  rules.exchange_weight = rules.order_exchange_weight * (hierarchical ? 1.5 / g : 1);
  rules.split_exchange_weight = 80;
  rules.reorder_for_split = true;
  rules.columns = *columns;
  rules.oom_splits_columns = true;

  NamedPlan plan;
  plan.cost_unit = "elements";
  plan.matrix.resize(static_cast<std::size_t>(topology.ranks()));
  plan.column_factors.assign(workload.tables.size(), 1);
  if (!rest.empty()) {
    const SplitResult found = split_search(tables, rules);
    if (!found.feasible) return fail(out_of_memory(name, numbers->cap));
    plan.cost = found.cost;
    plan.bucket_cost = found.bucket_cost;
    plan.matrix = matrix_of(found.buckets, rest, topology, hierarchical);
    plan.column_factors = factors_of(workload.tables.size(), rest, found.column_factors);
  }
  for (std::vector<std::int32_t>& rank : plan.matrix) {
    rank.insert(rank.begin(), by_unique.begin(), by_unique.end());
    rank.insert(rank.begin(), replicated.begin(), replicated.end());
  }
  return finished(std::move(plan), workload, topology, name, hierarchical,
                  marked(workload.tables.size(), replicated),
                  marked(workload.tables.size(), by_unique));
}

}  // namespace shardscope
