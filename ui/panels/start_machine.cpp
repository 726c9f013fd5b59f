#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "layout/models.hpp"
#include "ui/draw/symbols.hpp"
#include "ui/model/numbers.hpp"
#include "ui/panels/start_parts.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

struct Capability {
  bool there;
  std::string what;
  std::string how;
  std::string why;  ///< second line, where something is missing
};

double memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long size = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && size > 0 ? static_cast<double>(pages) * static_cast<double>(size) : 0;
}

bool has_driver() {
  std::error_code ignored;
  return std::filesystem::exists("/dev/nvidiactl", ignored);
}

/// What the engine found with its doctor, under the words of this screen.
Capability of_engine(const EngineMachine& machine, std::string_view name, std::string what) {
  for (const EngineCapability& one : machine.capabilities) {
    if (one.name != name) continue;
    return {one.available, std::move(what), one.finding, one.available ? "" : one.help};
  }
  return {false, std::move(what), "not told", ""};
}

std::vector<Capability> capabilities_of(const EngineMachine& machine) {
  const std::string gpus = backend_refusal(machine, "cuda");
  return {{true, "Simulate any topology", "always", ""},
          of_engine(machine, "CPU ranks", "Run on the CPU"),
          of_engine(machine, gpus.starts_with("GPU") || gpus.empty() ? "GPU" : "CUDA plugin",
                    "Run on GPUs"),
          {gpus.empty(), "Emulate ranks on one GPU", gpus.empty() ? "ready" : "needs a GPU", ""},
          of_engine(machine, "CUPTI", "Trace GPU activity (CUPTI)")};
}

/// Before an engine has answered.
std::vector<Capability> capabilities() {
  const unsigned cores = std::thread::hardware_concurrency();
  const bool driver = has_driver();
  const std::string needs =
      driver ? "" : "no NVIDIA driver: install one, or connect to a host that has it";
  return {{true, "Simulate any topology", "always", ""},
          {true, "Run on the CPU", fmt::format("{} cores, {} GiB", cores, gib_text(memory_bytes())),
           "MEASURED; more ranks than cores share them, busy time is shown too"},
          {driver, "Run on GPUs", driver ? "driver found" : "no driver", needs},
          {driver, "Emulate ranks on one GPU", driver ? "ready" : "needs a GPU", ""},
          {driver, "Trace GPU activity (CUPTI)", driver ? "ready" : "needs a GPU", ""}};
}

Rect card(Ui& ui, Rect& area, float height, std::string_view title) {
  Rect rect = area.take_top(std::min(height, area.height()));
  area.take_top(16);
  ui.draw.fill(rect, ui.colors.pane);
  ui.draw.frame(rect, ui.colors.line);
  const Rect header = rect.take_top(30);
  ui.draw.fill(header, ui.colors.header);
  ui.draw.text(Font::strong, header.x0 + 14, header.center_y(), ui.colors.text, title);
  return rect;
}

/// Another engine: a command that ends in `shardscope serve`, usually through ssh.
void draw_engine_line(Ui& ui, Desktop& desktop, const Rect& row) {
  const float y = row.center_y();
  ui.draw.text(Font::small, row.x0 + 14, y, ui.colors.tertiary, "Engine");
  const Rect text{row.x0 + 90, y - 11, row.x1 - 104, y + 11};
  field(ui, "start/engine", text, desktop.start.engine_line,
        {.placeholder = "this machine, or: ssh user@host shardscope serve"});
  if (button(ui, "start/connect", {row.x1 - 96, y - 12, row.x1 - 14, y + 12}, "Use it",
             {.enabled = desktop.start.engine_line != desktop.engine_line})) {
    desktop.engine_line = desktop.start.engine_line;
    desktop.engine.reset();
    desktop.engine_state = desktop.engine_line.empty() ? "engine: idle, local" : "engine: remote";
  }
}

