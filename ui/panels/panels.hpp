#pragma once
// Every pane of the desktop: draws itself into its rectangle and does what the hand asks.

#include "ui/desktop/desktop.hpp"

namespace shardscope::ui {

void draw_top_bar(Ui& ui, Desktop& desktop, const Rect& bar);
void draw_status_bar(Ui& ui, const Desktop& desktop, const Rect& bar);
/// False when it was put away; `action` is what its button does then.
bool draw_notice(Ui& ui, const Notice& notice, std::size_t index, const Rect& bar,
                 std::function<void()>& action);
/// The file that is being read, how far it is, and Cancel.
void draw_import_bar(Ui& ui, Desktop& desktop, const Rect& bar);
/// The Open dialog begins where a file was last opened.
void show_open_dialog(Desktop& desktop, UiMemory& memory);
void draw_settings_dialog(Ui& ui, Desktop& desktop, const Rect& window);
void draw_open_dialog(Ui& ui, Desktop& desktop, const Rect& window);
void draw_workspace(Ui& ui, Desktop& desktop, const Rect& area);

void draw_tune(Ui& ui, Desktop& desktop, Rect area);
void draw_tables_panel(Ui& ui, Desktop& desktop, Rect area);
void draw_reuse_plot(Ui& ui, const Desktop& desktop, const Rect& area);
void draw_map_panel(Ui& ui, Desktop& desktop, Rect area);
void draw_inspector_panel(Ui& ui, Desktop& desktop, Rect area);
void draw_advice_panel(Ui& ui, Desktop& desktop, Rect area);
void draw_prediction_panel(Ui& ui, Desktop& desktop, Rect area);

void draw_timeline(Ui& ui, Desktop& desktop, Rect area);
void draw_start(Ui& ui, Desktop& desktop, const Rect& area);
void draw_scale(Ui& ui, Desktop& desktop, Rect area);
void draw_history(Ui& ui, Desktop& desktop, Rect area);
void draw_export_dialog(Ui& ui, Desktop& desktop, const Rect& window);
void draw_run(Ui& ui, Desktop& desktop, Rect area);

}  // namespace shardscope::ui
