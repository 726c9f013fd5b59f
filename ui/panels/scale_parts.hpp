#pragma once
// The planner beside the matrix.

#include "ui/desktop/desktop.hpp"

namespace shardscope::ui {

/// Starts the planner as the fields say.
void start_plan(Desktop& desktop);
/// Takes over a finished plan, or its failure.
void follow_plan(Desktop& desktop);
void draw_planner_pane(Ui& ui, Desktop& desktop, Rect area);
/// Search over time: best so far, and the bound.
void draw_search(Ui& ui, const Desktop& desktop, const Rect& area);
void draw_histogram(Ui& ui, const Rect& area, std::string_view title, const std::string& words,
                    const std::vector<double>& current, const std::vector<double>* proposed,
                    std::string (*amount)(double));

}  // namespace shardscope::ui
