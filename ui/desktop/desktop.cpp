#include "ui/desktop/desktop.hpp"

#include <chrono>
#include <utility>

#include "layout/names.hpp"
#include "planner/executor_model.hpp"
#include "storage/queries/runs.hpp"
#include "ui/desktop/open.hpp"
#include "ui/desktop/open_file.hpp"
#include "ui/desktop/run_control.hpp"
#include "ui/desktop/session_document.hpp"
#include "ui/panels/panels.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

constexpr float kTopBar = 44;
constexpr float kStatusBar = 24;
constexpr float kNoticeBar = 30;
constexpr std::size_t kMostNotices = 3;

/// Bars from the top of `rest`. What a button does may add and remove notices: it runs last.
void draw_notices(Ui& ui, Desktop& desktop, Rect& rest) {
  std::optional<std::size_t> ended;
  std::function<void()> action;
  for (std::size_t i = 0; i < desktop.notices.size(); ++i) {
    if (draw_notice(ui, desktop.notices[i], i, rest.take_top(kNoticeBar), action)) continue;
    ended = i;
  }
  if (ended) desktop.notices.erase(desktop.notices.begin() + static_cast<std::ptrdiff_t>(*ended));
  if (action) action();
}

/// A frame around the pane that has the keyboard; Esc or a click gives it back.
void draw_keyboard_pane(Ui& ui) {
  UiMemory& memory = ui.memory();
  if (memory.pane.empty()) return;
  const bool left = ui.in.is_pressed(Button::left) || ui.key(key::kEscape);
  const Pane* pane = memory.meant_pane();
  if (left || pane == nullptr || pane->name != memory.pane) {
    memory.pane.clear();
    return;
  }
  ui.draw.frame(pane->rect, ui.colors.accent, 0, 2);
}

}  // namespace

Status Desktop::open_model(const std::string& workload, const std::string& topology,
                           const std::string& layout) {
  Result<Workload> model = open_workload(workload);
  if (!model) return fail(model.error());
  Result<Topology> machine = open_topology(topology);
  if (!machine) return fail(machine.error());
  Result<Layout> first = open_layout(layout, *model, *machine);
  if (!first) return fail(first.error());
  PredictOptions options;
  options.schedule = default_schedule(options.executor);
  set_document(std::make_unique<Document>(std::move(*model), std::move(*machine), std::move(*first),
                                          std::move(options)),
               workload);
  topology_name = topology;
  layout_name = layout;
  return {};
}

void Desktop::set_document(std::unique_ptr<Document> fresh, const std::string& opened_as) {
  timeline = {};  // before the session that it reads from
  run = {};
  scale = {};
  history = {};
  tune = {};
  session.reset();
  saving = {};
  document = std::move(fresh);
  ++documents;
  workload_name = opened_as;
  topology_name = document->topology().name;
  layout_name = document->layout().name;
  // What is predicted is what Run runs, unless another is typed there.
  run.schedule = shardscope::to_string(document->options().schedule);
  if (workspace == Workspace::start) workspace = Workspace::tune;
}

void Desktop::set_executor(Executor executor, ScheduleKind schedule) {
  document->set_executor(executor, schedule);
  if (executor == Executor::engine) run.schedule = shardscope::to_string(schedule);
  forget_prices();
}

void Desktop::calibrate(const Calibration& calibration) {
  document->calibrate(calibration);
  forget_prices();
}

void Desktop::forget_prices() {
  tune.map = {};
  tune.map_before = {};
  tune.alternatives = {};
  tune.suggestions = {};
  scale.matrix = {};
}

Status Desktop::open_session(const std::string& path) {
  auto opened = storage::Session::open(path, storage::Session::Access::read_only);
  if (!opened) return fail(opened.error());
  auto fresh = std::make_unique<storage::Session>(std::move(*opened));
  auto read = document_of(*fresh);
  if (!read) return fail(read.error());
  set_document(std::move(*read), {});
  workload_name = document->workload().name;
  session = std::move(fresh);
  remember_recent(settings, path);
  start.sessions.erase(path);
  const auto runs = storage::list_runs(*session);
  if (!runs) return fail(runs.error());
  for (auto last = runs->rbegin(); last != runs->rend(); ++last) {
    if (last->spans == 0) continue;
    open_run(last->id);
    break;
  }
  return {};
}

void Desktop::open_run(std::int64_t id) {
  auto source = session_source(*session, id);
  if (!source) {
    tell(source.error());
    return;
  }
  open_timeline(timeline, std::move(*source), std::to_string(id));
  timeline.activities = std::make_unique<ActivityLookup>(session->path(), id, wake);
}

void Desktop::try_open_model(const std::string& workload, const std::string& topology,
                             const std::string& layout) {
  if (Status opened = open_model(workload, topology, layout); !opened) tell(opened.error());
}

void Desktop::tell(NoticeKind kind, std::string text, std::vector<Notice::Action> actions) {
  for (const Notice& notice : notices) {
    if (notice.text == text) return;
  }
  notices.push_back({kind, std::move(text), std::move(actions)});
  if (notices.size() > kMostNotices) notices.erase(notices.begin());
}

void Desktop::apply(const Result<Edit>& edit) {
  if (!edit) {
    tell(NoticeKind::warning, to_string(edit.error()));
    return;
  }
  document->apply(*edit);
}

void Desktop::choose(Workspace next) {
  if (document == nullptr && next != Workspace::start) return;
  workspace = next;
}

void draw_desktop(Ui& ui, Desktop& desktop, const Rect& window) {
  const auto begin = std::chrono::steady_clock::now();
  desktop.busy = false;
  if (desktop.workspace == Workspace::start || desktop.workspace == Workspace::run) {
    follow_machine(desktop);
  }
  follow_engine(desktop);
  follow_import(desktop);
  follow_save(desktop);
  ui.draw.fill(window, ui.colors.window);
  const std::vector<Command> commands = commands_of(desktop, ui.memory());
  if (desktop.document == nullptr) desktop.exporting = false;
  const bool overlaid = desktop.palette.open || desktop.menu || desktop.keys_shown ||
                        desktop.exporting || desktop.opening.shown || desktop.settings_shown;
  if (!overlaid) run_by_key(ui, commands);

  Rect rest = window;
  draw_top_bar(ui, desktop, rest.take_top(kTopBar));
  draw_status_bar(ui, desktop, rest.take_bottom(kStatusBar));
  if (desktop.importing != nullptr) draw_import_bar(ui, desktop, rest.take_top(kNoticeBar));
  draw_notices(ui, desktop, rest);
  draw_workspace(ui, desktop, rest);
  draw_keyboard_pane(ui);

  if (desktop.opening.shown) draw_open_dialog(ui, desktop, window);
  if (desktop.settings_shown) draw_settings_dialog(ui, desktop, window);
  if (desktop.exporting) draw_export_dialog(ui, desktop, window);
  if (desktop.menu) {
    Menu menu = std::move(*desktop.menu);
    desktop.menu.reset();
    const bool open = draw_menu(ui, menu, window);
    if (open && !desktop.menu) desktop.menu = std::move(menu);
  }
  if (desktop.palette.open) draw_command_palette(ui, desktop.palette, commands, window);
  if (desktop.keys_shown && !draw_keys(ui, commands, window)) desktop.keys_shown = false;
  draw_tooltip(ui, window, ui.tooltip());
  follow_edits(desktop);
  desktop.frame_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace shardscope::ui
