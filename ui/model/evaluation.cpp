#include "ui/model/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <utility>

#include "planner/critical_path.hpp"
#include "planner/memory_model.hpp"
#include "planner/what_if.hpp"
#include "ui/model/numbers.hpp"

namespace shardscope::ui {
namespace {

/// Tables that differ before a fresh start is cheaper than placing them one by one.
constexpr std::size_t kMostReplaced = 64;
/// Tables x GPUs up to which the exact account takes less than a frame.
constexpr std::size_t kExactCells = 4096;

bool can_be_priced(const std::vector<Violation>& violations) {
  return std::none_of(violations.begin(), violations.end(), [](const Violation& violation) {
    return violation.severity == Severity::error && !violation.rule.starts_with("memory.");
  });
}

void read_memory(Evaluation& evaluation, const MemoryAccount& account, const Topology& topology) {
  for (const MemoryUse& use : account.gpus) {
    evaluation.memory_bytes.push_back(static_cast<double>(use.total() - use.reserve));
    evaluation.dense_bytes.push_back(static_cast<double>(use.dense));
    evaluation.buffer_bytes.push_back(static_cast<double>(use.communication + use.indices +
                                                          use.sort + use.wgrad + use.transients));
  }
  for (const MemoryUse& use : account.hosts) {
    evaluation.host_bytes = std::max(evaluation.host_bytes, static_cast<double>(use.total()));
  }
  evaluation.memory_limit =
      topology.gpu.memory_bytes.value - static_cast<double>(topology.reserve_bytes);
}

/// The chain of cause over one period: what lies before it is the same work of the iteration
/// before, done while other ranks still finish. Stages in order, gaps (launches, waiting) last.
void read_path(Evaluation& evaluation, const Simulation& simulation, const Schedule& schedule) {
  const auto add = [&](Stage stage, bool waiting, double seconds) {
    if (seconds <= 1e-12) return;
    for (PathPart& part : evaluation.path) {
      if (part.stage == stage && part.waiting == waiting) {
        part.seconds += seconds;
        return;
      }
    }
    evaluation.path.push_back({stage, waiting, seconds});
  };
  for (const CriticalPiece& piece : simulation.critical_path) {
    evaluation.path_pieces.push_back({piece.rank, schedule.steps[piece.step].stream,
                                      piece.start_s * 1e9, piece.end_s * 1e9,
                                      schedule.steps[piece.step].stage});
  }
  if (simulation.critical_path.empty()) return;
  const double end = simulation.critical_path.back().end_s;
  double at = end - evaluation.iteration_s;
  for (const CriticalPiece& piece : simulation.critical_path) {
    const double begin = std::max(piece.start_s, at);
    if (piece.end_s <= begin) continue;
    add(Stage::input_dist, true, begin - at);
    const bool waiting = piece.previous;
    add(waiting ? Stage::input_dist : schedule.steps[piece.step].stage, waiting,
        piece.end_s - begin);
    at = piece.end_s;
  }
  std::stable_partition(evaluation.path.begin(), evaluation.path.end(),
                        [](const PathPart& part) { return !part.waiting; });
}

void read_ranks(Evaluation& evaluation, const Simulation& simulation, const Schedule& schedule,
                std::size_t ranks) {
  evaluation.rank_stages.assign(ranks, StageSeconds{});
  evaluation.rank_waiting_s = simulation.waiting_s;
  evaluation.critical_rank = critical_rank_of(simulation);
  for (std::size_t step = 0; step < schedule.steps.size(); ++step) {
    const Stage stage = schedule.steps[step].stage;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const SimulatedStep& times = simulation.at(step, static_cast<std::int32_t>(rank));
      const double own = std::max(0.0, times.end_s - times.start_s - times.waiting_s);
      evaluation.rank_stages[rank][static_cast<std::size_t>(stage)] += own;
    }
  }
}

/// Steps of the critical rank that overlap the path instead of lengthening it.
void read_hidden(Evaluation& evaluation, const Simulation& simulation, const Schedule& schedule) {
  for (const Stage stage : {Stage::index_calculation, Stage::allreduce, Stage::input_dist}) {
    HiddenPart part{stage, 0, 0};
    double own = 0;
    bool first = true;
    for (std::size_t step = 0; step < schedule.steps.size(); ++step) {
      if (schedule.steps[step].stage != stage) continue;
      const SimulatedStep& times = simulation.at(step, evaluation.critical_rank);
      own += std::max(0.0, times.end_s - times.start_s - times.waiting_s);
      if (first) part.start_s = times.start_s;
      first = false;
    }
    part.seconds = own - evaluation.path_seconds(stage);
    if (part.seconds > 1e-9) evaluation.hidden.push_back(part);
  }
}

void note_full_gpus(Evaluation& evaluation) {
  for (std::size_t rank = 0; rank < evaluation.memory_bytes.size(); ++rank) {
    const double over = evaluation.memory_bytes[rank] - evaluation.memory_limit;
    if (over <= 0) continue;
    Violation violation;
    violation.rule = "memory.gpu";
    violation.rank = static_cast<std::int32_t>(rank);
    violation.amount = static_cast<std::int64_t>(over);
    violation.message = fmt::format("GPU {} is {} GiB over its limit", rank, gib_text(over));
    violation.cure = "Move or split one of its shards";
    evaluation.violations.push_back(std::move(violation));
    ++evaluation.errors;
  }
}

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

}  // namespace

