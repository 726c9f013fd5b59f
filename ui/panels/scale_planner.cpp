#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "layout/json.hpp"
#include "layout/names.hpp"
#include "planner/executor_model.hpp"
#include "planner/plan_rules.hpp"
#include "planner/planners.hpp"
#include "ui/desktop/run_control.hpp"
#include "ui/draw/symbols.hpp"
#include "ui/model/numbers.hpp"
#include "ui/panels/pane_tables.hpp"
#include "ui/panels/panels.hpp"
#include "ui/panels/scale_parts.hpp"
#include "ui/panels/titles.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

constexpr float kRoomForBalance = 720;  ///< of the pane, so that changes have room below
constexpr float kRoomForSearch = 500;

double setting_number(const std::string& text, double otherwise) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end != text.c_str() && value >= 0 && value < 1e9 ? value : otherwise;
}

void discard(ScaleState& scale) {
  if (scale.job != nullptr && !scale.job->finished()) scale.job->cancel();
  scale.job.reset();
  scale.proposed.reset();
  scale.proposed_evaluation.reset();
  scale.diff.reset();
  scale.failure.clear();
  scale.show = 0;
}

void draw_settings(Ui& ui, Desktop& desktop, const Rect& area) {
  ScaleState& scale = desktop.scale;
  const float y = area.y0 + 16;
  const bool running = scale.job != nullptr && !scale.job->finished();
  ui.draw.text(Font::small, area.x0, y, ui.colors.tertiary, "Planner");
  const Rect chooser = box(area.x0 + 60, y - 11, 150, 22);
  if (ui.region("scale/planner", chooser).clicked && !running) {
    std::vector<MenuItem> items = {
        {"optimize", "with a bound", true, [&scale] { scale.planner = "optimize"; }}};
    for (const std::string& name : named_planners()) {
      items.push_back({name, "", true, [&scale, name] { scale.planner = name; }});
    }
    desktop.menu = Menu{{chooser.x0, chooser.y1}, std::move(items)};
  }
  ui.draw.fill(chooser, ui.colors.field, 2);
  ui.draw.frame(chooser, ui.colors.strong_line, 2);
  ui.draw.text(Font::body, chooser.x0 + 8, y, ui.colors.text, scale.planner);
  draw_caret_down(ui.draw, {chooser.x1 - 12, y}, ui.colors.tertiary);
  float x = chooser.x1 + 14;
  ui.draw.text(Font::small, x, y, ui.colors.tertiary, "Time limit, s");
  field(ui, "scale/limit", box(x + 74, y - 11, 54, 22), scale.time_limit,
        {.align_right = true, .enabled = !running});
  x += 142;
  if (x + 90 < area.x1) {
    ui.draw.text(Font::small, x, y, ui.colors.tertiary, "Seed");
    field(ui, "scale/seed", box(x + 32, y - 11, 46, 22), scale.seed,
          {.align_right = true, .enabled = !running});
  }
}

void choose_executor(Ui& ui, Desktop& desktop, const Rect& rect, bool enabled) {
  const Executor now = desktop.document->executor();
  const Touch touch = ui.region("scale/executor", rect);
  if (touch.clicked && enabled) {
    std::vector<MenuItem> items;
    for (const auto& [executor, hint] : {std::pair{Executor::engine, "this program's engine"},
                                         {Executor::hugectr, "HugeCTR"},
                                         {Executor::torchrec, "TorchRec"}}) {
      items.push_back({shardscope::to_string(executor), hint, true, [&desktop, one = executor] {
                         desktop.set_executor(one, default_schedule(one));
                       }});
    }
    desktop.menu = Menu{{rect.x0, rect.y1}, std::move(items)};
  }
  if (touch.hovered) {
    ui.tooltip(
        "Who will train it: fixes schedule, memory rules and legal forms\nof every "
        "prediction and check, not of plans alone.");
  }
  ui.draw.fill(rect, ui.colors.field, 2);
  ui.draw.frame(rect, ui.colors.strong_line, 2);
  ui.draw.text(Font::body, rect.x0 + 8, rect.center_y(), ui.colors.text,
               shardscope::to_string(now));
  draw_caret_down(ui.draw, {rect.x1 - 12, rect.center_y()}, ui.colors.tertiary);
}

