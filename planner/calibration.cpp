#include "planner/calibration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "layout/dense_sizes.hpp"
#include "planner/fit.hpp"
#include "planner/probe_model.hpp"

namespace shardscope {

namespace {

constexpr std::array<const char*, kCalibrationParts> kPartNames = {
    "memory", "gather", "reduce", "update", "input", "gemm", "exchange"};

/// A constant of a GPU that stage times determine.
struct FittedConstant {
  CalibrationPart part;
  const char* name;
  Quantity Gpu::*member;
  double log_sd;  ///< of the prior: what a machine of any kind may differ by
  double upper;
};

constexpr FittedConstant kFittedConstants[] = {
    {CalibrationPart::gather, "gather_efficiency", &Gpu::gather_efficiency, 0.7, 1},
    {CalibrationPart::reduce, "reduce_efficiency", &Gpu::reduce_efficiency, 0.7, 1},
    {CalibrationPart::reduce, "sort_bytes_per_key", &Gpu::sort_bytes_per_key, 1.0, 0},
    {CalibrationPart::update, "update_efficiency", &Gpu::update_efficiency, 0.7, 1},
    {CalibrationPart::input, "input_efficiency", &Gpu::input_efficiency, 1.0, 1},
    {CalibrationPart::input, "stream_efficiency", &Gpu::stream_efficiency, 0.7, 1},
    {CalibrationPart::gemm, "gemm_efficiency", &Gpu::gemm_efficiency, 0.5, 1},
};

bool asked(const MachineTimes& times, CalibrationPart part) {
  return std::find(times.parts.begin(), times.parts.end(), part) != times.parts.end();
}

double forward_flops(const Workload& workload, std::int32_t ranks) {
  const Result<DenseShape> shape = dense_shape(workload);
  if (!shape || !shape->present) return 0;
  double products = 0;
  for (const auto* layers : {&shape->bottom, &shape->top})
    for (const DenseLayer& layer : *layers)
      products += static_cast<double>(layer.in) * static_cast<double>(layer.out);
  return 2 * products * static_cast<double>(workload.global_batch) / ranks;
}

/// Peaks that nobody published: the best that was seen.
void set_peaks(Gpu& gpu, Gpu& measured, const MachineTimes& times, const std::string& source,
               const std::string& date, std::vector<std::string>& refused) {
  const auto replace = [&](Quantity Gpu::*peak, double best, const char* what, const char* unit) {
    if (best <= 0) return;
    if ((gpu.*peak).origin == Origin::prior) {
      gpu.*peak = measured.*peak = {best, Origin::measured, source, date};
    } else if (best > (gpu.*peak).value) {
      refused.push_back(
          fmt::format("{}: {:.4g} {} were timed, above the peak of {:.4g} ({}); the "
                      "peak is kept",
                      what, best / 1e9, unit, (gpu.*peak).value / 1e9, (gpu.*peak).source));
    }
  };
  replace(&Gpu::memory_bytes_per_s, times.copy_bytes_per_s, "memory", "GB/s");
  double flops = 0;
  for (const TimedProbe& timed : times.probes) {
    for (const TimedStage& stage : timed.stages) {
      if (!timed.probe.dense || stage.stage != Stage::dense_forward || stage.seconds <= 0) continue;
      flops = std::max(flops, forward_flops(timed.probe.workload, times.ranks) / stage.seconds);
    }
  }
  // A product's launch and edges keep it from the peak.
  constexpr double kAboveTheBestProduct = 1.1;
  if (asked(times, CalibrationPart::gemm)) {
    const bool guessed = gpu.gemm_flops_per_s.origin == Origin::prior;
    replace(&Gpu::gemm_flops_per_s, flops * (guessed ? kAboveTheBestProduct : 1), "gemm",
            "GFLOP/s");
  }
}

/// The stages of the probes as points of a fit over the constants of the asked parts.
class StageFit {
 public:
  StageFit(const Topology& machine, const MachineTimes& times) : machine_(machine) {
    for (const FittedConstant& constant : kFittedConstants) {
      if (!asked(times, constant.part)) continue;
      Quantity& prior = machine_.gpu.*constant.member;
      // Absent: the constant it falls back to.
      if (prior.value <= 0 && constant.member == &Gpu::update_efficiency)
        prior.value = machine_.gpu.reduce_efficiency.value;
      if (prior.value <= 0) prior.value = 0.5;
      constants_.push_back(&constant);
      parameters_.push_back({constant.name, prior.value, constant.log_sd, constant.upper});
    }
    if (!constants_.empty())
      parameters_.push_back({"launch_s", std::max(machine_.gpu.launch_s.value, 1e-9), 1.5, 0});
    for (const TimedProbe& timed : times.probes) add(timed, times);
  }

