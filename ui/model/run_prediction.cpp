#include "ui/model/run_prediction.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>

#include "layout/models.hpp"
#include "layout/names.hpp"
#include "planner/cost_model.hpp"
#include "storage/documents.hpp"

namespace shardscope::ui {
namespace {

constexpr double kGigabyte = 1e9;

/// A throttled link sends at that rate whatever the message.
void throttle(LinkModel& link, double gigabytes_per_s) {
  link.by_size.clear();
  link.bytes_per_s.value = gigabytes_per_s * kGigabyte;
  link.efficiency.value = 1;
}

/// "2" for both link classes, "2,0.25" for inside and between.
void apply_wire(Topology& topology, std::string_view wire) {
  const auto rate = [](std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && std::isfinite(value) ? value : 0.0;
  };
  const std::size_t comma = wire.find(',');
  const double intra = rate(wire.substr(0, comma));
  const double inter = comma == std::string_view::npos ? intra : rate(wire.substr(comma + 1));
  if (intra > 0) throttle(topology.intra, intra);
  if (inter > 0) throttle(topology.inter, inter);
}

bool measured_dense(const std::vector<StageRow>& stages) {
  return stages.empty() || std::any_of(stages.begin(), stages.end(), [](const StageRow& row) {
           return row.stage == Stage::dense_forward || row.stage == Stage::dense_backward;
         });
}

}  // namespace

Result<RunPrediction> predict_run(const storage::Session& session, const storage::RunRecord& run,
                                  const std::vector<StageRow>& stages) {
  auto stored = storage::load_workload(session, run.workload);
  if (!stored) return fail(stored.error());
  auto topology = storage::load_topology(session, run.topology);
  if (!topology) return fail(topology.error());
  const auto layout = storage::load_layout(session, run.layout);
  if (!layout) return fail(layout.error());
  Workload workload = run.rows_cap > 0 ? with_rows_cap(*stored, run.rows_cap) : std::move(*stored);
  if (run.global_batch > 0) workload.global_batch = run.global_batch;
  if (!measured_dense(stages)) workload.dense = {};
  if (!run.wire.empty()) apply_wire(*topology, run.wire);
  PredictOptions options;
  options.executor = parse_name<Executor>(run.executor).value_or(Executor::engine);
  options.schedule = parse_name<ScheduleKind>(run.schedule).value_or(ScheduleKind::serial);
  const auto predicted = predict(workload, *topology, *layout, options);
  if (!predicted) return fail(predicted.error());
  RunPrediction result;
  result.iteration_ms = predicted->iteration_s * 1e3;
  result.spans = predicted->simulation.spans;
  std::map<Stage, std::vector<double>> ranks;
  for (const PredictedStage& stage : predicted->stages) {
    std::vector<double>& sum = ranks[stage.stage];
    sum.resize(std::max(sum.size(), stage.rank_s.size()));
    for (std::size_t r = 0; r < stage.rank_s.size(); ++r) sum[r] += stage.rank_s[r];
  }
  for (const auto& [stage, seconds] : ranks) {
    for (const double one : seconds) {
      double& most = result.stage_ms[static_cast<std::size_t>(stage)];
      most = std::max(most, one * 1e3);
    }
  }
  return result;
}

std::optional<double> prediction_error(double predicted, double measured) {
  if (!(predicted > 0) || !(measured > 0)) return std::nullopt;
  return predicted / measured - 1;
}

}  // namespace shardscope::ui
