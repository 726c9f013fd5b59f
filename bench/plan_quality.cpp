// How good plans are and how long they take: optimize against every baseline and against its bound
// on the built-in models and dgx-h100 clusters. Run it as `plan_quality [speed|gap|speedup|sweep]`;
// figures and how to read them: docs/measurements.md.

#include <sys/resource.h>

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "layout/check.hpp"
#include "layout/models.hpp"
#include "planner/baselines.hpp"
#include "planner/optimize.hpp"
#include "planner/plan_context.hpp"
#include "planner/planners.hpp"
#include "planner/what_if.hpp"

namespace {

using shardscope::Exchange;
using shardscope::Layout;
using shardscope::OptimizedPlan;
using shardscope::PredictOptions;
using shardscope::ScheduleKind;
using shardscope::Topology;
using shardscope::Workload;

constexpr PredictOptions kPredict{.executor = shardscope::Executor::hugectr,
                                  .schedule = ScheduleKind::inter};

double peak_gib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / (1 << 20);
}

/// T510's tables once more and once more, under new names, until there are `tables`.
Workload many_tables(std::size_t tables, std::int64_t batch) {
  const Workload one = *shardscope::model_by_name("t510");
  Workload many = one;
  many.name = fmt::format("{} tables", tables);
  many.global_batch = batch;
  many.wire = shardscope::DType::fp16;
  many.tables.clear();
  many.features.clear();
  for (std::size_t t = 0; t < tables; ++t) {
    const std::size_t from = t % one.tables.size();
    many.tables.push_back(one.tables[from]);
    many.tables.back().name = fmt::format("{}.{}", one.tables[from].name, t / one.tables.size());
    for (const shardscope::Feature& feature : one.features) {
      if (feature.table != static_cast<std::int32_t>(from)) continue;
      many.features.push_back(feature);
      many.features.back().table = static_cast<std::int32_t>(t);
      many.features.back().name = fmt::format("{}.{}", feature.name, t / one.tables.size());
    }
  }
  return many;
}

void print_speed(const char* name, const Workload& workload, const Topology& topology) {
  const std::clock_t begin = std::clock();
  const auto plan = shardscope::optimize(workload, topology, {.predict = kPredict});
  const double busy_s = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  if (!plan) {
    fmt::print("{:28} {}\n", name, plan.error().what);
    return;
  }
  fmt::print(
      "{:22} {:8.3f} ms  bound {:8.3f} ms  gap {:5.2f} %  wall {:6.3f} s  cpu {:6.3f} s  peak "
      "{:.2f} GiB\n",
      name, plan->seconds * 1e3, plan->lower_bound_s * 1e3, plan->gap * 100, plan->elapsed_s,
      busy_s, peak_gib());
}

void print_torchrec(const char* name, const Workload& workload, const Topology& topology) {
  const std::clock_t begin = std::clock();
  const auto plan = shardscope::named_plan("torchrec", workload, topology, {});
  const double busy_s = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  fmt::print("{:22} {} in {:.3f} s of cpu\n", name,
             plan ? fmt::format("{:.3f} ms by its own estimate", plan->cost) : plan.error().what,
             busy_s);
}

/// Mean time of an edit: one shard to another rank.
void print_edits(const char* name, const Workload& workload, const Topology& topology) {
  const Layout layout = *shardscope::baseline("round_robin", workload, topology);
  auto what_if = shardscope::WhatIf::create(workload, topology, layout, kPredict);
  constexpr int kEdits = 300;
  const std::clock_t begin = std::clock();
  for (int edit = 0; edit < kEdits; ++edit) {
    const auto table = static_cast<std::size_t>(edit) % workload.tables.size();
    what_if->move_shard(table, 0, 0, (edit * 37) % topology.ranks());
  }
  const double busy_s = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  fmt::print("{:22} a shard moved and priced anew in {:.3f} ms of cpu\n", name,
             busy_s / kEdits * 1e3);
}

void speed() {
  Workload t510 = *shardscope::model_by_name("t510");
  t510.wire = shardscope::DType::fp16;
  print_speed("t510 on 16x8", t510, *shardscope::topology_by_name("dgx-h100:16"));
  const Workload many = many_tables(2000, 524288);
  const Topology large = *shardscope::topology_by_name("dgx-h100:128");
  print_speed("2,000 tables on 128x8", many, large);
  print_torchrec("TorchRec's planner there", many, large);
  print_edits("t510 on 16x8", t510, *shardscope::topology_by_name("dgx-h100:16"));
  print_edits("2,000 tables on 128x8", many, large);
}