  void run(const std::string& source, const std::string& date, MachineFit& into) {
    if (points_.empty()) return;
    const FitResult result =
        fit(parameters_, points_, {.noise_log_sd = 0.05, .robust_limit = 2, .iterations = 40});
    Gpu& measured = into.calibration.gpu;
    for (std::size_t i = 0; i < constants_.size(); ++i) {
      measured.*constants_[i]->member = {result.values[i], Origin::measured, source, date};
      if (!result.limited[i]) continue;
      into.refused.push_back(
          fmt::format("{}: the times ask for more than 1, which no memory gives; 1 is kept (what "
                      "was read lay in a cache)",
                      constants_[i]->name));
    }
    measured.launch_s = {result.values.back(), Origin::measured, source, date};
    for (std::size_t p = 0; p < points_.size(); ++p) {
      into.times.push_back({names_[p], to_string(stages_[p]), points_[p].measured,
                            points_[p].measured * std::exp(result.log_residuals[p])});
    }
  }

 private:
  void add(const TimedProbe& timed, const MachineTimes& times) {
    const auto model =
        std::make_shared<ProbeModel>(timed.probe.workload, machine_, timed.probe.layout);
    const auto base = model->mean_seconds(machine_);
    for (const TimedStage& stage : timed.stages) {
      const auto at = static_cast<std::size_t>(stage.stage);
      if (!wanted(stage.stage, times) || stage.seconds <= 0 || base[at] <= 0) continue;
      names_.push_back(timed.probe.name);
      stages_.push_back(stage.stage);
      points_.push_back({stage.seconds, 1, [this, model, at](const std::vector<double>& values) {
                           return model->mean_seconds(with(values))[at];
                         }});
    }
  }
  [[nodiscard]] static bool wanted(Stage stage, const MachineTimes& times) {
    return std::any_of(times.parts.begin(), times.parts.end(), [&](CalibrationPart part) {
      const std::vector<Stage> stages = stages_of(part);
      return std::find(stages.begin(), stages.end(), stage) != stages.end();
    });
  }
  [[nodiscard]] Topology with(const std::vector<double>& values) const {
    Topology topology = machine_;
    for (std::size_t i = 0; i < constants_.size(); ++i)
      (topology.gpu.*constants_[i]->member).value = values[i];
    topology.gpu.launch_s.value = values.back();
    return topology;
  }

