#pragma once
// predict(): what one iteration of (workload, topology, layout) takes, stage by stage, and how far
// that can be trusted. Formulas: docs/planner.md.

#include <cstdint>
#include <string>
#include <vector>

#include "layout/calibration.hpp"
#include "layout/executor.hpp"
#include "layout/layout.hpp"
#include "layout/result.hpp"
#include "layout/schedule.hpp"
#include "layout/table_stats.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"
#include "planner/simulate.hpp"

namespace shardscope {

/// Codecs that a planner may put on the wires, of those profiled in PredictOptions; none: it leaves
/// wires plain. A bound is below every layout whose codecs are among them.
struct AllowedCodecs {
  std::vector<std::string> forward;
  std::vector<std::string> backward;
  std::vector<double> bounds;  ///< of every table's forward codec
  bool relative = true;        ///< bounds are shares of a chunk's range

  [[nodiscard]] bool any() const { return !forward.empty() || !backward.empty(); }
};

struct PredictOptions {
  Executor executor = Executor::engine;
  ScheduleKind schedule = ScheduleKind::serial;
  std::vector<TableStats> stats;  ///< of some or all tables, by name
  std::vector<CodecProfile>
      codecs;                    ///< what layouts' codecs do; one that is not here costs nothing
  AllowedCodecs allowed_codecs;  ///< for planners and bounds
};

/// How far the absolute time can be trusted.
enum class Trust : std::uint8_t {
  ok,
  extrapolated,         ///< constants of this GPU are priors or far from what they were fitted on
  unmeasured_exchange,  ///< the wires' efficiency is a guess (PCIe boxes differ by 3x)
  input_bound,          ///< the reader sets the pace
};

[[nodiscard]] const char* to_string(Trust value);

/// One stage of one work (cluster or dense part), own time without waiting for others.
struct PredictedStage {
  Stage stage = Stage::input_dist;
  Work work = Work::RB;
  double max_s = 0;
  double mean_s = 0;
  std::int32_t slowest_rank = 0;
  std::vector<double> rank_s;
  double intra_bytes = 0;  ///< sent by all ranks
  double inter_bytes = 0;

  friend bool operator==(const PredictedStage&, const PredictedStage&) = default;
};

struct Prediction {
  double iteration_s = 0;
  double low_s = 0;  ///< 90 % interval from the constants' uncertainty and box-to-box spread
  double high_s = 0;
  double samples_per_s = 0;
  Trust trust = Trust::ok;
  std::string ask;                     ///< command that would raise the trust, or empty
  std::string reason;                  ///< of the trust level, one sentence
  std::vector<PredictedStage> stages;  ///< in schedule order
  double intra_bytes = 0;              ///< sent by all ranks in one iteration
  double inter_bytes = 0;
  std::int32_t critical_rank = 0;
  Stage critical_stage = Stage::input_dist;  ///< largest part of the critical path
  Work critical_work = Work::RB;
  Schedule schedule;
  Simulation simulation;
};

/// A layout and topology of equal ranks, a layout and workload of equal tables; else a usage error.
[[nodiscard]] Status check_sizes(const Workload& workload, const Topology& topology,
                                 const Layout& layout);

/// Prediction for a layout whose geometry is valid (layout/check.hpp). Errors: check_sizes().
[[nodiscard]] Result<Prediction> predict(const Workload& workload, const Topology& topology,
                                         const Layout& layout, const PredictOptions& options);

/// The iteration time alone, with no interval: for loops.
[[nodiscard]] Result<double> predicted_seconds(const Workload& workload, const Topology& topology,
                                               const Layout& layout, const PredictOptions& options);

/// One layout's iteration time over another's on one machine.
struct TimeRatio {
  double estimate = 1;
  double low = 1;   ///< 90 % interval from the constants' uncertainty; what equal boxes differ by
  double high = 1;  ///< cancels

  friend bool operator==(const TimeRatio&, const TimeRatio&) = default;
};

/// Time of `a` over time of `b`. Errors: check_sizes().
[[nodiscard]] Result<TimeRatio> predicted_ratio(const Workload& workload, const Topology& topology,
                                                const Layout& a, const Layout& b,
                                                const PredictOptions& options);

/// The topology with the constants that a calibration measured.
[[nodiscard]] Topology calibrated(Topology topology, const Calibration& calibration);

}  // namespace shardscope
