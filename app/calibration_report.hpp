#pragma once
// What a calibration found, as text and JSON.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "layout/topology.hpp"
#include "storage/calibration_file.hpp"

namespace shardscope::app {

/// Constants beside what the machine's preset had, rates by message size, times beside their fit,
/// what was refused and what is missing.
[[nodiscard]] std::string calibration_text(const storage::CalibrationFile& file,
                                           const Topology& before);

/// The file's own fields (docs/formats.md).
[[nodiscard]] nlohmann::ordered_json calibration_json(const storage::CalibrationFile& file);

}  // namespace shardscope::app
