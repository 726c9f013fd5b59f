#pragma once
// Constants of a machine from what other programs measured on it.

#include "app/options.hpp"
#include "layout/result.hpp"
#include "layout/topology.hpp"
#include "storage/calibration_file.hpp"

namespace shardscope::app {

/// The machine that the files are of: --topology, which they do not name themselves.
[[nodiscard]] Result<Topology> topology_of_files(const CalibrateOptions& options);

/// Fits what the files tell and lists what they do not. Notes of the import go to stderr.
[[nodiscard]] Result<storage::CalibrationFile> fitted_file(const CalibrateOptions& options,
                                                           const Topology& topology);

}  // namespace shardscope::app
