#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "ui/model/glossary.hpp"
#include "ui/model/numbers.hpp"
#include "ui/panels/pane_tables.hpp"
#include "ui/panels/timeline_parts.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

void big_figure(Ui& ui, float x, float y, std::string_view label, const std::string& value,
                std::string_view unit) {
  if (ui.hovers(box(x, y - 10, 110, 46))) {
    ui.tooltip(std::string(explain_term(label.substr(0, label.find(',')))));
  }
  ui.draw.text(Font::small, x, y, ui.colors.tertiary, label);
  ui.draw.text(Font::digits, x, y + 23, ui.colors.text, value);
  ui.draw.text(Font::small, x + ui.draw.width(Font::digits, value) + 5, y + 26, ui.colors.tertiary,
               unit);
}

float section(Ui& ui, const Rect& area, float y, std::string_view title, std::string_view right) {
  ui.draw.horizontal(area.x0, area.x1, y, ui.colors.line);
  ui.draw.text(Font::strong, area.x0 + kPadding, y + 16, ui.colors.text, title);
  ui.draw.text_right(Font::small, area.x1 - kPadding, y + 16, ui.colors.tertiary, right);
  return y + 36;
}

float draw_stages(Ui& ui, const RangeStatistics& range, const Rect& area, float y) {
  y = section(ui, area, y, "By stage", "mean, slowest rank · share");
  const double most = range.stages.empty() ? 1 : range.stages.front().mean_ns;
  for (const StageShare& stage : range.stages) {
    if (y + 8 > area.y1) return y;
    const Color color = ui.colors.stage(stage.stage);
    ui.draw.fill(box(area.x0 + kPadding, y - 5, 10, 10), color);
    ui.draw.text(Font::small, area.x0 + kPadding + 16, y, ui.colors.text,
                 shardscope::to_string(stage.stage));
    const float bar = area.x0 + 132;
    const float room = std::max(10.0F, area.width() - 132 - 206);
    ui.draw.fill(box(bar, y - 5, room * static_cast<float>(stage.mean_ns / most), 10), color);
    ui.draw.text_right(Font::mono_small, area.x1 - 128, y, ui.colors.text,
                       duration_text(stage.mean_ns));
    ui.draw.text_right(Font::mono_small, area.x1 - 52, y, ui.colors.secondary,
                       duration_text(stage.most_ns));
    if (ui.hovers({area.x0, y - 9, area.x1, y + 10})) {
      ui.tooltip(fmt::format("{}\n{}", shardscope::to_string(stage.stage),
                             explain_term(shardscope::to_string(stage.stage))));
    }
    ui.draw.text_right(
        Font::mono_small, area.x1 - kPadding, y, ui.colors.tertiary,
        fmt::format("{:.0f} %", range.length_ns > 0 ? stage.mean_ns / range.length_ns * 100 : 0.0));
    y += 19;
  }
  return y + 4;
}

/// "G3", "r3".
std::string short_title(std::string_view word, std::int32_t rank) {
  return fmt::format("{}{}", word == "GPU" ? "G" : "r", rank);
}

float draw_waiting(Ui& ui, const RangeStatistics& range, std::string_view word, const Rect& area,
                   float y) {
  if (range.ranks.size() < 2 || y + 110 > area.y1) return y;
  y = section(ui, area, y, "Waiting for others", "inside collectives");
  double most = 1;
  std::size_t least = 0;
  for (std::size_t i = 0; i < range.ranks.size(); ++i) {
    most = std::max(most, range.ranks[i].waiting_ns);
    if (range.ranks[i].waiting_ns < range.ranks[least].waiting_ns) least = i;
  }
  const float room = area.width() - 2 * kPadding;
  const float pitch = room / static_cast<float>(range.ranks.size());
  const float floor = y + 50;
  for (std::size_t i = 0; i < range.ranks.size(); ++i) {
    const RankShare& rank = range.ranks[i];
    const float x = area.x0 + kPadding + pitch * static_cast<float>(i);
    const float height = std::max(1.0F, 44 * static_cast<float>(rank.waiting_ns / most));
    const Color color = i == least ? ui.colors.worse : ui.colors.reference;
    ui.draw.fill({x + 2, floor - height, x + std::max(3.0F, pitch - 3), floor}, color);
    if (pitch > 26) {
      ui.draw.text_center(Font::small, x + pitch / 2, floor + 10,
                          i == least ? color : ui.colors.tertiary, short_title(word, rank.rank));
    }
    const Rect column{x, floor - 50, x + pitch, floor + 14};
    if (ui.hovers(column)) {
      ui.tooltip(fmt::format("{} {}\nwaits {}\nbusy {}", word, rank.rank,
                             duration_text(rank.waiting_ns), duration_text(rank.busy_ns)));
    }
  }
  ui.draw.text_fit(
      Font::small, area.x0 + kPadding, floor + 28, room, ui.colors.secondary,
      fmt::format("The shortest wait marks the straggler: {} {}.", word, range.ranks[least].rank));
  return floor + 44;
}

float draw_bytes(Ui& ui, const RangeStatistics& range, const Rect& area, float y) {
  if (range.intra_bytes + range.inter_bytes <= 0 || y + 70 > area.y1) return y;
  y = section(ui, area, y, "Sent in the range", "all ranks");
  const double seconds = range.length_ns / 1e9;
  for (const auto& [name, bytes] : {std::pair{"inside fast domains", range.intra_bytes},
                                    std::pair{"between them", range.inter_bytes}}) {
    if (bytes <= 0) continue;
    ui.draw.text(Font::small, area.x0 + kPadding, y, ui.colors.secondary, name);
    ui.draw.text_right(Font::mono, area.x1 - 110, y, ui.colors.text, bytes_text(bytes));
    ui.draw.text_right(Font::mono_small, area.x1 - kPadding, y, ui.colors.tertiary,
                       seconds > 0 ? bytes_per_s_text(bytes / seconds) : "");
    y += 18;
  }
  return y + 4;
}

