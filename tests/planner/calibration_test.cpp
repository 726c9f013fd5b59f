#include "planner/calibration.hpp"

#include <cmath>
#include <set>

#include "layout/check.hpp"
#include "layout/models.hpp"
#include "planner/cost_model.hpp"
#include "planner/probe_model.hpp"

namespace shardscope {
namespace {

Topology two_ranks() {
  return topology_by_name("host-cpu:1x2").value();
}

/// A machine whose constants differ from the preset's.
Topology another_machine() {
  Topology machine = two_ranks();
  machine.gpu.memory_bytes_per_s.value = 17e9;
  machine.gpu.gather_efficiency.value = 0.44;
  machine.gpu.reduce_efficiency.value = 0.35;
  machine.gpu.update_efficiency.value = 0.2;
  machine.gpu.input_efficiency.value = 0.3;
  machine.gpu.stream_efficiency.value = 0.6;
  machine.gpu.sort_bytes_per_key.value = 420;
  machine.gpu.launch_s.value = 0.7e-6;
  machine.gpu.gemm_flops_per_s.value = 40e9;
  machine.gpu.gemm_efficiency.value = 0.9;
  machine.intra.latency_s.value = 4e-6;
  machine.intra.bytes_per_s.value = 3e9;
  machine.intra.efficiency.value = 1;
  return machine;
}

/// What that machine would time.
MachineTimes times_of(const Topology& machine, const std::vector<CalibrationPart>& parts) {
  MachineTimes times;
  times.ranks = machine.ranks();
  times.parts = parts;
  times.copy_bytes_per_s = machine.gpu.memory_bytes_per_s.value;
  for (const Probe& probe : calibration_probes(machine.ranks())) {
    const auto seconds = ProbeModel(probe.workload, machine, probe.layout).mean_seconds(machine);
    TimedProbe timed{probe, {}};
    for (int s = 0; s < kStages; ++s) {
      const auto stage = static_cast<Stage>(s);
      const bool dense = stage == Stage::dense_forward || stage == Stage::dense_backward;
      if (dense == probe.dense && stage != Stage::allreduce)
        timed.stages.push_back({stage, seconds[static_cast<std::size_t>(s)]});
    }
    times.probes.push_back(std::move(timed));
  }
  for (const double bytes : {64.0, 8192.0, 65536.0, 1048576.0, 16777216.0}) {
    times.collectives.push_back(
        {"alltoall", bytes, bytes, machine.intra.seconds(bytes, machine.ranks() - 1)});
  }
  return times;
}

std::vector<CalibrationPart> every_part() {
  std::vector<CalibrationPart> parts;
  for (int part = 0; part < kCalibrationParts; ++part)
    parts.push_back(static_cast<CalibrationPart>(part));
  return parts;
}

TEST(CalibrationFit, FindsTheConstantsOfAMachine) {
  const Topology machine = another_machine();
  const MachineFit fit = fit_machine(two_ranks(), times_of(machine, every_part()), "test",
                                     "2026-01-01", /*one_link=*/true);
  const Gpu& found = fit.calibration.gpu;
  const Gpu& truth = machine.gpu;
  EXPECT_DOUBLE_EQ(found.memory_bytes_per_s.value, truth.memory_bytes_per_s.value);
  EXPECT_NEAR(found.gather_efficiency.value, truth.gather_efficiency.value, 0.03);
  EXPECT_NEAR(found.reduce_efficiency.value, truth.reduce_efficiency.value, 0.02);
  EXPECT_NEAR(found.update_efficiency.value, truth.update_efficiency.value, 0.02);
  EXPECT_NEAR(found.sort_bytes_per_key.value, truth.sort_bytes_per_key.value, 30);
  EXPECT_NEAR(found.gemm_flops_per_s.value * found.gemm_efficiency.value,
              truth.gemm_flops_per_s.value * truth.gemm_efficiency.value, 2e9);
  EXPECT_NEAR(fit.calibration.intra.latency_s.value, 4e-6, 1e-7);
  EXPECT_NEAR(fit.calibration.intra.by_size.back().bytes_per_s, 3e9, 3e7);
  EXPECT_EQ(fit.calibration.inter.by_size, fit.calibration.intra.by_size);
  EXPECT_TRUE(fit.refused.empty()) << fit.refused.front();
  for (const FittedTime& time : fit.times)
    EXPECT_NEAR(time.fitted_s / time.measured_s, 1, 0.1) << time.what << " " << time.stage;
}

TEST(CalibrationFit, PredictionsFollowTheMeasuredMachine) {
  const Topology machine = another_machine();
  const MachineFit fit = fit_machine(two_ranks(), times_of(machine, every_part()), "test",
                                     "2026-01-01", /*one_link=*/true);
  const Topology calibrated_machine = calibrated(two_ranks(), fit.calibration);
  for (const Probe& probe : calibration_probes(2)) {
    const double truth = predicted_seconds(probe.workload, machine, probe.layout, {}).value();
    const double guess = predicted_seconds(probe.workload, two_ranks(), probe.layout, {}).value();
    const double now =
        predicted_seconds(probe.workload, calibrated_machine, probe.layout, {}).value();
    EXPECT_NEAR(now / truth, 1, 0.1) << probe.name;
    EXPECT_NE(now, guess) << probe.name;
  }
}

TEST(CalibrationFit, OnlyWhatWasAskedForIsStored) {
  const MachineFit fit =
      fit_machine(two_ranks(), times_of(another_machine(), {CalibrationPart::exchange}), "test",
                  "2026-01-01", /*one_link=*/true);
  EXPECT_EQ(fit.calibration.gpu.gather_efficiency.value, 0);
  EXPECT_EQ(fit.calibration.gpu.launch_s.value, 0);
  EXPECT_FALSE(fit.calibration.intra.by_size.empty());
}

TEST(CalibrationFit, AMeasuredExchangeSettlesTheTrust) {
  const Probe probe = calibration_probes(2).front();
  EXPECT_EQ(predict(probe.workload, two_ranks(), probe.layout, {})->trust,
            Trust::unmeasured_exchange);
  const MachineFit fit =
      fit_machine(two_ranks(), times_of(another_machine(), {CalibrationPart::exchange}), "test",
                  "2026-01-01", /*one_link=*/true);
  const auto now =
      predict(probe.workload, calibrated(two_ranks(), fit.calibration), probe.layout, {});
  EXPECT_NE(now->trust, Trust::unmeasured_exchange);
}

TEST(CalibrationFit, RatesAboveADatasheetPeakAreRefused) {
  LinkModel link;
  link.bytes_per_s = {25e9, Origin::datasheet, "datasheet", "2026-01-01"};
  std::vector<std::string> refused;
  const LinkModel fitted = fitted_link(
      link,
      {{"alltoall", 64, 64, 5e-6}, {"alltoall", 1e6, 1e6, 60e-6}, {"alltoall", 1e8, 1e8, 1e-3}},
      "test", "2026-01-01", refused);
  ASSERT_EQ(fitted.by_size.size(), 1U);
  EXPECT_LE(fitted.efficiency.value, 1);
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_NE(refused.front().find("above the link's peak"), std::string::npos);
}

TEST(CalibrationFit, EfficienciesAboveOneAreRefusedAndSaidSo) {
  Topology machine = another_machine();
  MachineTimes times = times_of(machine, {CalibrationPart::gather});
  for (TimedProbe& probe : times.probes)
    for (TimedStage& stage : probe.stages) stage.seconds /= 20;
  const MachineFit fit = fit_machine(two_ranks(), times, "test", "2026-01-01", true);
  EXPECT_LE(fit.calibration.gpu.gather_efficiency.value, 1);
  ASSERT_EQ(fit.refused.size(), 1U);
  EXPECT_NE(fit.refused.front().find("gather_efficiency"), std::string::npos);
}

TEST(CalibrationProbes, AreValidLayoutsOfTheEngine) {
  for (const std::int32_t ranks : {2, 3, 8}) {
    Topology topology = topology_by_name("host-cpu:1x" + std::to_string(ranks)).value();
    std::set<std::string> names;
    for (const Probe& probe : calibration_probes(ranks)) {
      EXPECT_TRUE(names.insert(probe.name).second) << probe.name;
      for (const Violation& violation :
           check(probe.workload, topology, probe.layout, Executor::engine))
        EXPECT_NE(violation.severity, Severity::error) << probe.name << ": " << violation.message;
    }
  }
}

TEST(CalibrationParts, NamesComeBack) {
  for (const CalibrationPart part : every_part())
    EXPECT_EQ(parse_calibration_part(to_string(part)), part);
  EXPECT_FALSE(parse_calibration_part("exchanges"));
}

TEST(SenderShare, ReceiversThatCopySpareTheSender) {
  const Probe probe = calibration_probes(2).front();
  Layout lopsided = probe.layout;
  for (TablePlacement& table : lopsided.tables) table.owners = {0};
  Topology wires = two_ranks();
  wires.intra.sender_share = 1;
  Topology copies = wires;
  copies.intra.sender_share = 0;
  EXPECT_LE(predicted_seconds(probe.workload, copies, lopsided, {}).value(),
            predicted_seconds(probe.workload, wires, lopsided, {}).value());
}

}  // namespace
}  // namespace shardscope
