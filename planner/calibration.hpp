#pragma once
// From timed probes to a machine's constants: a peak that was only guessed is replaced by the best
// seen, efficiencies are fitted in log space with priors, nothing above a peak is kept.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layout/calibration.hpp"
#include "layout/layout.hpp"
#include "layout/schedule.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope {

/// What can be measured alone.
enum class CalibrationPart : std::uint8_t { memory, gather, reduce, update, input, gemm, exchange };
inline constexpr int kCalibrationParts = 7;

[[nodiscard]] const char* to_string(CalibrationPart value);
[[nodiscard]] std::optional<CalibrationPart> parse_calibration_part(std::string_view name);
/// "memory, gather, ..." for messages.
[[nodiscard]] std::string calibration_parts();

/// A small model that one run measures: gather, reduce, update and input are stages of one
/// iteration, so that its probes serve all four.
struct Probe {
  std::string name;    ///< what differs: "dim 64 fp32, zipf 1.05, sgd"
  bool dense = false;  ///< GEMMs; else embeddings
  Workload workload;
  Layout layout;
};

/// Probes for that many ranks: rows by dim, dtype and skew, bag lengths, optimizers, many small
/// tables; GEMMs by width and batch. Tables of at most 64 MiB.
[[nodiscard]] std::vector<Probe> calibration_probes(std::int32_t ranks);

/// The stages that a part is fitted to.
[[nodiscard]] std::vector<Stage> stages_of(CalibrationPart part);

/// One timed stage of a probe: seconds of a rank, mean over ranks.
struct TimedStage {
  Stage stage = Stage::input_dist;
  double seconds = 0;
};

struct TimedProbe {
  Probe probe;
  std::vector<TimedStage> stages;
};

/// One collective at one message size.
struct CollectiveTime {
  std::string collective;     ///< alltoall | all_reduce | counts
  double message_bytes = 0;   ///< between two ranks; all_reduce: the buffer
  double received_bytes = 0;  ///< by one rank from all others
  double seconds = 0;

  friend bool operator==(const CollectiveTime&, const CollectiveTime&) = default;
};

/// Everything that was timed on one machine.
struct MachineTimes {
  double copy_bytes_per_s = 0;  ///< read and written by a large copy; 0: not timed
  std::int32_t ranks = 0;
  std::vector<TimedProbe> probes;
  std::vector<CollectiveTime> collectives;
  std::vector<CalibrationPart> parts;  ///< to fit; what is not among them keeps its constants
};

/// A timed figure beside what the fitted constants make of it.
struct FittedTime {
  std::string what;  ///< "gather dim 64 fp32"
  std::string stage;
  double measured_s = 0;
  double fitted_s = 0;

  friend bool operator==(const FittedTime&, const FittedTime&) = default;
};

struct MachineFit {
  Calibration calibration;  ///< value 0: not measured
  std::vector<FittedTime> times;
  std::vector<std::string> refused;  ///< what was not believed, and why
};

/// Fits to `machine` (its hosts, ranks, cache and priors). `source` and `date` go into every
/// constant. All ranks reach each other over one kind of link where `one_link` (threads): then both
/// link classes get the curve; else the class that joins the timed ranks.
[[nodiscard]] MachineFit fit_machine(const Topology& machine, const MachineTimes& times,
                                     const std::string& source, const std::string& date,
                                     bool one_link);

/// Latency (of the smallest message) and rate by size of the all-to-alls among `times`; empty
/// by_size where there are none.
[[nodiscard]] LinkModel fitted_link(const LinkModel& link, const std::vector<CollectiveTime>& times,
                                    const std::string& source, const std::string& date,
                                    std::vector<std::string>& refused);

}  // namespace shardscope
