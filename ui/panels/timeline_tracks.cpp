#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "ui/draw/symbols.hpp"
#include "ui/model/numbers.hpp"
#include "ui/panels/timeline_parts.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

constexpr float kRankHeader = 20;
constexpr float kStream = 20;
constexpr float kGhost = 7;
constexpr float kStreamPitch = 34;
constexpr float kFolded = 43;
constexpr int kQueriesAFrame = 12;
constexpr float kHatched = 10;  ///< narrower folded boxes differ by their tone alone
constexpr float kLabelAt = 5;   ///< labels need this much width

Color item_color(const Ui& ui, const TimelineState& timeline, Stage stage, Work work) {
  if (timeline.colour == 1) {
    switch (work) {
      case Work::DP:
      case Work::RB:
      case Work::UB:
        return ui.colors.clusters[static_cast<std::size_t>(work)];
      default:
        return ui.colors.idle;
    }
  }
  return ui.colors.stage(stage);
}

bool has_cluster(Work work) {
  return work == Work::DP || work == Work::RB || work == Work::UB;
}

bool same_span(const Span& a, const LevelNode& node, const TimelineTrack& track) {
  return a.rank == track.rank && a.stream == track.stream && a.start_ns == node.first_start_ns &&
         a.end_ns == node.end_ns;
}

void draw_item(Ui& ui, Desktop& desktop, const TimeScale& scale, const TimelineTrack& track,
               std::size_t index, const LevelNode& node, float y, float height) {
  TimelineState& timeline = desktop.timeline;
  const bool several = node.count > 1;
  const float x0 = std::max(scale.x(static_cast<double>(node.first_start_ns)), scale.x0);
  const float x1 = std::min(scale.x(static_cast<double>(node.end_ns)), scale.x1);
  if (x1 < scale.x0 || x0 > scale.x1) return;
  const Rect rect{x0, y, std::max(x1, x0 + 1), y + height};
  ++timeline.boxes;
  timeline.shown_spans += node.count;
  const Color color = item_color(ui, timeline, node.longest_stage, node.longest_work);
  if (node.longest_waiting && !several) {
    ui.draw.fill(rect, with_alpha(color, 40));
    ui.draw.hatch(rect, color, 5, 1);
  } else {
    ui.draw.fill(rect, several ? mix(color, ui.colors.idle, 0.35F) : color);
    if (several && height > 8 && rect.width() > kHatched)
      ui.draw.hatch(rect, with_alpha(ui.colors.pane, 110), 4, 1);
    const bool foot = timeline.colour == 0 && has_cluster(node.longest_work) && height >= 14;
    if (foot) {
      ui.draw.fill({rect.x0, rect.y1 - 3, rect.x1, rect.y1},
                   ui.colors.clusters[static_cast<std::size_t>(node.longest_work)]);
    }
  }
  if (height >= 14 && rect.width() > 24) {
    const std::string words = several ? fmt::format("×{}", node.count)
                                      : std::string(shardscope::to_string(node.longest_stage));
    if (!node.longest_waiting || several) {
      ui.draw.text_fit(Font::small, rect.x0 + kLabelAt, rect.center_y(), rect.width() - 8,
                       text_on(color), words);
    }
  }
  if (!several && timeline.selected && same_span(*timeline.selected, node, track)) {
    ui.draw.frame(rect.inset(-1, -1), ui.colors.text, 0, 2);
  }
  if (!ui.hovers(rect) || timeline.panning) return;
  if (several) {
    ui.tooltip(
        fmt::format("{} events too narrow to draw one by one\nbusy {}, longest {} of {}",
                    grouped_text(node.count), duration_text(static_cast<double>(node.covered_ns)),
                    duration_text(static_cast<double>(node.longest_end_ns - node.longest_start_ns)),
                    shardscope::to_string(node.longest_stage)));
    return;
  }
  const auto spans = timeline.source->spans(index, node.first_start_ns, node.first_start_ns + 1, 4);
  if (!spans || spans->empty()) return;
  timeline.hovered = spans->front();
  for (const Span& span : *spans) {
    if (span.end_ns == node.end_ns && span.stage == node.longest_stage) timeline.hovered = span;
  }
  ui.draw.frame(rect, ui.colors.text);
  std::string words =
      span_tooltip(*timeline.hovered, word_of(timeline), timeline.view.shown().begin);
  if (timeline.activities != nullptr) {
    words += activity_words(*timeline.activities, *timeline.hovered);
  }
  ui.tooltip(std::move(words));
}

