#pragma once
// The numbers of the predicted iteration: stages beside the reference, and the answer itself.

#include "ui/desktop/desktop.hpp"

namespace shardscope::ui {

void draw_stage_table(Ui& ui, Desktop& desktop, const Rect& area);
void draw_figures(Ui& ui, const Desktop& desktop, const Rect& area);

}  // namespace shardscope::ui
