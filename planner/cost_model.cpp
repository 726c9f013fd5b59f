#include "planner/cost_model.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "planner/critical_path.hpp"
#include "planner/dense_cost.hpp"
#include "planner/layout_loads.hpp"
#include "planner/step_loads.hpp"
#include "planner/table_facts.hpp"
#include "planner/timeline.hpp"
#include "planner/trust.hpp"
#include "planner/uncertainty.hpp"

namespace shardscope {

namespace {

/// Loads of a layout do not depend on the machine's constants, but for the cache; this keeps what
/// several evaluations share.
class Evaluation {
 public:
  Evaluation(const Workload& workload, const Topology& topology, const Layout& layout,
             const PredictOptions& options)
      : workload_(workload),
        layout_(layout),
        options_(options),
        facts_(workload_facts(workload, topology.ranks(), options.stats)),
        executor_(executor_model(options.executor, workload)),
        schedule_(
            executor_schedule(options.executor, options.schedule, presence_of(workload, layout))) {}

  [[nodiscard]] SimulationInput input(const Topology& topology) const {
    const LoadModel model(facts_, topology, executor_, options_.codecs);
    const DenseCost dense = dense_cost(workload_, topology.gpu, executor_, facts_.rank_batch);
    const StepModel steps(facts_, topology, executor_, dense);
    SimulationInput result;
    result.schedule = schedule_;
    result.ranks = topology.ranks();
    result.fast_domain = topology.fast_domain;
    result.steps = steps.steps(schedule_, model.of(layout_));
    result.intra = topology.intra;
    result.inter = topology.inter;
    result.overlap_cost = topology.gpu.overlap_cost.value;
    return result;
  }
  [[nodiscard]] double seconds(const Topology& topology) const {
    return std::max(simulated_iteration_seconds(input(topology)),
                    reader_seconds(workload_, topology));
  }

