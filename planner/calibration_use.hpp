#pragma once
// A calibration that somebody wants used for a machine.

#include <string>

#include "layout/calibration.hpp"
#include "layout/result.hpp"
#include "layout/topology.hpp"

namespace shardscope {

/// A usage error where the calibration is of another device than the topology's. `measured`: name
/// of the topology that was calibrated, may be empty; `place`: the file.
[[nodiscard]] Status require_same_device(const Topology& topology, const Calibration& calibration,
                                         const std::string& measured, const std::string& place);

}  // namespace shardscope