/// Forms that a layout's tables take.
shardscope::FormSet forms_of(const Layout& layout, std::vector<shardscope::TableForm>& forms) {
  using shardscope::TableForm;
  shardscope::FormSet present = 0;
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    const shardscope::ClusterType cluster = layout.tables[t].cluster;
    const bool flat = layout.exchange_of(t) == Exchange::flat;
    forms.push_back(cluster == shardscope::ClusterType::DP   ? TableForm::replicated
                    : cluster == shardscope::ClusterType::UB ? TableForm::by_unique
                    : flat                                   ? TableForm::flat
                                                             : TableForm::hierarchical);
    present |= form_bit(forms.back());
  }
  return present;
}

/// What lies between a plan and its bound, one idealisation after the other.
void print_gap(const char* name, const Workload& workload, const Topology& topology) {
  const auto plan = shardscope::optimize(workload, topology, {.predict = kPredict});
  if (!plan) return;
  const shardscope::PlanContext context(workload, topology, kPredict);
  std::vector<shardscope::TableForm> forms;
  const shardscope::FormSet present = forms_of(plan->layout, forms);
  const shardscope::Schedule schedule = context.schedule_for(present);
  const shardscope::StepModel steps(context.facts, context.topology, context.executor,
                                    context.dense);
  const double overlap = topology.gpu.overlap_cost.value;
  const auto run = [&](const shardscope::LayoutLoads& loads, shardscope::WireSharing sharing) {
    std::vector<shardscope::TimedStep> timed;
    in_seconds(steps.steps(schedule, loads), topology.intra, topology.inter, timed);
    const bool one = loads.rb.size() == 1;
    shardscope::Timeline timeline(schedule, one ? 1 : topology.ranks(),
                                  one ? 1 : topology.fast_domain, overlap, sharing);
    return timeline.run(timed);
  };
  const shardscope::LayoutLoads loads = context.loads.of(plan->layout);
  shardscope::LayoutLoads mean = mean_loads(to_fields(loads), topology);
  mean.flat_tables = loads.flat_tables;
  mean.hierarchical_tables = loads.hierarchical_tables;
  const auto wired = [&](const shardscope::LoadFields& sums) {
    double least = 0;
    for (const auto wire_case : shardscope::kWireCases) {
      shardscope::MeanIteration iteration(context.facts, topology, context.executor, context.dense,
                                          schedule, present, wire_case);
      const double seconds = iteration.seconds(sums);
      least = least > 0 ? std::min(least, seconds) : seconds;
    }
    return least;
  };
  const shardscope::LoadModel generous = context.loads.without_cut_losses();
  const auto groups = group_tables(generous, topology, legal_forms(context), {});
  shardscope::LoadFields uncut(shardscope::load_field_count(), 0.0);
  for (const shardscope::TableGroup& group : groups)
    for (const std::int32_t t : group.tables)
      for (std::size_t i = 0; i < uncut.size(); ++i)
        uncut[i] += group.sums[static_cast<std::size_t>(forms[static_cast<std::size_t>(t)])][i];
  const auto bound = lower_bound(context);
  double same_forms = 0;
  for (const auto& mixture : bound.mixtures)
    if (mixture.present == present) same_forms = mixture.seconds;
  const auto count = [&](shardscope::TableForm form) {
    return std::count(forms.begin(), forms.end(), form);
  };
  using shardscope::TableForm;
  fmt::print("{}: {} tables replicated, {} flat, {} hierarchical, {} by unique rows\n", name,
             count(TableForm::replicated), count(TableForm::flat), count(TableForm::hierarchical),
             count(TableForm::by_unique));
  const auto line = [](const char* what, double seconds) {
    fmt::print("  {:58} {:9.3f} ms\n", what, seconds * 1e3);
  };
  line("plan", plan->seconds);
  line("its iteration if no wire were shared", run(loads, shardscope::WireSharing::known));
  line("spread evenly over the ranks", run(mean, shardscope::WireSharing::priced));
  line("spread evenly, no wire shared", run(mean, shardscope::WireSharing::known));
  line("spread evenly, wires as the bound shares them", wired(to_fields(loads)));
  line("the same, nothing cut and every repeated row cached", wired(uncut));
  line("bound of these forms", same_forms);
  line("bound", bound.seconds);
}

void gaps() {
  Workload t510 = *shardscope::model_by_name("t510");
  t510.wire = shardscope::DType::fp16;
  print_gap("t510 on 16x8", t510, *shardscope::topology_by_name("dgx-h100:16"));
  print_gap("2,000 tables on 128x8", many_tables(2000, 524288),
            *shardscope::topology_by_name("dgx-h100:128"));
}