double Evaluation::path_seconds(Stage stage) const {
  double sum = 0;
  for (const PathPart& part : path) {
    if (part.stage == stage && !part.waiting) sum += part.seconds;
  }
  return sum;
}

double Evaluation::waiting_seconds() const {
  double sum = 0;
  for (const PathPart& part : path) {
    if (part.waiting) sum += part.seconds;
  }
  return sum;
}

double Evaluation::busy_seconds(Stage stage) const {
  double most = 0;
  for (const StageSeconds& stages : rank_stages) {
    most = std::max(most, stages[static_cast<std::size_t>(stage)]);
  }
  return most;
}

double Evaluation::memory_imbalance() const {
  if (memory_bytes.empty()) return 1;
  const double sum = std::accumulate(memory_bytes.begin(), memory_bytes.end(), 0.0);
  const double most = *std::max_element(memory_bytes.begin(), memory_bytes.end());
  return sum > 0 ? most * static_cast<double>(memory_bytes.size()) / sum : 1;
}

struct Evaluator::State {
  State(Workload w, Topology t, PredictOptions o)
      : workload(std::move(w)),
        topology(std::move(t)),
        options(std::move(o)),
        costs(workload, topology, options),
        memory(workload, topology, options.executor) {}

  [[nodiscard]] bool large() const {
    return workload.tables.size() * static_cast<std::size_t>(topology.ranks()) > kExactCells;
  }

  void account(Evaluation& result, const Layout& layout) const {
    read_memory(result, memory_of(workload, topology, layout, options.executor), topology);
    result.load_s = costs.loads(layout);
  }

  /// From the last exact evaluation, by the tables that differ.
  void account_by_sums(Evaluation& result, const Layout& layout) const {
    const MemoryLoads sums = memory.of(layout);
    const auto reserve = static_cast<double>(topology.reserve_bytes);
    for (std::int32_t rank = 0; rank < topology.ranks(); ++rank) {
      result.memory_bytes.push_back(memory.bytes(sums, rank) - reserve);
    }
    result.memory_limit = memory.capacity() - reserve;
    result.dense_bytes = exact.dense_bytes;
    result.buffer_bytes = exact.buffer_bytes;
    result.host_bytes = exact.host_bytes;
    result.load_s = exact.load_s;
    for (std::size_t t = 0; t < layout.tables.size(); ++t) {
      if (layout.tables[t] == exact.layout->tables[t]) continue;
      costs.add_table(*exact.layout, t, -1, result.load_s);
      costs.add_table(layout, t, 1, result.load_s);
    }
  }