  Topology machine_;
  std::vector<const FittedConstant*> constants_;
  std::vector<FitParameter> parameters_;
  std::vector<FitPoint> points_;
  std::vector<std::string> names_;
  std::vector<Stage> stages_;
};

}  // namespace

const char* to_string(CalibrationPart value) {
  return kPartNames[static_cast<std::size_t>(value)];
}

std::optional<CalibrationPart> parse_calibration_part(std::string_view name) {
  for (std::size_t i = 0; i < kPartNames.size(); ++i)
    if (name == kPartNames[i]) return static_cast<CalibrationPart>(i);
  return std::nullopt;
}

std::string calibration_parts() {
  std::string text;
  for (const char* name : kPartNames) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

std::vector<Stage> stages_of(CalibrationPart part) {
  switch (part) {
    case CalibrationPart::gather:
      return {Stage::model_forward};
    case CalibrationPart::reduce:
      return {Stage::index_calculation, Stage::local_reduce};
    case CalibrationPart::update:
      return {Stage::update};
    case CalibrationPart::input:
      return {Stage::input_dist, Stage::network_forward, Stage::network_backward};
    case CalibrationPart::gemm:
      return {Stage::dense_forward, Stage::dense_backward};
    case CalibrationPart::memory:
    case CalibrationPart::exchange:
      return {};
  }
  return {};
}

LinkModel fitted_link(const LinkModel& link, const std::vector<CollectiveTime>& times,
                      const std::string& source, const std::string& date,
                      std::vector<std::string>& refused) {
  std::vector<CollectiveTime> exchanges;
  for (const CollectiveTime& time : times) {
    if (time.collective == "alltoall" && time.seconds > 0 && time.message_bytes > 0)
      exchanges.push_back(time);
  }
  std::sort(exchanges.begin(), exchanges.end(),
            [](const auto& a, const auto& b) { return a.message_bytes < b.message_bytes; });
  LinkModel fitted = link;
  fitted.by_size.clear();
  if (exchanges.empty()) return fitted;
  const CollectiveTime& small = exchanges.front();
  const auto peers = static_cast<std::int32_t>(
      std::clamp(std::round(small.received_bytes / small.message_bytes), 1.0, 1e6));
  // Only one number of participants was timed: the latency's growth keeps its shape.
  const double before = link.seconds(0, peers);
  const double scale = before > 0 ? small.seconds / before : 0;
  fitted.latency_s = {peers == 1 || scale <= 0 ? small.seconds : link.latency_s.value * scale,
                      Origin::measured, source, date};
  if (peers > 1 && scale > 0) {
    fitted.latency_per_doubling_s = {link.latency_per_doubling_s.value * scale, Origin::measured,
                                     source, date};
  }
  const bool guessed = link.bytes_per_s.origin == Origin::prior || link.bytes_per_s.value <= 0;
  constexpr double kResolved = 1.3;  // of the latency; what is faster is all latency
  double best = 0, impossible = 0;
  for (const CollectiveTime& time : exchanges) {
    if (time.seconds < kResolved * small.seconds) continue;
    const double rate = time.received_bytes / (time.seconds - small.seconds);
    if (!guessed && rate > link.bytes_per_s.value) {
      impossible = std::max(impossible, rate);
      continue;
    }
    if (!fitted.by_size.empty() &&
        time.message_bytes <= fitted.by_size.back().message_bytes * (1 + 1e-9))
      continue;
    fitted.by_size.push_back({time.message_bytes, rate});
    best = std::max(best, rate);
  }
  if (impossible > 0) {
    refused.push_back(fmt::format(
        "exchange: {:.4g} GB/s were timed, above the link's peak of {:.4g} ({}); those sizes are "
        "left out (another machine, or a bus bandwidth where bytes / time is meant?)",
        impossible / 1e9, link.bytes_per_s.value / 1e9, link.bytes_per_s.source));
  }
  constexpr double kTellsARate = 65536;  // smaller messages are mostly latency
  if (!fitted.by_size.empty() && fitted.by_size.back().message_bytes < kTellsARate) {
    refused.push_back(fmt::format(
        "exchange: no message above {:.0f} B was timed; that tells the latency but no rate",
        fitted.by_size.back().message_bytes));
    fitted.by_size.clear();
  }
  if (fitted.by_size.empty()) return fitted;
  if (guessed) fitted.bytes_per_s = {best, Origin::measured, source, date};
  fitted.efficiency = {best / fitted.bytes_per_s.value, Origin::measured, source, date};
  return fitted;
}

MachineFit fit_machine(const Topology& machine, const MachineTimes& times,
                       const std::string& source, const std::string& date, bool one_link) {
  MachineFit result;
  Topology known = machine;
  Calibration& calibration = result.calibration;
  calibration.gpu.name = machine.gpu.name;
  set_peaks(known.gpu, calibration.gpu, times, source, date, result.refused);
  if (asked(times, CalibrationPart::exchange)) {
    const bool inside = times.ranks <= machine.fast_domain;
    const auto keep = [&](LinkModel& into, LinkModel& base, bool report) {
      std::vector<std::string> refused;
      const LinkModel link = fitted_link(base, times.collectives, source, date, refused);
      if (report) result.refused.insert(result.refused.end(), refused.begin(), refused.end());
      if (link.by_size.empty()) return;
      into = base = link;
    };
    if (one_link || inside) keep(calibration.intra, known.intra, true);
    if (one_link || !inside) keep(calibration.inter, known.inter, !one_link);
    for (const CollectiveTime& time : times.collectives) {
      const LinkModel& link = one_link || inside ? known.intra : known.inter;
      const double by_link = link.seconds(time.received_bytes, times.ranks - 1);
      result.times.push_back({fmt::format("{} {:.0f} B", time.collective, time.message_bytes),
                              "exchange", time.seconds, by_link});
    }
  }
  // Stages that find rows in a cache outrun a copy. A peak that nobody published is the best rate
  // that was reached, so it rises until none of them does; a datasheet's peak stays.
  const bool guessed = machine.gpu.memory_bytes_per_s.origin == Origin::prior;
  const double copied = known.gpu.memory_bytes_per_s.value;
  for (const double rise : {1.0, 1.5, 2.0, 3.0, 4.0}) {
    MachineFit fitted = result;
    known.gpu.memory_bytes_per_s.value = copied * rise;
    if (rise > 1) fitted.calibration.gpu.memory_bytes_per_s.value = copied * rise;
    StageFit(known, times).run(source, date, fitted);
    const bool last = !guessed || fitted.refused.size() == result.refused.size();
    if (last || rise >= 4) return fitted;
  }
  return result;
}

}  // namespace shardscope
