#include "planner/what_if.hpp"

#include <algorithm>
#include <utility>

#include "layout/invariant.hpp"
#include "planner/dense_cost.hpp"
#include "planner/executor_model.hpp"
#include "planner/layout_loads.hpp"
#include "planner/step_loads.hpp"
#include "planner/table_facts.hpp"
#include "planner/timeline.hpp"
#include "planner/trust.hpp"

namespace shardscope {

namespace {

/// Sums gather rounding errors of about 1e-16 an edit; a fresh sum now and then keeps them there.
constexpr int kEditsBeforeFreshSums = 4096;

}  // namespace

struct WhatIf::State {
  State(const Workload& w, const Topology& t, Layout l, const PredictOptions& o)
      : State(w, t, std::move(l), o, workload_facts(w, t.ranks(), o.stats)) {}
  State(const Workload& w, const Topology& t, Layout l, const PredictOptions& o, WorkloadFacts f)
      : workload(w),
        topology(t),
        layout(std::move(l)),
        options(o),
        facts(std::move(f)),
        executor(executor_model(options.executor, workload)),
        dense(dense_cost(workload, topology.gpu, executor, facts.rank_batch)),
        load_model(facts, topology, executor, options.codecs),
        step_model(facts, topology, executor, dense),
        loads(load_model.of(layout)),
        reader_s(reader_seconds(workload, topology)),
        seconds(price()) {}

  /// Runs the simulation of the current sums.
  double price() {
    const SchedulePresence now = present();
    if (!timeline || now != presence) {
      presence = now;
      schedule = executor_schedule(options.executor, options.schedule, presence);
      timeline = std::make_unique<Timeline>(schedule, topology.ranks(), topology.fast_domain,
                                            topology.gpu.overlap_cost.value);
    }
    step_model.steps(schedule, loads, step_loads);
    in_seconds(step_loads, topology.intra, topology.inter, timed);
    return std::max(timeline->run(timed), reader_s);
  }

  void show_layout() {
    if (shows_trial) price();
    shows_trial = false;
  }

  [[nodiscard]] SchedulePresence present() const {
    const auto has = [&](ClusterType type) {
      return loads.tables[static_cast<std::size_t>(type)] > 0.5;
    };
    return {.dp = has(ClusterType::DP),
            .rb = has(ClusterType::RB),
            .ub = has(ClusterType::UB),
            .dense = workload.dense.interaction != Interaction::none};
  }

  void place(std::size_t table, TablePlacement placement) {
    load_model.add(loads, table, layout.tables[table], exchange_choice(layout, table), -1);
    layout.tables[table] = std::move(placement);
    load_model.add(loads, table, layout.tables[table], exchange_choice(layout, table), 1);
  }

  Workload workload;
  Topology topology;
  Layout layout;
  PredictOptions options;
  WorkloadFacts facts;
  ExecutorModel executor;
  DenseCost dense;
  LoadModel load_model;
  StepModel step_model;
  LayoutLoads loads;
  double reader_s = 0;
  SchedulePresence presence;
  Schedule schedule;
  std::unique_ptr<Timeline> timeline;
  std::vector<StepLoad> step_loads;
  std::vector<TimedStep> timed;
  bool shows_trial = false;  ///< step loads and timeline are a trial's, not the layout's
  int edits = 0;
  double seconds = 0;
};

WhatIf::WhatIf(std::unique_ptr<State> state) : state_(std::move(state)) {}
WhatIf::WhatIf(WhatIf&&) noexcept = default;
WhatIf& WhatIf::operator=(WhatIf&&) noexcept = default;
WhatIf::~WhatIf() = default;

Result<WhatIf> WhatIf::create(const Workload& workload, const Topology& topology, Layout layout,
                              const PredictOptions& options) {
  if (Status status = check_sizes(workload, topology, layout); !status) return fail(status.error());
  return WhatIf(std::make_unique<State>(workload, topology, std::move(layout), options));
}

WhatIf WhatIf::create(const PlanContext& context, Layout layout) {
  return WhatIf(std::make_unique<State>(context.workload, context.topology, std::move(layout),
                                        context.options, context.facts));
}

const Layout& WhatIf::layout() const {
  return state_->layout;
}

double WhatIf::seconds() const {
  return state_->seconds;
}

double WhatIf::try_table(std::size_t table, const TablePlacement& placement) {
  TablePlacement kept = state_->layout.tables[table];
  state_->place(table, placement);
  const double seconds = state_->price();
  state_->place(table, std::move(kept));
  state_->shows_trial = true;
  return seconds;
}

double WhatIf::set_table(std::size_t table, TablePlacement placement) {
  return set_tables({{table, std::move(placement)}});
}

double WhatIf::set_tables(const std::vector<std::pair<std::size_t, TablePlacement>>& placements) {
  for (const auto& [table, placement] : placements) {
    SHARDSCOPE_CHECK(table < state_->layout.tables.size(), "the table exists");
    state_->place(table, placement);
  }
  if (++state_->edits % kEditsBeforeFreshSums == 0)
    state_->loads = state_->load_model.of(state_->layout);
  state_->shows_trial = false;
  return state_->seconds = state_->price();
}

double WhatIf::move_shard(std::size_t table, std::int32_t row, std::int32_t column,
                          std::int32_t to) {
  TablePlacement placement = state_->layout.tables[table];
  SHARDSCOPE_CHECK(!placement.owners.empty(), "a replicated table has no shards to move");
  placement.owners[static_cast<std::size_t>(row * placement.column_shards() + column)] = to;
  return set_table(table, std::move(placement));
}

double WhatIf::split_rows(std::size_t table, const std::vector<std::int32_t>& owners) {
  const TablePlacement& before = state_->layout.tables[table];
  TablePlacement placement =
      row_wise(state_->workload.tables[table], owners,
               before.cluster == ClusterType::DP ? ClusterType::RB : before.cluster);
  placement.exchange = before.exchange;
  placement.codecs = before.codecs;
  return set_table(table, std::move(placement));
}

WhatIf::StageTimes WhatIf::stage_times() const {
  state_->show_layout();
  StageTimes times;
  times.schedule = state_->schedule;
  const auto ranks = static_cast<std::size_t>(state_->topology.ranks());
  std::vector<double> waiting(ranks, 0.0);
  for (std::size_t i = 0; i < state_->timed.size(); ++i) {
    std::vector<double>& own = times.own_s.emplace_back(ranks, 0.0);
    std::vector<double>& waits = times.waiting_s.emplace_back(ranks, 0.0);
    for (std::size_t p = 0; p < state_->timed[i].size(); ++p) {
      const PartTimes& part = state_->timeline->times(i, p);
      for (std::size_t r = 0; r < ranks; ++r) {
        waits[r] += part.begin[r] - part.kernel_end[r];
        own[r] += (part.kernel_end[r] - part.ready[r]) + (part.end[r] - part.begin[r]);
      }
    }
    for (std::size_t r = 0; r < ranks; ++r) waiting[r] += waits[r];
  }
  times.critical_rank =
      static_cast<std::int32_t>(std::min_element(waiting.begin(), waiting.end()) - waiting.begin());
  return times;
}

const std::vector<StepLoad>& WhatIf::step_loads() const {
  state_->show_layout();
  return state_->step_loads;
}

}  // namespace shardscope