/// Executor, rules as text, and how many pins are kept.
void draw_rules(Ui& ui, Desktop& desktop, const Rect& area) {
  ScaleState& scale = desktop.scale;
  const bool running = scale.job != nullptr && !scale.job->finished();
  float y = area.y0 + 12;
  ui.draw.text(Font::small, area.x0, y, ui.colors.tertiary, "Executor");
  choose_executor(ui, desktop, box(area.x0 + 60, y - 11, 110, 22), !running);
  const Layout& layout = desktop.document->layout();
  std::int64_t pins = 0;
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    pins += desktop.document->pinned_table(static_cast<std::int32_t>(t)) ? 1 : 0;
  }
  ui.draw.text_fit(Font::small, area.x0 + 184, y, area.width() - 184, ui.colors.secondary,
                   pins > 0 ? plural(pins, "pinned table") + " kept as placed"
                            : "no table is pinned (P in Tune)");
  y += 28;
  ui.draw.text(Font::small, area.x0, y, ui.colors.tertiary, "Rules");
  const Rect rect{area.x0 + 60, y - 11, area.x1, y + 11};
  field(ui, "scale/rules", rect, scale.rules,
        {.placeholder = "TABLE=DP  TABLE=0,1  !7  TABLE+TABLE", .enabled = !running});
  const auto rules = parse_plan_rules(scale.rules, desktop.document->workload(),
                                      desktop.document->topology().ranks());
  if (!rules) ui.draw.frame(rect, ui.colors.warning, 2);
  if (ui.hovers(rect)) {
    ui.tooltip(rules ? "TABLE=DP, RB or UB fixes a cluster · TABLE=0,1 its GPUs\n!7 is a GPU that "
                       "owns nothing · TABLE+TABLE stay whole on one GPU"
                     : to_string(rules.error()));
  }
}

void draw_progress(Ui& ui, Desktop& desktop, const Rect& area) {
  ScaleState& scale = desktop.scale;
  const float y = area.y0 + 12;
  const Rect action{area.x1 - 84, y - 12, area.x1, y + 12};
  if (scale.job == nullptr || scale.job->finished()) {
    if (button(ui, "scale/plan", action, scale.diff ? "Plan again" : "Plan",
               {.style = scale.diff ? ButtonStyle::plain : ButtonStyle::primary})) {
      start_plan(desktop);
    }
    const std::string words = !scale.failure.empty() ? scale.failure
                              : scale.diff
                                  ? std::string("finished; nothing is applied yet")
                                  : std::string("searches clusters, cuts and owners together");
    ui.draw.text_fit(Font::small, area.x0, y, action.x0 - area.x0 - 12,
                     scale.failure.empty() ? ui.colors.tertiary : ui.colors.error, words);
    if (!scale.failure.empty() && ui.hovers(area)) ui.tooltip(scale.failure);
    return;
  }
  desktop.busy = true;
  const OptimizeProgress now = scale.job->progress();
  const double limit = std::max(0.1, scale.job->request().time_limit_s);
  const Rect bar{area.x0, y - 8, action.x0 - 12, y};
  ui.draw.fill(bar, ui.colors.lane);
  Rect done = bar;
  done.x1 = bar.x0 + bar.width() * static_cast<float>(std::min(1.0, now.elapsed_s / limit));
  ui.draw.fill(done, ui.colors.accent);
  ui.draw.text(Font::small, area.x0, y + 12, ui.colors.secondary,
               fmt::format("{:.2f} of {:.1f} s · {}", now.elapsed_s, limit, now.phase));
  if (button(ui, "scale/cancel", action, "Cancel", {})) scale.job->cancel();
}

void draw_answer(Ui& ui, const Desktop& desktop, const Rect& area) {
  const ScaleState& scale = desktop.scale;
  if (!scale.proposed_evaluation) return;
  const Evaluation& after = *scale.proposed_evaluation;
  const double before = desktop.document->current().iteration_s;
  const double bound = scale.bound_s > 0 ? scale.bound_s : desktop.document->bound().value_or(0);
  const float pitch = area.width() / 4;
  const auto figure = [&](int i, const std::string& value, std::string_view unit,
                          std::string_view what) {
    const float x = area.x0 + pitch * static_cast<float>(i);
    ui.draw.text(Font::digits, x, area.y0 + 14, ui.colors.text, value);
    ui.draw.text(Font::small, x + ui.draw.width(Font::digits, value) + 5, area.y0 + 17,
                 ui.colors.tertiary, unit);
    ui.draw.text_fit(Font::small, x, area.y0 + 35, pitch - 6, ui.colors.tertiary, what);
  };
  figure(0, short_ms_text(after.iteration_s), "ms", "best iteration");
  const Rate rate = rate_text(after.samples_per_s);
  figure(1, rate.value, rate.unit.substr(0, 1) + "/s", "throughput, samples");
  figure(2, fmt::format("{:.1f}", before > 0 ? (1 - after.iteration_s / before) * 100 : 0), "%",
         "less time than now");
  figure(3, bound > 0 ? fmt::format("{:.1f}", (after.iteration_s / bound - 1) * 100) : "–", "%",
         "above the bound");
}