void draw_stream(Ui& ui, Desktop& desktop, const TimeScale& scale, std::size_t index, float y,
                 float height) {
  TimelineState& timeline = desktop.timeline;
  const std::vector<LevelNode>* items = nullptr;
  if (!track_items(timeline, index, scale.x1 - scale.x0, kQueriesAFrame, &items)) {
    desktop.busy = true;
  }
  const TimelineTrack& track = timeline.source->tracks()[index];
  const auto shown_begin = static_cast<std::int64_t>(scale.shown.begin);
  // Items are sorted by start; long ones may reach in from the left, within one margin.
  for (const LevelNode& node : *items) {
    if (node.end_ns < shown_begin) continue;
    if (static_cast<double>(node.first_start_ns) > scale.shown.end) break;
    draw_item(ui, desktop, scale, track, index, node, y, height);
  }
}

/// The predicted iteration, thin, aligned with the start of every recorded iteration.
void draw_ghost(Ui& ui, const TimelineState& timeline, const TimeScale& scale,
                const TimelineTrack& track, float y) {
  if (timeline.ghost == nullptr) return;
  const std::vector<TimelineTrack>& tracks = timeline.ghost->tracks();
  for (std::size_t g = 0; g < tracks.size(); ++g) {
    if (tracks[g].rank != track.rank || tracks[g].stream != track.stream) continue;
    const auto spans = timeline.ghost->spans(g, INT64_MIN / 4, INT64_MAX / 4, 200);
    if (!spans) return;
    int drawn = 0;
    for (const Iteration& iteration : iterations_in(*timeline.source, scale.shown)) {
      if (++drawn > 40) break;
      for (const Span& span : *spans) {
        const auto start = static_cast<double>(iteration.start_ns);
        const Rect rect{std::max(scale.x0, scale.x(start + static_cast<double>(span.start_ns))), y,
                        std::min(scale.x1, scale.x(start + static_cast<double>(span.end_ns))),
                        y + kGhost};
        if (rect.width() < 1) continue;
        ui.draw.frame(rect, ui.colors.stage(span.stage));
      }
    }
    return;
  }
}

void draw_iterations(Ui& ui, const TimelineState& timeline, const TimeScale& scale,
                     const Rect& area) {
  float before = -1e6F;
  for (const Iteration& iteration : iterations_in(*timeline.source, scale.shown)) {
    const auto start = static_cast<double>(iteration.start_ns);
    if (start < scale.shown.begin) continue;
    const float x = scale.x(start);
    if (x - before < 60) continue;
    before = x;
    ui.draw.dotted_vertical(x, area.y0, area.y1, ui.colors.strong_line, 5, 4);
    ui.draw.text_fit(Font::small, x + 5, area.y0 + 9, 90, ui.colors.tertiary,
                     fmt::format("iteration {}", iteration.index));
  }
}

struct RankRow {
  std::int32_t rank;
  std::vector<std::size_t> tracks;
};

