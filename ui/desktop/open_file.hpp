#pragma once
// Any file a person names, drops or passes: recognised by its content, opened as what it is.

#include <string>

#include "ui/desktop/desktop.hpp"

namespace shardscope::ui {

/// Sessions, models, topologies and layouts open at once; plans and traces of other programs are
/// read in the background (follow_import). What is open stays on an error.
[[nodiscard]] Status open_path(Desktop& desktop, const std::string& path);
/// The same, its error told in a notice.
void try_open_path(Desktop& desktop, const std::string& path);

/// Takes over a finished import; called every frame.
void follow_import(Desktop& desktop);
/// Waits for a running import and takes it over; its error where it failed.
[[nodiscard]] Status finish_import(Desktop& desktop);

}  // namespace shardscope::ui
