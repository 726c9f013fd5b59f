#pragma once
// The right half of the start screen.

#include "ui/desktop/desktop.hpp"

namespace shardscope::ui {

/// Where to run and what this machine can do, and what the three modes mean.
void draw_machine(Ui& ui, Desktop& desktop, Rect area);

}  // namespace shardscope::ui