void draw_changes(Ui& ui, Desktop& desktop, const Rect& area) {
  ScaleState& scale = desktop.scale;
  float y = area.y0 + 10;
  const float tables = area.x1 - 270, was = area.x1 - 250, becomes = area.x1 - 150, gain = area.x1;
  ui.draw.fill({area.x0 - kPadding, area.y0, area.x1 + kPadding, area.y0 + 20}, ui.colors.header);
  ui.draw.text(Font::small, area.x0, y, ui.colors.tertiary, "change");
  ui.draw.text_right(Font::small, tables, y, ui.colors.tertiary, "tables");
  ui.draw.text(Font::small, was, y, ui.colors.tertiary, "was");
  ui.draw.text(Font::small, becomes, y, ui.colors.tertiary, "becomes");
  ui.draw.text_right(Font::small, gain, y, ui.colors.tertiary, "alone, ms");
  Rect list = area;
  list.y0 += 22;
  scroll(ui, "scale/changes/scroll", list, 20 * static_cast<float>(scale.diff->groups.size()),
         scale.plan_scroll);
  ui.draw.clip(list);
  y = list.y0 + 10 - scale.plan_scroll;
  for (std::size_t i = 0; i < scale.diff->groups.size(); ++i, y += 20) {
    PlanGroup& group = scale.diff->groups[i];
    if (y < list.y0 - 20 || y > list.y1 + 20) continue;
    check_box(ui, fmt::format("scale/tick/{}", i), {area.x0, y - 7}, group.ticked);
    const Color color = group.ticked ? ui.colors.text : ui.colors.tertiary;
    ui.draw.text_fit(Font::small, area.x0 + 20, y, tables - 30 - area.x0 - 20, color, group.label);
    ui.draw.text_right(Font::mono_small, tables, y, color, fmt::format("{}", group.tables.size()));
    ui.draw.text_fit(Font::small, was, y, 94, ui.colors.secondary, group.was);
    ui.draw.text_fit(Font::small, becomes, y, 92, color, group.becomes);
    ui.draw.text_right(Font::mono_small, gain, y,
                       group.gain_s >= 0 ? ui.colors.good : ui.colors.worse,
                       signed_ms_text(-group.gain_s));
  }
  ui.draw.unclip();
}

void draw_buttons(Ui& ui, Desktop& desktop, const Rect& area) {
  ScaleState& scale = desktop.scale;
  const Layout layout = ticked_layout(desktop.document->layout(), *scale.proposed, *scale.diff);
  float x = area.x0;
  const float y = area.y0;
  const auto place = [&](float width) {
    const Rect rect = box(x, y, width, kButtonHeight);
    x += width + 8;
    return rect;
  };
  if (button(ui, "scale/accept", place(124), "Accept ticked", {.style = ButtonStyle::primary})) {
    desktop.document->apply(layout, "Accept the plan of " + scale.planner);
    discard(scale);
    return;
  }
  if (button(ui, "scale/branch", place(130), "Keep as a branch", {})) {
    desktop.document->add_branch(desktop.document->history().current(), layout,
                                 "Plan of " + scale.planner);
    discard(scale);
    return;
  }
  if (button(ui, "scale/discard", place(76), "Discard", {})) discard(scale);
}

}  // namespace

void start_plan(Desktop& desktop) {
  ScaleState& scale = desktop.scale;
  discard(scale);
  auto rules = parse_plan_rules(scale.rules, desktop.document->workload(),
                                desktop.document->topology().ranks());
  if (!rules) {
    scale.failure = to_string(rules.error());
    return;
  }
  PlanRequest request;
  request.options.constraints = std::move(*rules);
  request.planner = scale.planner;
  request.time_limit_s = setting_number(scale.time_limit, 2);
  request.seed = static_cast<std::uint64_t>(setting_number(scale.seed, 1));
  request.options.predict = desktop.document->options();
  request.options.starts = {desktop.document->layout()};
  const Layout& layout = desktop.document->layout();
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    const auto table = static_cast<std::int32_t>(t);
    if (desktop.document->pinned_table(table)) {
      request.options.constraints.pinned.emplace_back(table, layout.tables[t]);
    }
  }
  scale.planned_for = desktop.document->history().current();
  if (desktop.engine_line.empty()) {
    scale.job = std::make_shared<PlanJob>(desktop.document->workload(),
                                          desktop.document->topology(), std::move(request));
    return;
  }
  // Another machine's engine was chosen: it plans, too.
  service::StartJob job;
  job.kind = service::JobKind::plan;
  job.workload_json = to_json(desktop.document->workload());
  job.topology_json = to_json(desktop.document->topology());
  job.layout_jsons = {to_json(layout)};
  job.settings.planner = request.planner;
  job.settings.executor = shardscope::to_string(request.options.predict.executor);
  job.settings.schedule = shardscope::to_string(request.options.predict.schedule);
  job.settings.budget_s = request.time_limit_s;
  job.settings.seed = request.seed;
  job.settings.rules = scale.rules;
  for (const auto& [table, placement] : request.options.constraints.pinned) {
    job.settings.pinned += fmt::format("{}{}", job.settings.pinned.empty() ? "" : ",", table);
  }
  auto plan = engine_of(desktop).start_plan(std::move(job), std::move(request));
  if (plan) {
    scale.job = std::move(*plan);
  } else {
    scale.failure = to_string(plan.error());
  }
}

