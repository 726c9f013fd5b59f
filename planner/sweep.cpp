#include "planner/sweep.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "layout/check.hpp"
#include "layout/memory.hpp"
#include "layout/names.hpp"
#include "planner/bound.hpp"
#include "planner/executor_form.hpp"
#include "planner/optimize.hpp"
#include "planner/planners.hpp"

namespace shardscope {

namespace {

/// One model on one machine, ready to plan.
struct SweepSetting {
  Workload workload;
  Topology topology;
  SweepCase what;
};

template <class Value>
std::vector<std::optional<Value>> values_or_none(const std::vector<Value>& values) {
  if (values.empty()) return {std::nullopt};
  return {values.begin(), values.end()};
}

template <class Of>
std::string common_name(const std::vector<Table>& tables, Of name) {
  std::string first = tables.empty() ? "none" : name(tables.front());
  for (const Table& table : tables)
    if (name(table) != first) return "mixed";
  return first;
}

void describe(SweepSetting& setting) {
  SweepCase& what = setting.what;
  what.nodes = setting.topology.hosts;
  what.gpus = setting.topology.ranks();
  what.batch = setting.workload.global_batch;
  what.wire = setting.workload.wire;
  what.optimizer = common_name(setting.workload.tables, [](const Table& table) {
    return std::string(to_string(table.optimizer.kind));
  });
  what.dtype = common_name(setting.workload.tables,
                           [](const Table& table) { return std::string(to_string(table.dtype)); });
}

std::string name_on(const Topology& topology, std::int32_t nodes) {
  return topology.name.substr(0, topology.name.find(':')) + ":" + std::to_string(nodes);
}

std::vector<SweepSetting> settings_of(const Workload& workload, const Topology& topology,
                                      const SweepAxes& axes) {
  const std::vector<std::string> planners =
      axes.planners.empty() ? std::vector<std::string>{"optimize"} : axes.planners;
  std::vector<SweepSetting> settings;
  for (const auto& nodes : values_or_none(axes.nodes))
    for (const auto& batch : values_or_none(axes.batches))
      for (const std::string& planner : planners)
        for (const auto& optimizer : values_or_none(axes.optimizers))
          for (const auto& dtype : values_or_none(axes.dtypes))
            for (const auto& wire : values_or_none(axes.wires)) {
              SweepSetting one{workload, topology, {}};
              if (nodes && *nodes != topology.hosts) {
                one.topology.hosts = *nodes;
                one.topology.name = name_on(topology, *nodes);
              }
              if (batch) one.workload.global_batch = *batch;
              if (wire) one.workload.wire = *wire;
              for (Table& table : one.workload.tables) {
                if (optimizer)
                  table.optimizer = make_optimizer(*optimizer, table.optimizer.learning_rate);
                if (dtype) table.dtype = *dtype;
              }
              one.what.planner = planner;
              describe(one);
              settings.push_back(std::move(one));
            }
  return settings;
}

/// First error of a check, as the reason of a row.
const Violation* first_error_of(const std::vector<Violation>& violations) {
  const auto found = std::find_if(violations.begin(), violations.end(), [](const Violation& one) {
    return one.severity == Severity::error;
  });
  return found == violations.end() ? nullptr : &*found;
}

/// A layout by the setting's planner, its bound beside it.
Result<Layout> plan_one(const SweepSetting& setting, const PredictOptions& options,
                        const std::function<bool()>& go_on, SweepRow& row) {
  if (setting.what.planner == "optimize") {
    OptimizeOptions request;
    request.predict = options;
    request.progress = [&](const OptimizeProgress&) { return go_on(); };
    Result<OptimizedPlan> plan = optimize(setting.workload, setting.topology, request);
    if (!plan) return fail(plan.error());
    row.lower_bound_s = plan->lower_bound_s;
    return std::move(plan->layout);
  }
  Result<NamedPlan> plan = named_plan(setting.what.planner, setting.workload, setting.topology, {});
  if (!plan) return fail(plan.error());
  row.lower_bound_s = lower_bound(PlanContext(setting.workload, setting.topology, options)).seconds;
  return std::move(plan->layout);
}

SweepRow row_of(const SweepSetting& setting, const PredictOptions& options,
                const std::function<bool()>& go_on) {
  SweepRow row;
  row.what = setting.what;
  if (setting.workload.global_batch < setting.topology.ranks()) {
    row.why_not = "a batch with fewer samples than GPUs";
    return row;
  }
  if (setting.topology.ranks() % setting.topology.fast_domain != 0) {
    row.why_not = "the fast domain does not divide the GPUs";
    return row;
  }
  const auto begin = std::chrono::steady_clock::now();
  const Result<Layout> layout = plan_one(setting, options, go_on, row);
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!layout) {
    row.why_not = layout.error().what;
    return row;
  }
  const std::vector<Violation> violations =
      check(setting.workload, setting.topology, *layout, options.executor);
  if (const Violation* error = first_error_of(violations)) {
    row.why_not = error->message;
    return row;
  }
  const Result<Prediction> prediction =
      predict(setting.workload, setting.topology, *layout, options);
  if (!prediction) {
    row.why_not = prediction.error().what;
    return row;
  }
  row.fits = true;
  row.predicted_s = prediction->iteration_s;
  row.low_s = prediction->low_s;
  row.high_s = prediction->high_s;
  row.samples_per_s = prediction->samples_per_s;
  row.trust = to_string(prediction->trust);
  if (row.lower_bound_s > 0) row.gap = row.predicted_s / row.lower_bound_s - 1;
  for (const MemoryUse& use :
       memory_of(setting.workload, setting.topology, *layout, options.executor).gpus)
    row.memory_bytes = std::max(row.memory_bytes, static_cast<double>(use.total()));
  return row;
}

}  // namespace

std::size_t sweep_size(const SweepAxes& axes) {
  const auto count = [](const auto& values) { return std::max<std::size_t>(1, values.size()); };
  return count(axes.nodes) * count(axes.batches) * count(axes.planners) * count(axes.optimizers) *
         count(axes.dtypes) * count(axes.wires);
}

Result<std::size_t> sweep(const Workload& workload, const Topology& topology,
                          const PredictOptions& options, const SweepAxes& axes,
                          const std::function<void(const SweepRow&)>& row,
                          const std::function<bool()>& go_on) {
  const std::vector<std::string> known = named_planners();
  for (const std::string& planner : axes.planners)
    if (planner != "optimize" && std::find(known.begin(), known.end(), planner) == known.end())
      return fail(named_plan(planner, workload, topology, {}).error());
  std::size_t done = 0;
  for (const SweepSetting& setting : settings_of(workload, topology, axes)) {
    if (!go_on()) break;
    const SweepRow one = row_of(setting, options, go_on);
    if (!go_on()) break;
    row(one);
    ++done;
  }
  return done;
}

}  // namespace shardscope