  /// What the simulation says; needs the violations of a geometry that can be priced.
  void price(Evaluation& result, WhatIf& priced_by) const {
    const Schedule schedule = priced_by.stage_times().schedule;
    const Simulation simulation =
        simulate({schedule, topology.ranks(), topology.fast_domain, priced_by.step_loads(),
                  topology.intra, topology.inter, topology.gpu.overlap_cost.value});
    result.priced = true;
    result.iteration_s = priced_by.seconds();
    result.samples_per_s = result.iteration_s > 0
                               ? static_cast<double>(workload.global_batch) / result.iteration_s
                               : 0;
    for (const StepLoad& step : priced_by.step_loads()) {
      for (const StepPart& part : step.parts) {
        for (const PartLoad& load : part.ranks) {
          result.intra_bytes += load.intra.sent_bytes;
          result.inter_bytes += load.inter.sent_bytes;
        }
      }
    }
    read_path(result, simulation, schedule);
    read_ranks(result, simulation, schedule, static_cast<std::size_t>(topology.ranks()));
    read_hidden(result, simulation, schedule);
    result.spans = simulation.spans;
    result.mean_load_s = std::accumulate(result.load_s.begin(), result.load_s.end(), 0.0) /
                         static_cast<double>(std::max<std::size_t>(1, result.load_s.size()));
    result.max_load_s =
        result.load_s.empty() ? 0 : *std::max_element(result.load_s.begin(), result.load_s.end());
  }

  /// The what-if set to that layout; null where sizes differ.
  WhatIf* at(const Layout& layout) {
    if (what_if) {
      std::vector<std::pair<std::size_t, TablePlacement>> changed;
      const Layout& now = what_if->layout();
      bool near = now.clusters == layout.clusters && now.tables.size() == layout.tables.size();
      for (std::size_t t = 0; near && t < layout.tables.size(); ++t) {
        if (now.tables[t] != layout.tables[t]) changed.emplace_back(t, layout.tables[t]);
        near = changed.size() <= kMostReplaced;
      }
      if (near) {
        if (!changed.empty()) what_if->set_tables(changed);
        return &*what_if;
      }
    }
    Result<WhatIf> fresh = WhatIf::create(workload, topology, layout, options);
    if (!fresh) return nullptr;
    what_if.emplace(std::move(*fresh));
    return &*what_if;
  }

  Workload workload;
  Topology topology;
  PredictOptions options;
  ShardCosts costs;
  MemoryModel memory;
  Evaluation exact;  ///< the last one that checked everything
  std::optional<WhatIf> what_if;
};

Evaluator::Evaluator(Workload workload, Topology topology, PredictOptions options)
    : state_(
          std::make_unique<State>(std::move(workload), std::move(topology), std::move(options))) {}
Evaluator::~Evaluator() = default;

const Workload& Evaluator::workload() const {
  return state_->workload;
}
const Topology& Evaluator::topology() const {
  return state_->topology;
}
const PredictOptions& Evaluator::options() const {
  return state_->options;
}
const ShardCosts& Evaluator::costs() const {
  return state_->costs;
}

double Evaluator::try_table(const Layout& layout, std::size_t table,
                            const TablePlacement& placement) {
  WhatIf* what_if = state_->at(layout);
  return what_if == nullptr ? 0 : what_if->try_table(table, placement);
}

Evaluation Evaluator::evaluate(std::shared_ptr<const Layout> layout) {
  const auto begin = std::chrono::steady_clock::now();
  Evaluation result;
  result.layout = layout;
  result.violations = check(state_->workload, state_->topology, *layout, state_->options.executor);
  result.errors = static_cast<int>(
      std::count_if(result.violations.begin(), result.violations.end(),
                    [](const Violation& v) { return v.severity == Severity::error; }));
  WhatIf* what_if = can_be_priced(result.violations) ? state_->at(*layout) : nullptr;
  if (what_if != nullptr) {
    state_->account(result, *layout);
    state_->price(result, *what_if);
    if (state_->large()) state_->exact = result;
  }
  result.computed_ms = milliseconds_since(begin);
  return result;
}

Evaluation Evaluator::preview(std::shared_ptr<const Layout> layout) {
  const Evaluation& exact = state_->exact;
  const bool by_sums = state_->large() && exact.layout != nullptr &&
                       exact.layout->tables.size() == layout->tables.size();
  if (!by_sums) return evaluate(std::move(layout));
  const auto begin = std::chrono::steady_clock::now();
  Evaluation result;
  result.layout = layout;
  result.exact = false;
  WhatIf* what_if = state_->at(*layout);
  if (what_if != nullptr) {
    state_->account_by_sums(result, *layout);
    state_->price(result, *what_if);
    note_full_gpus(result);
  }
  result.computed_ms = milliseconds_since(begin);
  return result;
}

}  // namespace shardscope::ui
