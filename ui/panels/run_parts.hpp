#pragma once
// The parts of the Run workspace.

#include "ui/desktop/desktop.hpp"

namespace shardscope::ui {

void draw_run_setup(Ui& ui, Desktop& desktop, Rect area);
/// Run and Compare; progress with Pause and Stop while something runs.
void draw_run_buttons(Ui& ui, Desktop& desktop, const Rect& area);
void draw_throughput(Ui& ui, const Desktop& desktop, Rect area);
/// `predicted`: the ratio that the model says; 0 where it says none.
void draw_ratio_axis(Ui& ui, const Interval& ratio, double predicted, const Rect& area);
/// "+4.8 %" of predicted / measured - 1.
[[nodiscard]] std::string error_text(double error);
void draw_ratio_table(Ui& ui, const Desktop& desktop, const Rect& area);
void draw_run_stages(Ui& ui, Desktop& desktop, Rect area);
void draw_run_ranks(Ui& ui, Desktop& desktop, Rect area);
/// Loss and AUC as a training goes on.
void draw_learning(Ui& ui, Desktop& desktop, Rect area);
/// Bytes that the exchanges sent, A and B.
void draw_run_wires(Ui& ui, Desktop& desktop, Rect area);

}  // namespace shardscope::ui