 private:
  const Workload& workload_;
  const Layout& layout_;
  const PredictOptions& options_;
  WorkloadFacts facts_;
  ExecutorModel executor_;
  Schedule schedule_;
};

std::vector<PredictedStage> stages_of(const SimulationInput& input, const Simulation& simulation) {
  std::vector<PredictedStage> stages;
  for (std::size_t i = 0; i < input.steps.size(); ++i) {
    PredictedStage& stage = stages.emplace_back();
    stage.stage = input.schedule.steps[i].stage;
    stage.work = input.schedule.steps[i].work;
    for (std::int32_t r = 0; r < input.ranks; ++r) {
      const SimulatedStep& step = simulation.at(i, r);
      const double own = step.end_s - step.start_s - step.waiting_s;
      stage.rank_s.push_back(own);
      stage.mean_s += own / input.ranks;
      if (own > stage.max_s) {
        stage.max_s = own;
        stage.slowest_rank = r;
      }
      for (const StepPart& part : input.steps[i].parts) {
        stage.intra_bytes += part.ranks[static_cast<std::size_t>(r)].intra.sent_bytes;
        stage.inter_bytes += part.ranks[static_cast<std::size_t>(r)].inter.sent_bytes;
      }
    }
  }
  return stages;
}

std::size_t critical_step_of(const Simulation& simulation, std::size_t steps) {
  std::vector<double> on_path(steps, 0.0);
  for (const CriticalPiece& piece : simulation.critical_path)
    on_path[piece.step] += piece.end_s - piece.start_s;
  return static_cast<std::size_t>(std::max_element(on_path.begin(), on_path.end()) -
                                  on_path.begin());
}

}  // namespace

Status check_sizes(const Workload& workload, const Topology& topology, const Layout& layout) {
  if (layout.ranks != topology.ranks()) {
    return fail({ErrorKind::usage,
                 fmt::format("the layout is for {} ranks, the topology has {}", layout.ranks,
                             topology.ranks()),
                 fmt::format("layout {}", layout.name), "equal numbers",
                 "Plan again for this topology, or choose one of the layout's size"});
  }
  if (layout.tables.size() != workload.tables.size()) {
    return fail({ErrorKind::usage,
                 fmt::format("the layout places {} tables, the workload has {}",
                             layout.tables.size(), workload.tables.size()),
                 fmt::format("layout {}", layout.name), "the same tables",
                 "Use the workload that the layout was made for"});
  }
  return {};
}

Result<Prediction> predict(const Workload& workload, const Topology& topology, const Layout& layout,
                           const PredictOptions& options) {
  if (Status status = check_sizes(workload, topology, layout); !status) return fail(status.error());
  const Evaluation evaluation(workload, topology, layout, options);
  const SimulationInput input = evaluation.input(topology);

  Prediction prediction;
  prediction.schedule = input.schedule;
  prediction.simulation = simulate(input);
  const double reader = reader_seconds(workload, topology);
  prediction.iteration_s = std::max(prediction.simulation.iteration_s, reader);
  const double constants =
      log_deviation(topology, [&](const Topology& moved) { return evaluation.seconds(moved); });
  const double spread = kNinetyPercent * std::hypot(constants, kBoxLogSd);
  prediction.low_s = prediction.iteration_s * std::exp(-spread);
  prediction.high_s = prediction.iteration_s * std::exp(spread);
  prediction.samples_per_s =
      prediction.iteration_s > 0
          ? static_cast<double>(workload.global_batch) / prediction.iteration_s
          : 0;
  prediction.stages = stages_of(input, prediction.simulation);
  for (const PredictedStage& stage : prediction.stages) {
    prediction.intra_bytes += stage.intra_bytes;
    prediction.inter_bytes += stage.inter_bytes;
  }
  prediction.critical_rank = critical_rank_of(prediction.simulation);
  if (!input.schedule.steps.empty()) {
    const std::size_t step = critical_step_of(prediction.simulation, input.steps.size());
    prediction.critical_stage = input.schedule.steps[step].stage;
    prediction.critical_work = input.schedule.steps[step].work;
  }
  const TrustJudgement judgement =
      with_codec_trust(judge_trust(topology, reader >= prediction.simulation.iteration_s), topology,
                       layout, options.codecs);
  prediction.trust = judgement.trust;
  prediction.ask = judgement.ask;
  prediction.reason = judgement.reason;
  return prediction;
}

Result<double> predicted_seconds(const Workload& workload, const Topology& topology,
                                 const Layout& layout, const PredictOptions& options) {
  if (Status status = check_sizes(workload, topology, layout); !status) return fail(status.error());
  return Evaluation(workload, topology, layout, options).seconds(topology);
}

Result<TimeRatio> predicted_ratio(const Workload& workload, const Topology& topology,
                                  const Layout& a, const Layout& b, const PredictOptions& options) {
  for (const Layout* layout : {&a, &b})
    if (Status status = check_sizes(workload, topology, *layout); !status)
      return fail(status.error());
  const Evaluation of_a(workload, topology, a, options), of_b(workload, topology, b, options);
  const auto ratio = [&](const Topology& moved) {
    const double below = of_b.seconds(moved);
    return below > 0 ? of_a.seconds(moved) / below : 0;
  };
  TimeRatio result;
  result.estimate = ratio(topology);
  const double spread = kNinetyPercent * log_deviation(topology, ratio);
  result.low = result.estimate * std::exp(-spread);
  result.high = result.estimate * std::exp(spread);
  return result;
}

Topology calibrated(Topology topology, const Calibration& calibration) {
  // What a calibration did not measure keeps the topology's figure: value 0 means absent.
  const auto take = [](Quantity& to, const Quantity& from) {
    if (from.value > 0) to = from;
  };
  const auto link = [&](LinkModel& to, const LinkModel& from) {
    take(to.latency_s, from.latency_s);
    take(to.latency_per_doubling_s, from.latency_per_doubling_s);
    take(to.bytes_per_s, from.bytes_per_s);
    take(to.efficiency, from.efficiency);
    if (!from.by_size.empty()) {
      to.by_size = from.by_size;
      to.sender_share = from.sender_share;
    }
  };
  Gpu& gpu = topology.gpu;
  const Gpu& measured = calibration.gpu;
  take(gpu.memory_bytes_per_s, measured.memory_bytes_per_s);
  take(gpu.cache_bytes, measured.cache_bytes);
  take(gpu.gemm_flops_per_s, measured.gemm_flops_per_s);
  take(gpu.gemm_efficiency, measured.gemm_efficiency);
  take(gpu.gather_efficiency, measured.gather_efficiency);
  take(gpu.reduce_efficiency, measured.reduce_efficiency);
  take(gpu.update_efficiency, measured.update_efficiency);
  take(gpu.input_efficiency, measured.input_efficiency);
  take(gpu.stream_efficiency, measured.stream_efficiency);
  take(gpu.sort_bytes_per_key, measured.sort_bytes_per_key);
  take(gpu.launch_s, measured.launch_s);
  take(gpu.overlap_cost, measured.overlap_cost);
  link(topology.intra, calibration.intra);
  link(topology.inter, calibration.inter);
  return topology;
}

}  // namespace shardscope
