#include <fmt/format.h>

#include <algorithm>

#include "ui/model/numbers.hpp"
#include "ui/panels/pane_tables.hpp"
#include "ui/panels/timeline_parts.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

struct EventColumnsAt {
  float start, duration, rank, stream, stage, cluster, sent, rate, rows, kernel, call;
  explicit EventColumnsAt(const Rect& area) {
    start = area.x0 + 110;
    duration = start + 100;
    rank = duration + 60;
    stream = rank + 60;
    stage = stream + 24;
    cluster = stage + 170;
    sent = cluster + 130;
    rate = sent + 100;
    rows = rate + 110;
    kernel = rows + 24;
    call = std::max(kernel + 120, area.x1 - 190);
  }
};

void draw_event(Ui& ui, TimelineState& timeline, const Span& span, const Rect& row,
                const EventColumnsAt& at, std::size_t index) {
  const Touch touch = ui.region(fmt::format("timeline/event/{}", index), row);
  const bool selected = timeline.selected && *timeline.selected == span;
  if (selected) {
    ui.draw.fill(row, ui.colors.selection);
    ui.draw.fill({row.x0, row.y0, row.x0 + 3, row.y1}, ui.colors.accent);
  } else if (touch.hovered) {
    ui.draw.fill(row, ui.colors.control);
  }
  if (touch.clicked) {
    timeline.selected = span;
    timeline.folded.erase(span.rank);
  }
  const float y = row.center_y();
  const double origin = timeline.statistics_of ? timeline.statistics_of->begin : 0;
  const auto number = [&](float x, const std::string& text, Color color) {
    ui.draw.text_right(Font::mono, x, y, color, text);
  };
  number(at.start, "+" + duration_text(static_cast<double>(span.start_ns) - origin),
         ui.colors.secondary);
  const auto ns = static_cast<double>(span.end_ns - span.start_ns);
  number(at.duration, duration_text(ns), ui.colors.text);
  number(at.rank, fmt::format("{}", span.rank), ui.colors.secondary);
  number(at.stream, fmt::format("{}", span.stream), ui.colors.secondary);
  ui.draw.fill(box(at.stage, y - 4, 9, 9), ui.colors.stage(span.stage));
  ui.draw.text(Font::small, at.stage + 15, y, ui.colors.text,
               std::string(shardscope::to_string(span.stage)) + (span.waiting ? " (waiting)" : ""));
  if (span.work == Work::DP || span.work == Work::RB || span.work == Work::UB) {
    cluster_chip(ui, at.cluster, y, static_cast<ClusterType>(span.work));
  } else {
    ui.draw.text(Font::small, at.cluster, y, ui.colors.tertiary, shardscope::to_string(span.work));
  }
  const double bytes = static_cast<double>(span.intra_bytes + span.inter_bytes);
  if (bytes > 0) {
    number(at.sent, bytes_text(bytes), ui.colors.text);
    if (ns > 0) number(at.rate, bytes_per_s_text(bytes / ns * 1e9), ui.colors.secondary);
  }
  if (span.rows > 0) number(at.rows, grouped_text(span.rows), ui.colors.secondary);
  const storage::DeviceWork* work =
      timeline.activities != nullptr ? timeline.activities->of(span) : nullptr;
  if (work == nullptr) return;
  ui.draw.text_fit(Font::mono_small, at.kernel, y, at.call - at.kernel - 14, ui.colors.text,
                   work->name);
  if (touch.hovered && ui.in.mouse.x > at.kernel && ui.in.mouse.x < at.call) {
    ui.tooltip(work->name);
  }
  ui.draw.text_fit(Font::small, at.call, y, row.x1 - at.call - 8, ui.colors.accent,
                   work->call.name);
}

}  // namespace

void draw_events(Ui& ui, Desktop& desktop, Rect area) {
  TimelineState& timeline = desktop.timeline;
  ui.draw.fill(area, ui.colors.pane);
  ui.pane("Events in the range", area, [&desktop] { return events_table(desktop); });
  pane_header(ui, area.take_top(kHeaderHeight), "Events in the range",
              fmt::format("{}{} · click shows it above · Ctrl+C copies",
                          grouped_text(static_cast<std::int64_t>(timeline.events.size())),
                          timeline.events_truncated ? " first" : ""));
  const EventColumnsAt at(area);
  const Rect header = area.take_top(20);
  ui.draw.fill(header, ui.colors.header);
  const float y = header.center_y();
  const auto sortable = [&](EventColumn column, float x0, float x1, std::string_view label,
                            Align align) {
    const bool sorted = timeline.sort == column;
    if (column_header(ui, "timeline/sort/" + std::string(label), x0, x1, y, label, align, sorted,
                      timeline.descending)) {
      timeline.descending = sorted ? !timeline.descending : column == EventColumn::duration;
      timeline.sort = column;
      timeline.statistics_of.reset();
    }
  };
  sortable(EventColumn::start, at.start - 70, at.start, "start", Align::right);
  sortable(EventColumn::duration, at.duration - 80, at.duration, "duration", Align::right);
  sortable(EventColumn::rank, at.rank - 40, at.rank, word_of(timeline), Align::right);
  ui.draw.text_right(Font::small, at.stream, y, ui.colors.tertiary, "stream");
  sortable(EventColumn::stage, at.stage, at.stage + 100, "stage", Align::left);
  ui.draw.text(Font::small, at.cluster, y, ui.colors.tertiary, "cluster");
  ui.draw.text_right(Font::small, at.sent, y, ui.colors.tertiary, "sent");
  ui.draw.text_right(Font::small, at.rate, y, ui.colors.tertiary, "rate");
  ui.draw.text_right(Font::small, at.rows, y, ui.colors.tertiary, "rows");
  if (timeline.activities != nullptr && timeline.activities->any()) {
    ui.draw.text(Font::small, at.kernel, y, ui.colors.tertiary, "kernel");
    ui.draw.text(Font::small, at.call, y, ui.colors.tertiary, "launched by");
  }
  const std::vector<Span>& events = timeline.events;
  const bool only_found = !timeline.find.empty();
  const std::size_t count = only_found ? timeline.found.size() : events.size();
  scroll(ui, "timeline/events/scroll", area, kRowHeight * static_cast<float>(count),
         timeline.events_scroll);
  ui.draw.clip(area);
  const auto first = static_cast<std::size_t>(timeline.events_scroll / kRowHeight);
  for (std::size_t i = first; i < count; ++i) {
    const float top = area.y0 + kRowHeight * static_cast<float>(i) - timeline.events_scroll;
    if (top > area.y1) break;
    const std::size_t index = only_found ? timeline.found[i] : i;
    draw_event(ui, timeline, events[index], box(area.x0, top, area.width() - 8, kRowHeight), at, i);
  }
  ui.draw.unclip();
}

}  // namespace shardscope::ui
