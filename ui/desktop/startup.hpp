#pragma once
// What the command line asks the desktop to open.

#include <string>

#include "ui/desktop/desktop.hpp"
#include "ui/desktop/options.hpp"

namespace shardscope::ui {

/// Opens the file or model of the options; nothing where neither is named. The error is told to the
/// caller, not in a notice. Files of other programs go on being read in the background.
[[nodiscard]] Status open_as_asked(Desktop& desktop, const GuiOptions& options);

}  // namespace shardscope::ui
