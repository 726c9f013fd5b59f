#pragma once
// "shardscope.calibration/1": what was measured of a machine, and what was made of it
// (docs/formats.md).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "layout/calibration.hpp"
#include "layout/result.hpp"
#include "planner/calibration.hpp"

namespace shardscope::storage {

struct CalibrationFile {
  Calibration calibration;  ///< value 0: not measured; environment is a JSON object
  std::string topology;     ///< machine that was measured
  std::string comm;         ///< threads | nccl | ...; empty: from files
  std::int32_t ranks = 0;   ///< that took part
  bool interrupted = false;
  std::vector<std::string> missing;  ///< what the measurements do not tell
  std::vector<std::string> refused;  ///< what was not believed, and why
  std::vector<FittedTime> times;
  std::vector<CollectiveTime> collectives;

  friend bool operator==(const CalibrationFile&, const CalibrationFile&) = default;
};

[[nodiscard]] std::string to_json(const CalibrationFile& file);

/// Errors name `place` and line and column, or the path of a wrong, unknown or missing field; a
/// share above 1 and a curve that does not ascend are refused.
[[nodiscard]] Result<CalibrationFile> calibration_from_json(std::string_view text,
                                                            const std::string& place);

}  // namespace shardscope::storage