void follow_plan(Desktop& desktop) {
  ScaleState& scale = desktop.scale;
  // An edit made since makes the comparison stale: the proposal itself stays good.
  if (scale.diff && scale.planned_for != desktop.document->history().current()) {
    scale.diff = plan_diff(*desktop.document, *scale.proposed);
    scale.planned_for = desktop.document->history().current();
  }
  if (scale.job == nullptr || scale.proposed != nullptr || !scale.failure.empty()) return;
  if (!scale.job->finished()) return;
  const Result<OptimizedPlan>& result = scale.job->result();
  if (!result) {
    scale.failure = to_string(result.error());
    return;
  }
  scale.proposed = std::make_shared<const Layout>(result->layout);
  scale.bound_s = result->lower_bound_s;
  scale.proposed_evaluation = desktop.document->evaluator().evaluate(scale.proposed);
  scale.diff = plan_diff(*desktop.document, *scale.proposed);
  scale.planned_for = desktop.document->history().current();
  scale.show = 1;
}

void draw_planner_pane(Ui& ui, Desktop& desktop, Rect area) {
  ScaleState& scale = desktop.scale;
  const Evaluation& now = desktop.document->current();
  ui.draw.fill(area, ui.colors.pane);
  ui.pane("Planner", area, [&desktop] { return changes_table(desktop); });
  // Low windows keep what is worked with: plots go first.
  const float height = area.height();
  const auto inner = [&](float room) { return area.take_top(room).inset(kPadding + 4, 6); };
  const Evaluation* after = scale.proposed_evaluation ? &*scale.proposed_evaluation : nullptr;
  const auto imbalance = [](const Evaluation& e) {
    return fmt::format("{:.2f}", e.load_imbalance());
  };
  if (height > kRoomForBalance) {
    pane_header(ui, area.take_top(kHeaderHeight), "Balance",
                "GPUs by load and by memory; outline = current, fill = proposed");
    draw_histogram(
        ui, inner(112), "Load",
        "max / mean  " + imbalance(now) + (after != nullptr ? " → " + imbalance(*after) : ""),
        now.load_s, after != nullptr ? &after->load_s : nullptr,
        [](double s) { return short_ms_text(s) + " ms"; });
    draw_histogram(ui, inner(112), "Memory",
                   fmt::format("limit {} GiB", gib_text(now.memory_limit)), now.memory_bytes,
                   after != nullptr ? &after->memory_bytes : nullptr, bytes_text);
  }
  pane_header(ui, area.take_top(kHeaderHeight), "Planner",
              "clusters, cuts, owners and exchange together, with a proven bound");
  draw_settings(ui, desktop, inner(40));
  draw_rules(ui, desktop, inner(68));
  draw_progress(ui, desktop, inner(44));
  if (height > kRoomForSearch) draw_search(ui, desktop, inner(128));
  if (scale.proposed_evaluation) draw_answer(ui, desktop, inner(62));
  pane_header(ui, area.take_top(kHeaderHeight), "Proposed plan", "nothing is applied yet");
  if (!scale.diff) {
    ui.draw.text_fit(Font::small, area.x0 + kPadding, area.y0 + 22, area.width() - 2 * kPadding,
                     ui.colors.tertiary,
                     "Plan searches for a better layout; its changes stand here, to be ticked.");
    return;
  }
  const Rect buttons = area.take_bottom(44).inset(kPadding, 10);
  const Rect words = area.take_bottom(24).inset(kPadding, 0);
  double moved = 0;
  for (const PlanGroup& group : scale.diff->groups) moved += group.ticked ? group.moved_bytes : 0;
  const bool sound = after != nullptr && after->errors == 0;
  if (sound) {
    draw_tick(ui.draw, {words.x0 + 5, words.center_y()}, ui.colors.good);
  } else {
    draw_cross(ui.draw, {words.x0 + 5, words.center_y()}, ui.colors.error);
  }
  ui.draw.text_fit(
      Font::small, words.x0 + 18, words.center_y(), words.width() - 20, ui.colors.secondary,
      fmt::format("{} for {} · {} move", sound ? "valid" : "not valid",
                  shardscope::to_string(desktop.document->executor()), bytes_text(moved)));
  draw_changes(ui, desktop, area.inset(kPadding, 0));
  draw_buttons(ui, desktop, buttons);
}

}  // namespace shardscope::ui