double seconds_of(const Workload& workload, const Topology& topology, Layout layout,
                  Exchange exchange, ScheduleKind schedule) {
  layout.clusters[static_cast<std::size_t>(shardscope::ClusterType::RB)].exchange = exchange;
  for (auto& table : layout.tables) table.exchange.reset();
  return *shardscope::predicted_seconds(workload, topology, layout,
                                        {.executor = kPredict.executor, .schedule = schedule});
}

/// optimize over table_row_wise at 16x8 and batch 65,536, as EMBark publishes its speedups.
void speedup() {
  const Topology topology = *shardscope::topology_by_name("dgx-h100:16");
  fmt::print("{:10} {:>10} {:>10} {:>8} {:>8} {:>8} {:>14} {:>14}\n", "model", "plan ms",
             "bound ms", "flat", "hier", "serial", "hier at most", "serial at most");
  double flat = 0, hierarchical = 0, serial = 0, most = 0, most_serial = 0;
  const std::vector<std::string> names = {"dcnv2", "t180", "t200", "t510"};
  for (const std::string& name : names) {
    Workload workload = *shardscope::model_by_name(name);
    workload.global_batch = 65536;
    workload.wire = shardscope::DType::fp16;
    const Layout rows = *shardscope::baseline("table_row_wise", workload, topology);
    const OptimizedPlan plan =
        *shardscope::optimize(workload, topology, {.predict = kPredict, .effort = 4});
    const auto over = [&](Exchange exchange, ScheduleKind schedule) {
      return seconds_of(workload, topology, rows, exchange, schedule);
    };
    const double a = over(Exchange::flat, ScheduleKind::inter) / plan.seconds;
    const double b = over(Exchange::hierarchical, ScheduleKind::inter) / plan.seconds;
    const double c = over(Exchange::hierarchical, ScheduleKind::serial) / plan.seconds;
    const double d = b * (1 + plan.gap);
    const double e = c * (1 + plan.gap);
    fmt::print("{:10} {:10.3f} {:10.3f} {:8.3f} {:8.3f} {:8.3f} {:14.3f} {:14.3f}\n", name,
               plan.seconds * 1e3, plan.lower_bound_s * 1e3, a, b, c, d, e);
    const auto share = static_cast<double>(names.size());
    flat += a / share;
    hierarchical += b / share;
    serial += c / share;
    most += d / share;
    most_serial += e / share;
  }
  fmt::print("{:10} {:>10} {:>10} {:8.3f} {:8.3f} {:8.3f} {:14.3f} {:14.3f}\n", "mean", "", "",
             flat, hierarchical, serial, most, most_serial);
}

/// Every model on 1 to 16 nodes: the best baseline that fits beside the plan.
void sweep() {
  fmt::print("{:16} {:>5} {:>10} {:>10} {:>7} {:>9}  {}\n", "model", "nodes", "plan ms", "bound ms",
             "gap %", "seconds", "best baseline");
  for (const std::string& name : shardscope::model_names()) {
    for (const int nodes : {1, 2, 4, 8, 16}) {
      const Workload workload = *shardscope::model_by_name(name);
      const Topology topology = *shardscope::topology_by_name(fmt::format("dgx-h100:{}", nodes));
      const auto plan = shardscope::optimize(workload, topology, {.predict = kPredict});
      if (!plan) {
        fmt::print("{:16} {:5} does not fit\n", name, nodes);
        continue;
      }
      std::string best = "none fits";
      double least = 0;
      for (const std::string& planner : shardscope::named_planners()) {
        const auto named = shardscope::named_plan(planner, workload, topology, {});
        if (!named || has_errors(check(workload, topology, named->layout, kPredict.executor)))
          continue;
        const double seconds =
            *shardscope::predicted_seconds(workload, topology, named->layout, kPredict);
        if (least > 0 && seconds >= least) continue;
        least = seconds;
        best =
            fmt::format("{} {:.3f} ms ({:.2f}x)", planner, seconds * 1e3, seconds / plan->seconds);
      }
      fmt::print("{:16} {:5} {:10.3f} {:10.3f} {:7.2f} {:9.3f}  {}\n", name, nodes,
                 plan->seconds * 1e3, plan->lower_bound_s * 1e3, plan->gap * 100, plan->elapsed_s,
                 best);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "speed";
  if (what == "speed") speed();
  if (what == "gap") gaps();
  if (what == "speedup") speedup();
  if (what == "sweep") sweep();
  return what == "speed" || what == "gap" || what == "speedup" || what == "sweep" ? 0 : 1;
}
