#pragma once
// Layouts of the history into the session file.

#include "ui/desktop/desktop.hpp"

namespace shardscope::ui {

/// Stores every layout of the history that the session does not hold yet, notes, the star and the
/// predictions; into a new session where none is open. The history stays as it is on an error.
[[nodiscard]] Status save_document(Desktop& desktop);

/// States that the session does not hold.
[[nodiscard]] int unsaved_layouts(const Document& document);

}  // namespace shardscope::ui