std::vector<RankRow> rows_of(const TimelineState& timeline) {
  std::vector<RankRow> rows;
  const std::vector<TimelineTrack>& tracks = timeline.source->tracks();
  for (const std::int32_t rank : rank_order(timeline)) {
    RankRow row{rank, {}};
    for (std::size_t t = 0; t < tracks.size(); ++t) {
      if (tracks[t].rank == rank) row.tracks.push_back(t);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

float row_height(const TimelineState& timeline, const RankRow& row) {
  return timeline.folded.contains(row.rank)
             ? kFolded
             : kRankHeader + kStreamPitch * static_cast<float>(row.tracks.size()) + 4;
}

/// From the call that launched the selected event (above its track) to the event.
void draw_launch(Ui& ui, const TimelineState& timeline, const TimeScale& scale, const Span& span,
                 float top, float height) {
  if (timeline.activities == nullptr) return;
  const storage::DeviceWork* work = timeline.activities->of(span);
  if (work == nullptr || work->call.name.empty()) return;
  const float x0 = scale.x(static_cast<double>(work->call.start_ns));
  const float x1 = std::max(x0 + 2, scale.x(static_cast<double>(work->call.end_ns)));
  const float to = scale.x(static_cast<double>(span.start_ns));
  const float y = top - 4;
  ui.draw.fill({x0, y - 3, x1, y + 3}, ui.colors.idle);
  ui.draw.frame({x0, y - 3, x1, y + 3}, ui.colors.accent);
  ui.draw.dashed_horizontal(x1, to, y, ui.colors.accent);
  ui.draw.vertical(to, y, top + height / 2, ui.colors.accent);
  ui.draw.triangle({to - 3, top + height / 2 - 4}, {to + 3, top + height / 2 - 4},
                   {to, top + height / 2}, ui.colors.accent);
  if (x1 > scale.x0 + 4) {
    ui.draw.text_right(Font::small, x0 - 5, y, ui.colors.accent, work->call.name);
  }
}

void draw_rank(Ui& ui, Desktop& desktop, const TimeScale& scale, const RankRow& row, float y,
               const Rect& area) {
  TimelineState& timeline = desktop.timeline;
  const bool folded = timeline.folded.contains(row.rank);
  const float height = row_height(timeline, row);
  const Rect head =
      box(area.x0, y, folded ? scale.x0 - area.x0 : area.width(), folded ? height : kRankHeader);
  const Touch touch = ui.region(fmt::format("timeline/rank/{}", row.rank),
                                box(area.x0, y, scale.x0 - area.x0, kRankHeader));
  if (touch.clicked) {
    if (folded) {
      timeline.folded.erase(row.rank);
    } else {
      timeline.folded.insert(row.rank);
    }
  }
  if (!folded) ui.draw.fill(head, ui.colors.header);
  ui.draw.horizontal(area.x0, area.x1, y, ui.colors.line);
  const float middle = y + 11;
  if (folded) {
    draw_caret_right(ui.draw, {area.x0 + 16, middle}, ui.colors.tertiary);
  } else {
    draw_caret_down(ui.draw, {area.x0 + 16, middle}, ui.colors.tertiary);
  }
  ui.draw.text(Font::strong, area.x0 + 26, middle, ui.colors.text,
               fmt::format("{} {}", word_of(timeline), row.rank));
  const bool pinned =
      std::find(timeline.pinned.begin(), timeline.pinned.end(), row.rank) != timeline.pinned.end();
  if (pinned) ui.draw.text(Font::small, area.x0 + 80, middle, ui.colors.accent, "pinned");
  if (folded) {
    ui.draw.text_right(Font::small, scale.x0 - 10, y + 30, ui.colors.tertiary,
                       plural(static_cast<std::int64_t>(row.tracks.size()), "stream") + " folded");
    const float pitch =
        (kFolded - 6) / static_cast<float>(std::max<std::size_t>(1, row.tracks.size()));
    for (std::size_t i = 0; i < row.tracks.size(); ++i) {
      draw_stream(ui, desktop, scale, row.tracks[i], y + 3 + pitch * static_cast<float>(i),
                  std::max(2.0F, pitch - 1));
    }
    return;
  }
  for (std::size_t i = 0; i < row.tracks.size(); ++i) {
    const TimelineTrack& track = timeline.source->tracks()[row.tracks[i]];
    const float top = y + kRankHeader + kStreamPitch * static_cast<float>(i) + 3;
    ui.draw.text_right(Font::small, scale.x0 - 10, top + 10, ui.colors.secondary,
                       fmt::format("stream {}", track.stream));
    draw_stream(ui, desktop, scale, row.tracks[i], top, kStream);
    const bool here = timeline.selected && timeline.selected->rank == track.rank &&
                      timeline.selected->stream == track.stream;
    if (here) {
      ui.draw.clip({scale.x0, area.y0, scale.x1, area.y1});
      draw_launch(ui, timeline, scale, *timeline.selected, top, kStream);
      ui.draw.unclip();
    }
    if (timeline.show_ghost && timeline.ghost != nullptr) {
      draw_ghost(ui, timeline, scale, track, top + kStream + 2);
      if (i == 0) {
        ui.draw.text_right(Font::small, scale.x0 - 10, top + kStream + 6, ui.colors.tertiary,
                           "predicted");
      }
    }
  }
}

/// The chain of cause along the tops of its boxes; it changes rank at a collective.
void draw_path(Ui& ui, const TimelineState& timeline, const TimeScale& scale,
               const std::vector<RankRow>& rows, const Rect& area) {
  if (!timeline.show_path || timeline.path.empty()) return;
  std::map<std::pair<std::int32_t, std::int32_t>, float> tops;
  float y = area.y0 - timeline.scroll;
  for (const RankRow& row : rows) {
    const bool folded = timeline.folded.contains(row.rank);
    const float pitch =
        (kFolded - 6) / static_cast<float>(std::max<std::size_t>(1, row.tracks.size()));
    for (std::size_t i = 0; i < row.tracks.size(); ++i) {
      const TimelineTrack& track = timeline.source->tracks()[row.tracks[i]];
      tops[{track.rank, track.stream}] =
          folded ? y + 3 + pitch * static_cast<float>(i)
                 : y + kRankHeader + kStreamPitch * static_cast<float>(i) + 3;
    }
    y += row_height(timeline, row);
  }
  ui.draw.clip({scale.x0, area.y0, scale.x1, area.y1});
  std::optional<Point> end;  // of the piece before
  for (const PathPiece& piece : timeline.path) {
    const auto top = tops.find({piece.rank, piece.stream});
    if (top == tops.end()) continue;
    const float from = scale.x(piece.begin_ns), to = scale.x(piece.end_ns);
    if (end) {
      ui.draw.horizontal(std::min(end->x, from), std::max(end->x, from), end->y, ui.colors.text, 2);
      ui.draw.vertical(from, std::min(end->y, top->second), std::max(end->y, top->second) + 2,
                       ui.colors.text, 2);
    }
    ui.draw.horizontal(from, std::max(to, from + 1), top->second, ui.colors.text, 2);
    end = Point{to, top->second};
  }
  ui.draw.unclip();
}

}  // namespace

std::string_view word_of(const TimelineState& timeline) {
  return timeline.source != nullptr ? timeline.source->word() : "GPU";
}

std::string span_tooltip(const Span& span, std::string_view word, double origin_ns) {
  std::string text = fmt::format(
      "{} {}{} · {} {} · stream {}\nduration {}\nstart +{}", shardscope::to_string(span.stage),
      shardscope::to_string(span.work), span.waiting ? " · waiting for peers" : "", word, span.rank,
      span.stream, duration_text(static_cast<double>(span.end_ns - span.start_ns)),
      duration_text(static_cast<double>(span.start_ns) - origin_ns));
  if (span.busy_ns > 0) {
    text += fmt::format("\nbusy {}", duration_text(static_cast<double>(span.busy_ns)));
  }
  const double bytes =
      static_cast<double>(span.intra_bytes) + static_cast<double>(span.inter_bytes);
  const auto seconds = static_cast<double>(span.end_ns - span.start_ns) / 1e9;
  if (bytes > 0 && seconds > 0) {
    text += fmt::format("\nsent {}, {}", bytes_text(bytes), bytes_per_s_text(bytes / seconds));
  }
  if (span.rows > 0) text += fmt::format("\nrows {}", grouped_text(span.rows));
  return text;
}

std::string activity_words(const ActivityLookup& activities, const Span& span) {
  const storage::DeviceWork* work = activities.of(span);
  if (work == nullptr) return {};
  std::string text = "\n" + work->name;
  if (work->grid[0] > 0) {
    text += fmt::format("\ngrid {} × {} × {}, block {} × {} × {}", work->grid[0], work->grid[1],
                        work->grid[2], work->block[0], work->block[1], work->block[2]);
  }
  if (work->bytes > 0) text += "\n" + bytes_text(static_cast<double>(work->bytes));
  if (!work->call.name.empty()) {
    text += fmt::format("\nlaunched by {}, {} earlier", work->call.name,
                        duration_text(static_cast<double>(span.start_ns - work->call.start_ns)));
  }
  return text;
}

void draw_tracks(Ui& ui, Desktop& desktop, const TimeScale& scale, const Rect& area) {
  TimelineState& timeline = desktop.timeline;
  std::vector<RankRow> rows = rows_of(timeline);
  if (timeline.hide_idle) {
    std::erase_if(rows, [&](const RankRow& row) {
      return std::all_of(row.tracks.begin(), row.tracks.end(), [&](std::size_t t) {
        const std::vector<LevelNode>* items = nullptr;
        track_items(timeline, t, scale.x1 - scale.x0, kQueriesAFrame, &items);
        return std::none_of(items->begin(), items->end(), [&](const LevelNode& node) {
          return static_cast<double>(node.end_ns) >= scale.shown.begin &&
                 static_cast<double>(node.first_start_ns) < scale.shown.end;
        });
      });
    });
  }
  float content = 0;
  for (const RankRow& row : rows) content += row_height(timeline, row);
  const Rect bar{area.x1 - 8, area.y0, area.x1, area.y1};
  timeline.scroll = std::clamp(timeline.scroll, 0.0F, std::max(0.0F, content - area.height()));
  draw_iterations(ui, timeline, scale, area);
  float y = area.y0 - timeline.scroll;
  for (const RankRow& row : rows) {
    const float height = row_height(timeline, row);
    if (y + height > area.y0 && y < area.y1) draw_rank(ui, desktop, scale, row, y, area);
    y += height;
  }
  draw_path(ui, timeline, scale, rows, area);
  if (content > area.height()) {
    const float length = std::max(24.0F, area.height() * area.height() / content);
    const float top =
        area.y0 + (area.height() - length) * timeline.scroll / (content - area.height());
    const Touch touch = ui.region("timeline/scroll", bar);
    if (touch.held) {
      timeline.scroll = (ui.in.mouse.y - area.y0 - length / 2) / (area.height() - length) *
                        (content - area.height());
    }
    ui.draw.fill(box(bar.x0 + 3, top, 4, length), ui.colors.strong_line, 2);
  }
}

}  // namespace shardscope::ui