/// Where the chain of cause spends the range, and on which GPU most of it.
float draw_path_shares(Ui& ui, const TimelineState& timeline, const Rect& area, float y) {
  const TimeRange range = timeline.range.value_or(timeline.view.shown());
  std::map<std::pair<Stage, std::int32_t>, double> parts;
  double all = 0;
  for (const PathPiece& piece : timeline.path) {
    const double ns = std::min(piece.end_ns, range.end) - std::max(piece.begin_ns, range.begin);
    if (ns <= 0) continue;
    parts[{piece.stage, piece.rank}] += ns;
    all += ns;
  }
  if (all <= 0 || y + 60 > area.y1) return y;
  std::vector<std::pair<double, std::pair<Stage, std::int32_t>>> order;
  for (const auto& [key, ns] : parts) order.emplace_back(ns, key);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr std::size_t kMost = 7;
  if (order.size() > kMost) order.resize(kMost);
  y = section(ui, area, y, "Critical path", "rank · time · share of the path");
  for (const auto& [ns, key] : order) {
    if (y + 8 > area.y1) return y;
    ui.draw.fill(box(area.x0 + kPadding, y - 5, 10, 10), ui.colors.stage(key.first));
    ui.draw.text(Font::small, area.x0 + kPadding + 16, y, ui.colors.text,
                 shardscope::to_string(key.first));
    ui.draw.text_right(Font::mono_small, area.x1 - 140, y, ui.colors.secondary,
                       fmt::format("{}", key.second));
    ui.draw.text_right(Font::mono_small, area.x1 - 52, y, ui.colors.text, duration_text(ns));
    ui.draw.text_right(Font::mono_small, area.x1 - kPadding, y, ui.colors.tertiary,
                       fmt::format("{:.0f} %", ns / all * 100));
    y += 19;
  }
  return y + 4;
}

void draw_detail(Ui& ui, const TimelineState& timeline, const Rect& area, float y) {
  if (!timeline.selected || y + 120 > area.y1) return;
  y = section(ui, area, y, "Selected event", ". and , step along the track");
  std::string text = span_tooltip(*timeline.selected, word_of(timeline), timeline.view.all().begin);
  if (timeline.activities != nullptr)
    text += activity_words(*timeline.activities, *timeline.selected);
  for (std::size_t begin = 0; begin <= text.size() && y + 8 < area.y1;) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    ui.draw.text_fit(Font::small, area.x0 + kPadding, y, area.width() - 24,
                     begin == 0 ? ui.colors.text : ui.colors.secondary,
                     std::string_view(text).substr(begin, end - begin));
    y += 17;
    begin = end + 1;
  }
}

}  // namespace

void draw_range_pane(Ui& ui, Desktop& desktop, Rect area) {
  TimelineState& timeline = desktop.timeline;
  const RangeStatistics& range = timeline.statistics;
  const std::string word(word_of(timeline));
  ui.draw.fill(area, ui.colors.pane);
  ui.pane("Range", area, [&desktop] { return range_table(desktop); });
  const Rect header = area.take_top(kHeaderHeight);
  pane_header(ui, header, timeline.range ? "Range" : "View",
              fmt::format("{}, {}{}", duration_text(range.length_ns),
                          plural(static_cast<std::int64_t>(range.ranks.size()), word),
                          range.truncated ? ", first events only" : ""));
  const std::string filter = timeline.rank_filter < 0
                                 ? fmt::format("All {}s", word)
                                 : fmt::format("{} {}", word, timeline.rank_filter);
  const Rect chooser{header.x1 - 84, header.y0 + 3, header.x1 - 8, header.y1 - 3};
  if (button(ui, "timeline/range/rank", chooser, filter, {.style = ButtonStyle::quiet})) {
    std::vector<MenuItem> items;
    const auto choose = [&timeline](int rank) {
      timeline.rank_filter = rank;
      timeline.statistics_of.reset();
    };
    items.push_back({fmt::format("All {}s", word), "", true, [choose] { choose(-1); }});
    for (const std::int32_t rank : rank_order(timeline)) {
      items.push_back(
          {fmt::format("{} {}", word, rank), "", true, [choose, rank] { choose(rank); }});
    }
    desktop.menu = Menu{{chooser.x0, chooser.y1}, std::move(items)};
  }
  ui.draw.clip(area);
  const float third = area.width() / 3;
  const float y = area.y0 + 16;
  big_figure(ui, area.x0 + kPadding, y, "busy", fmt::format("{:.1f}", range.busy_share * 100), "%");
  big_figure(ui, area.x0 + kPadding + third, y, "overlap",
             fmt::format("{:.0f}", range.overlap_share * 100), "%");
  const std::string gap = duration_text(range.longest_gap_ns);
  const std::size_t space = gap.find(' ');
  big_figure(ui, area.x0 + kPadding + 2 * third, y,
             "largest gap, " + short_title(word, range.gap_rank), gap.substr(0, space),
             gap.substr(space + 1));
  float at = draw_stages(ui, range, area, area.y0 + 60);
  at = draw_waiting(ui, range, word, area, at);
  if (timeline.show_path) at = draw_path_shares(ui, timeline, area, at);
  at = draw_bytes(ui, range, area, at);
  draw_detail(ui, timeline, area, at);
  ui.draw.unclip();
}

}  // namespace shardscope::ui