void draw_modes(Ui& ui, const Rect& rect) {
  float y = rect.y0 + 20;
  for (const auto& [mode, words] : {std::pair{Mode::simulated, "nothing ran: the planner's model"},
                                    {Mode::emulated, "kernels real, wires modelled or throttled"},
                                    {Mode::measured, "wall clock on the machine that ran"}}) {
    mode_badge(ui, rect.x0 + 14, y, mode);
    ui.draw.text_fit(Font::body, rect.x0 + 126, y, rect.width() - 140, ui.colors.secondary, words);
    y += 28;
  }
}

}  // namespace

void draw_machine(Ui& ui, Desktop& desktop, Rect area) {
  const Rect where = card(ui, area, 158, "Where to run");
  const Rect here{where.x0, where.y0 + 6, where.x1, where.y0 + 52};
  ui.draw.fill(here, ui.colors.selection);
  ui.draw.fill({here.x0, here.y0, here.x0 + 3, here.y1}, ui.colors.accent);
  draw_tick(ui.draw, {here.x0 + 22, here.y0 + 16}, ui.colors.good);
  ui.draw.text(Font::title, here.x0 + 38, here.y0 + 16, ui.colors.text, "This machine");
  ui.draw.text_right(Font::small, here.x1 - 14, here.y0 + 16, ui.colors.good, desktop.engine_state);
  ui.draw.text(Font::small, here.x0 + 38, here.y0 + 34, ui.colors.secondary,
               fmt::format("{} cores, {} GiB · CPU ranks and simulation",
                           std::thread::hardware_concurrency(), gib_text(memory_bytes())));
  draw_engine_line(ui, desktop, {where.x0, where.y1 - 72, where.x1, where.y1 - 40});
  const float y = where.y1 - 20;
  ui.draw.text(Font::small, where.x0 + 14, y, ui.colors.tertiary, "Simulate on");
  const Rect topology{where.x0 + 90, y - 11, where.x1 - 14, y + 11};
  if (ui.region("start/topology", topology).clicked) {
    std::vector<MenuItem> items;
    for (const std::string& name : topology_names()) {
      items.push_back({name, "", true, [&desktop, name] { desktop.start.topology = name; }});
    }
    desktop.menu = Menu{{topology.x0, topology.y1}, std::move(items)};
  }
  ui.draw.fill(topology, ui.colors.field, 2);
  ui.draw.frame(topology, ui.colors.strong_line, 2);
  ui.draw.text(Font::mono, topology.x0 + 8, y, ui.colors.text, desktop.start.topology);
  draw_caret_down(ui.draw, {topology.x1 - 12, y}, ui.colors.tertiary);

  const bool told = desktop.engine != nullptr && desktop.engine->machine().known;
  const std::vector<Capability> all =
      told ? capabilities_of(desktop.engine->machine()) : capabilities();
  float height = 44;
  for (const Capability& one : all) height += one.why.empty() ? 22.0F : 38.0F;
  const Rect can = card(ui, area, height,
                        told ? "What the engine's machine can do" : "What this machine can do");
  float at = can.y0 + 18;
  for (const Capability& one : all) {
    if (one.there) {
      draw_tick(ui.draw, {can.x0 + 22, at}, ui.colors.good);
    } else {
      ui.draw.fill(box(can.x0 + 18, at - 1, 8, 2), ui.colors.tertiary);
    }
    ui.draw.text(Font::strong, can.x0 + 38, at, ui.colors.text, one.what);
    const float named = ui.draw.width(Font::strong, one.what) + 50;
    const float room = can.width() - named - 14;
    const float width = std::min(room, ui.draw.width(Font::small, one.how));
    ui.draw.text_fit(Font::small, can.x1 - 14 - width, at, width + 1,
                     one.there ? ui.colors.secondary : ui.colors.tertiary, one.how);
    if (!one.why.empty()) {
      ui.draw.text_fit(Font::small, can.x0 + 38, at + 16, can.width() - 52, ui.colors.tertiary,
                       one.why);
      at += 16;
    }
    at += 22;
  }
  draw_modes(ui, card(ui, area, 122, "Modes, never blurred"));
}

}  // namespace shardscope::ui
