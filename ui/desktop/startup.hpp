#pragma once
// What the command line asks the desktop to open.

#include <string>

#include "ui/desktop/desktop.hpp"
#include "ui/desktop/options.hpp"

namespace shardscope::ui {

/// Opens the session or model of the options; nothing where neither is named. The error is told to
/// the caller, not in a notice.
[[nodiscard]] Status open_as_asked(Desktop& desktop, const GuiOptions& options);

/// A file dropped on the window or named in the Open field: a session, model, topology or layout,
/// recognised by its content. Errors become notices.
void open_dropped(Desktop& desktop, const std::string& path);

}  // namespace shardscope::ui
