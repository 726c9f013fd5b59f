#pragma once
// This host measured, and its constants fitted to what was measured.

#include <cstdint>
#include <string>
#include <vector>

#include "app/jobs/job.hpp"
#include "layout/result.hpp"
#include "layout/topology.hpp"
#include "planner/calibration.hpp"
#include "storage/calibration_file.hpp"

namespace shardscope::app {

struct CalibrateJob {
  Topology topology;  ///< with the ranks that take part
  std::vector<CalibrationPart> parts;
  std::string backend = "cpu";
  std::string comm = "threads";
  double budget_s = 30;
  std::uint64_t seed = 1;
};

/// All parts where none is named. Errors name the part.
[[nodiscard]] Result<std::vector<CalibrationPart>> calibration_parts_of(
    const std::vector<std::string>& names);

/// Refuses devices and wires that cannot be measured; `parts`: names with commas between.
[[nodiscard]] Result<CalibrateJob> calibrate_job(const std::string& backend,
                                                 const std::string& comm, const std::string& parts);

/// Error where the topology is not of this host's CPU, or of too few or too many ranks.
[[nodiscard]] Status require_measurable(const Topology& topology);

[[nodiscard]] Result<storage::CalibrationFile> run_calibration(const CalibrateJob& job,
                                                               JobWatch& watch);

}  // namespace shardscope::app
