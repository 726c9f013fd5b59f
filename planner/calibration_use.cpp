#include "planner/calibration_use.hpp"

#include <fmt/format.h>

namespace shardscope {

Status require_same_device(const Topology& topology, const Calibration& calibration,
                           const std::string& measured, const std::string& place) {
  const std::string& device = calibration.gpu.name;
  if (device.empty() || device == topology.gpu.name) return {};
  return fail(
      {ErrorKind::usage,
       fmt::format("the calibration is of {}, {} has {}", device, topology.name, topology.gpu.name),
       place, "a calibration of the topology's device",
       fmt::format("Calibrate on that machine, or choose the topology that was measured{}",
                   measured.empty() ? "" : " (" + measured + ")")});
}

}  // namespace shardscope
