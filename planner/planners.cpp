#include "planner/planners.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "layout/closest.hpp"
#include "planner/baselines.hpp"
#include "planner/greedy_planners.hpp"
#include "planner/hugectr_planners.hpp"
#include "planner/torchrec_planner.hpp"

namespace shardscope {

namespace {

using Maker = Result<NamedPlan> (*)(const Workload&, const Topology&, const PlanSettings&);

template <const char* Name>
Result<NamedPlan> greedy_by_name(const Workload& workload, const Topology& topology,
                                 const PlanSettings& settings) {
  return greedy_plan(Name, workload, topology, settings);
}

constexpr char kDim[] = "dim", kSize[] = "size", kLookup[] = "lookup",
               kSizeLookup[] = "size_lookup";

constexpr std::pair<const char*, Maker> kMakers[] = {
    {kDim, greedy_by_name<kDim>},
    {kSize, greedy_by_name<kSize>},
    {kLookup, greedy_by_name<kLookup>},
    {kSizeLookup, greedy_by_name<kSizeLookup>},
    {"mlperf", [](const Workload& w, const Topology& t,
                  const PlanSettings& s) { return mlperf_plan(w, t, false, s); }},
    {"mlperf-hier", [](const Workload& w, const Topology& t,
                       const PlanSettings& s) { return mlperf_plan(w, t, true, s); }},
    {"embark", [](const Workload& w, const Topology& t,
                  const PlanSettings& s) { return embark_plan(w, t, false, s); }},
    {"embark-hier", [](const Workload& w, const Topology& t,
                       const PlanSettings& s) { return embark_plan(w, t, true, s); }},
    {"torchrec", torchrec_plan},
};

/// Tables of every rank, as the layout has them.
std::vector<std::vector<std::int32_t>> matrix_of_layout(const Layout& layout) {
  std::vector<std::vector<std::int32_t>> matrix(static_cast<std::size_t>(layout.ranks));
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    std::vector<bool> holds(matrix.size(), layout.tables[t].cluster == ClusterType::DP);
    for (const std::int32_t owner : layout.tables[t].owners)
      holds[static_cast<std::size_t>(owner)] = true;
    for (std::size_t r = 0; r < matrix.size(); ++r)
      if (holds[r]) matrix[r].push_back(static_cast<std::int32_t>(t));
  }
  return matrix;
}

}  // namespace

std::vector<std::string> named_planners() {
  std::vector<std::string> names = baseline_names();
  for (const auto& [name, maker] : kMakers) names.emplace_back(name);
  return names;
}

Result<NamedPlan> named_plan(std::string_view name, const Workload& workload,
                             const Topology& topology, const PlanSettings& settings) {
  for (const auto& [known, maker] : kMakers)
    if (name == known) return maker(workload, topology, settings);
  std::vector<std::string> names = named_planners();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    names.emplace_back("optimize");
    const std::string meant = closest_name(name, names);
    return fail({ErrorKind::usage, fmt::format("there is no planner '{}'", name), "--planner",
                 fmt::format("{}", fmt::join(names, ", ")),
                 meant.empty() ? "" : fmt::format("Did you mean {}?", meant)});
  }
  if (Status status = only_settings(settings, {}, std::string(name)); !status)
    return fail(status.error());
  Result<Layout> layout = baseline(name, workload, topology);
  if (!layout) return fail(layout.error());
  NamedPlan plan;
  plan.matrix = matrix_of_layout(*layout);
  for (const TablePlacement& table : layout->tables)
    plan.column_factors.push_back(table.column_shards());
  plan.layout = std::move(*layout);
  return plan;
}

}  // namespace shardscope
