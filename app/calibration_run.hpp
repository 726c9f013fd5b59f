#pragma once
// Measures this machine: every probe on its engine, every collective on the communicator.

#include <string>
#include <vector>

#include "app/jobs/job.hpp"
#include "layout/topology.hpp"
#include "planner/calibration.hpp"

namespace shardscope::app {

struct CalibrationRequest {
  Topology topology;  ///< with the ranks that take part
  std::vector<CalibrationPart> parts;
  double budget_s = 30;  ///< of measuring; making tables and ids comes on top
  std::uint64_t seed = 1;
};

struct MeasuredMachine {
  MachineTimes times;
  std::vector<std::string> failed;  ///< what could not be measured, and why
  bool interrupted = false;         ///< what was measured until then is there
};

/// On the cpu backend times are thread CPU time: other programs do not count. An error only where
/// nothing could be measured at all.
[[nodiscard]] Result<MeasuredMachine> measure_machine(const CalibrationRequest& request,
                                                      JobWatch& watch);

}  // namespace shardscope::app
