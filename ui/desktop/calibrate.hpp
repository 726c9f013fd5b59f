#pragma once
// A machine's constants measured from the desktop, and calibrations from files.

#include <optional>
#include <string>

#include "planner/trust.hpp"
#include "storage/calibration_file.hpp"
#include "ui/desktop/desktop.hpp"

namespace shardscope::ui {

/// What a calibration would add to the open document, or nothing where its predictions need none.
[[nodiscard]] std::optional<TrustJudgement> calibration_wanted(const Desktop& desktop);
/// Why the engine cannot measure that machine; empty where it can: this host's CPU.
[[nodiscard]] std::string calibration_refusal(const Topology& topology);
/// Whether runs here are predicted without anything measured of this host.
[[nodiscard]] bool host_unmeasured(const Desktop& desktop);

/// Lets the engine measure this host; errors become notices.
void start_calibration(Desktop& desktop);
/// Keeps what it measured in a file of the data folder and uses it.
void finish_calibration(Desktop& desktop, const std::string& json);

/// Predictions use what was measured: of the machine that is tuned for, or of this host, on which
/// runs stand for it. A usage error where it is of neither; `place` names the file.
[[nodiscard]] Status use_calibration(Desktop& desktop, const storage::CalibrationFile& file,
                                     const std::string& place);

}  // namespace shardscope::ui
