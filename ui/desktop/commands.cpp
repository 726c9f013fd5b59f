#include <fmt/format.h>

#include "ui/desktop/calibrate.hpp"
#include "ui/desktop/desktop.hpp"
#include "ui/desktop/pane_files.hpp"
#include "ui/desktop/run_control.hpp"
#include "ui/desktop/save.hpp"
#include "ui/panels/panels.hpp"
#include "ui/panels/scale_parts.hpp"
#include "ui/panels/timeline_parts.hpp"
#include "ui/panels/tune_actions.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

void add_general(std::vector<Command>& list, Desktop& desktop, UiMemory& memory) {
  const bool open = desktop.document != nullptr;
  list.push_back({"Show all keys", "F1", key::kF1, kNone, true,
                  [&] { desktop.keys_shown = !desktop.keys_shown; }});
  list.push_back({"Commands", "Ctrl+P", 'P', kCtrl, true, [&] {
                    desktop.palette = {.open = true};
                    focus_field(memory, "palette/text", "");
                  }});
  for (std::size_t i = 0; i < kWorkspaceNames.size(); ++i) {
    const auto workspace = static_cast<Workspace>(i + 1);
    list.push_back({fmt::format("Go to {}", kWorkspaceNames[i]), fmt::format("Ctrl+{}", i + 1),
                    '1' + static_cast<int>(i), kCtrl, open,
                    [&desktop, workspace] { desktop.choose(workspace); }});
  }
  list.push_back(
      {"Open a file", "Ctrl+O", 'O', kCtrl, true, [&] { show_open_dialog(desktop, memory); }});
  list.push_back({"Go to the start screen", "Ctrl+N", 'N', kCtrl, true,
                  [&] { desktop.choose(Workspace::start); }});
  list.push_back(
      {"Settings", "Ctrl+,", key::kComma, kCtrl, true, [&] { desktop.settings_shown = true; }});
  list.push_back({"Next pane", "Tab", key::kTab, kNone, open, [&] { memory.step_pane(1); }});
  list.push_back(
      {"Previous pane", "Shift+Tab", key::kTab, kShift, open, [&] { memory.step_pane(-1); }});
  list.push_back({"Copy the pane's table", "Ctrl+C", 'C', kCtrl, open && memory.editing == 0,
                  [&] { copy_pane(desktop, memory); }});
  list.push_back({"Save the pane as CSV", "Ctrl+Shift+C", 'C', kCtrl | kShift, open,
                  [&] { save_pane_csv(desktop, memory); }});
  list.push_back({"Save the pane as a picture", "Ctrl+Shift+P", 'P', kCtrl | kShift, open,
                  [&] { save_pane_picture(desktop, memory, false); }});
  list.push_back({"Save the window as a picture", "", 0, kNone, true,
                  [&] { save_pane_picture(desktop, memory, true); }});
  list.push_back({"Switch between dark and light", "", 0, kNone, true, [&] {
                    desktop.settings.theme =
                        desktop.settings.theme == Theme::dark ? Theme::light : Theme::dark;
                  }});
  list.push_back({desktop.settings.strict ? "Allow drops that make the layout invalid"
                                          : "Refuse drops that make the layout invalid",
                  "", 0, kNone, true, [&] { desktop.settings.strict = !desktop.settings.strict; }});
  list.push_back({"Quit", "Ctrl+Q", 'Q', kCtrl, true, [&] { desktop.quit = true; }});
}

void add_history(std::vector<Command>& list, Desktop& desktop) {
  Document* document = desktop.document.get();
  const bool undo = document != nullptr && document->history().can_undo();
  const bool redo = document != nullptr && document->history().can_redo();
  list.push_back({"Undo", "Ctrl+Z", 'Z', kCtrl, undo, [document] { document->undo(); }});
  list.push_back(
      {"Redo", "Ctrl+Shift+Z", 'Z', kCtrl | kShift, redo, [document] { document->redo(); }});
  list.push_back({"Make this layout the reference", "*", '8', kShift, document != nullptr,
                  [document] { document->set_reference(document->history().current()); }});
}

void add_running(std::vector<Command>& list, Desktop& desktop) {
  const bool open = desktop.document != nullptr;
  const bool running = desktop.engine != nullptr && desktop.engine->job() != nullptr;
  list.push_back({"Run the current layout", "F5", key::kF5, kNone, open && !running,
                  [&] { start_run(desktop, service::JobKind::run); }});
  list.push_back({"Compare with the reference", "Ctrl+R", 'R', kCtrl, open && !running,
                  [&] { start_run(desktop, service::JobKind::compare); }});
  const bool learns = open && desktop.document->workload().dense.interaction != Interaction::none;
  list.push_back({"Train the current layout", "F7", key::kF7, kNone, learns && !running,
                  [&] { start_run(desktop, service::JobKind::train); }});
  list.push_back({"Move the running job to the current layout", "F8", key::kF8, kNone,
                  open && can_apply(desktop), [&] { apply_to_run(desktop); }});
  list.push_back({"Calibrate: measure this host's CPU", "", 0, kNone, open && !running,
                  [&] { start_calibration(desktop); }});
  list.push_back({"Pause or resume the run", "F6", key::kF6, kNone, running,
                  [&] { desktop.engine->pause(!desktop.engine->job()->paused); }});
  list.push_back(
      {"Stop the run", "Shift+F5", key::kF5, kShift, running, [&] { desktop.engine->stop(); }});
  list.push_back({"Plan", "Ctrl+L", 'L', kCtrl, open, [&] {
                    desktop.choose(Workspace::scale);
                    start_plan(desktop);
                  }});
  list.push_back(
      {"Save layouts into the session", "Ctrl+S", 'S', kCtrl, open, [&] { try_save(desktop); }});
  list.push_back(
      {"Export the layout", "Ctrl+E", 'E', kCtrl, open, [&] { desktop.exporting = true; }});
  list.push_back({"Tables as a drawer", "Ctrl+B", 'B', kCtrl, open,
                  [&] { desktop.tune.tables_open = !desktop.tune.tables_open; }});
}

}  // namespace

std::vector<Command> commands_of(Desktop& desktop, UiMemory& memory) {
  std::vector<Command> list;
  add_general(list, desktop, memory);
  add_history(list, desktop);
  add_running(list, desktop);
  if (desktop.document != nullptr && desktop.workspace == Workspace::tune) {
    add_tune_commands(list, desktop, memory);
  }
  if (desktop.document != nullptr && desktop.workspace == Workspace::timeline) {
    add_timeline_commands(list, desktop, memory);
  }
  return list;
}

}  // namespace shardscope::ui
