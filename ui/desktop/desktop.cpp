#include "ui/desktop/desktop.hpp"

#include <chrono>
#include <utility>

#include "storage/queries/runs.hpp"
#include "ui/desktop/open.hpp"
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
  options.schedule = ScheduleKind::inter;
  document = std::make_unique<Document>(std::move(*model), std::move(*machine), std::move(*first),
                                        std::move(options));
  workload_name = workload;
  topology_name = topology;
  layout_name = layout;
  timeline = {};
  run = {};
  scale = {};
  history = {};
  tune = {};
  session.reset();
  if (workspace == Workspace::start) workspace = Workspace::tune;
  return {};
}

Status Desktop::open_session(const std::string& path) {
  auto opened = storage::Session::open(path, storage::Session::Access::read_only);
  if (!opened) return fail(opened.error());
  auto fresh = std::make_unique<storage::Session>(std::move(*opened));
  auto read = document_of(*fresh);
  if (!read) return fail(read.error());
  timeline = {};  // before the session that it reads from
  run = {};
  scale = {};
  history = {};
  tune = {};
  session = std::move(fresh);
  document = std::move(*read);
  workload_name = document->workload().name;
  topology_name = document->topology().name;
  layout_name = document->layout().name;
  remember_recent(settings, path);
  start.sessions.erase(path);
  if (workspace == Workspace::start) workspace = Workspace::tune;
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
}

void Desktop::try_open_model(const std::string& workload, const std::string& topology,
                             const std::string& layout) {
  if (Status opened = open_model(workload, topology, layout); !opened) tell(opened.error());
}

void Desktop::tell(Severity severity, std::string text) {
  for (const Notice& notice : notices) {
    if (notice.text == text) return;
  }
  notices.push_back({severity, std::move(text)});
  if (notices.size() > kMostNotices) notices.erase(notices.begin());
}

void Desktop::apply(const Result<Edit>& edit) {
  if (!edit) {
    tell(Severity::warning, to_string(edit.error()));
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
  follow_engine(desktop);
  ui.draw.fill(window, ui.colors.window);
  const std::vector<Command> commands = commands_of(desktop, ui.memory());
  if (desktop.document == nullptr) desktop.exporting = false;
  const bool overlaid =
      desktop.palette.open || desktop.menu || desktop.keys_shown || desktop.exporting;
  if (!overlaid) run_by_key(ui, commands);

  Rect rest = window;
  draw_top_bar(ui, desktop, rest.take_top(kTopBar));
  draw_status_bar(ui, desktop, rest.take_bottom(kStatusBar));
  for (std::size_t i = 0; i < desktop.notices.size();) {
    const Rect bar = rest.take_top(kNoticeBar);
    if (draw_notice(ui, desktop.notices[i], i, bar)) {
      ++i;
    } else {
      desktop.notices.erase(desktop.notices.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  draw_workspace(ui, desktop, rest);

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
  desktop.frame_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace shardscope::ui
