// The inspector of several tables: what they have in common, and edits of all of them in one step.

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <functional>
#include <optional>

#include "ui/model/numbers.hpp"
#include "ui/model/table_edits.hpp"
#include "ui/panels/inspector_parts.hpp"
#include "ui/panels/panels.hpp"
#include "ui/widgets/widgets.hpp"

namespace shardscope::ui {
namespace {

constexpr float kManyFields = 130;
constexpr float kManyPitch = 27;

std::string words_for(const std::set<std::int32_t>& tables) {
  return plural(static_cast<std::int64_t>(tables.size()), "table");
}

/// What all tables answer, or "mixed".
std::string common(const std::set<std::int32_t>& tables,
                   const std::function<std::string(std::size_t)>& ask) {
  std::string answer;
  bool first = true;
  for (const std::int32_t t : tables) {
    const std::string one = ask(static_cast<std::size_t>(t));
    if (!first && one != answer) return "mixed";
    answer = one;
    first = false;
  }
  return answer;
}

std::string cut_words(const TablePlacement& placement) {
  if (placement.cluster == ClusterType::DP) return "replicated";
  return fmt::format("{} × {}", placement.row_shards, placement.column_shards());
}

/// "8" is eight row shards, "2 x 4" two by four.
std::optional<std::pair<std::int32_t, std::int32_t>> cut_of(const std::string& text) {
  std::int32_t rows = 0, columns = 1;
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "×") == 0) {
      plain += 'x';
      ++i;
    } else if (text[i] != ' ') {
      plain += text[i];
    }
  }
  const char* end = plain.data() + plain.size();
  const auto first = std::from_chars(plain.data(), end, rows);
  if (first.ec != std::errc()) return std::nullopt;
  if (first.ptr != end) {
    if (*first.ptr != 'x' && *first.ptr != 'X') return std::nullopt;
    const auto second = std::from_chars(first.ptr + 1, end, columns);
    if (second.ec != std::errc() || second.ptr != end) return std::nullopt;
  }
  return std::pair(rows, columns);
}

void set_cut(Desktop& desktop, const std::set<std::int32_t>& tables, const std::string& text) {
  const auto cut = cut_of(text);
  if (!cut) {
    desktop.tell(NoticeKind::warning, "A cut is ROWS or ROWS x COLUMNS, e.g. 8 or 2 x 4: " + text);
    return;
  }
  auto layout = set_tables_cut(*desktop.document, tables, cut->first, cut->second);
  if (!layout) {
    desktop.tell(NoticeKind::warning, to_string(layout.error()));
    return;
  }
  desktop.document->apply(std::move(*layout), fmt::format("Cut {} into {} × {}", words_for(tables),
                                                          cut->first, cut->second));
}

}  // namespace

float draw_exchange(Ui& ui, Desktop& desktop, const std::set<std::int32_t>& tables,
                    const Rect& area, float y) {
  Document& document = *desktop.document;
  const Layout& layout = *document.shown().layout;
  const float x = area.x0 + kManyFields;
  ui.draw.text(Font::small, area.x0 + kPadding, y, ui.colors.tertiary, "Exchange");
  const std::string exchange = common(tables, [&](std::size_t t) -> std::string {
    if (layout.tables[t].cluster != ClusterType::RB) return "flat";
    return layout.exchange_of(t) == Exchange::flat ? "flat" : "hierarchical";
  });
  constexpr std::array<std::string_view, 2> kExchanges = {"Flat", "Hierarchical"};
  int chosen = exchange == "flat" ? 0 : exchange == "hierarchical" ? 1 : -1;
  const int before = chosen;
  segmented(ui, "inspector/exchange", x, y - 11, kExchanges, chosen);
  if (chosen != before) {
    const Exchange value = chosen == 0 ? Exchange::flat : Exchange::hierarchical;
    document.apply(set_tables_exchange(document, tables, value),
                   fmt::format("Exchange of {} {}", words_for(tables),
                               chosen == 0 ? "flat" : "by fast domain"));
    return y;
  }
  y += kManyPitch;
  for (int p = 0; p < kCodecPlaces; ++p) {
    const auto place = static_cast<CodecPlace>(p);
    ui.draw.text(Font::small, area.x0 + kPadding, y, ui.colors.tertiary, title_of(place));
    std::string text = common(
        tables, [&](std::size_t t) { return codec_text(slot_at(layout.codecs_of(t), place)); });
    const Rect rect{x, y - 11, area.x1 - kPadding, y + 11};
    if (ui.hovers(rect)) {
      ui.tooltip(
          "Codec of the vectors that travel: NAME [BOUND [rel|abs]].\nraw · fp16 · bf16 · row-int8 "
          "· row-int4 · fixed · dedup-fixed ·\ndedup-huffman · vector-lz · const · zstd · lz4");
    }
    if (field(ui, fmt::format("inspector/codec{}", p), rect, text, {.placeholder = "raw"})) {
      const Result<CodecSlot> slot = parse_codec(text);
      if (!slot) {
        desktop.tell(NoticeKind::warning, to_string(slot.error()));
      } else {
        document.apply(set_tables_codec(document, tables, place, *slot),
                       fmt::format("Codec of {}, {}: {}", words_for(tables), title_of(place),
                                   codec_text(*slot)));
      }
      return y;
    }
    y += kManyPitch;
  }
  return y;
}

void draw_inspector_many(Ui& ui, Desktop& desktop, Rect area) {
  Document& document = *desktop.document;
  const std::set<std::int32_t>& tables = desktop.tune.tables;
  const Layout& layout = *document.shown().layout;
  double rows = 0, bytes = 0, cost = 0;
  for (const TableRow& row : desktop.tune.list.rows()) {
    if (!tables.contains(row.table)) continue;
    rows += row.rows;
    bytes += row.bytes;
    cost += row.cost_s;
  }
  pane_header(ui, area.take_top(kHeaderHeight), "Inspector",
              fmt::format("{} selected · one undo step each", words_for(tables)));
  ui.draw.clip(area);
  float y = area.y0 + 20;
  ui.draw.text(Font::title, area.x0 + kPadding, y, ui.colors.text, words_for(tables));
  ui.draw.text_fit(Font::small, area.x0 + kManyFields, y, area.width() - kManyFields - kPadding,
                   ui.colors.tertiary,
                   fmt::format("{} rows · {} GiB · {} ms", count_text(rows), gib_text(bytes),
                               short_ms_text(cost)));
  y += 30;
  const float x = area.x0 + kManyFields;
  ui.draw.text(Font::small, area.x0 + kPadding, y, ui.colors.tertiary, "Cluster");
  constexpr std::array<std::string_view, kClusterTypes> kClusters = {"DP", "RB", "UB"};
  const std::string cluster = common(
      tables, [&](std::size_t t) { return std::string(to_string(layout.tables[t].cluster)); });
  int chosen = -1;
  for (int c = 0; c < kClusterTypes; ++c) {
    if (cluster == kClusters[static_cast<std::size_t>(c)]) chosen = c;
  }
  const int before = chosen;
  const float end = segmented(ui, "inspector/cluster", x, y - 11, kClusters, chosen);
  if (chosen < 0) ui.draw.text(Font::small, end + 10, y, ui.colors.tertiary, "mixed");
  if (chosen != before) {
    document.apply(
        set_tables_cluster(document, tables, static_cast<ClusterType>(chosen)),
        fmt::format("{} to {}", words_for(tables), kClusters[static_cast<std::size_t>(chosen)]));
    ui.draw.unclip();
    return;
  }
  y += kManyPitch;
  ui.draw.text(Font::small, area.x0 + kPadding, y, ui.colors.tertiary, "Rows × columns");
  std::string cut = common(tables, [&](std::size_t t) { return cut_words(layout.tables[t]); });
  if (field(ui, "inspector/cut", {x, y - 11, x + 110, y + 11}, cut, {.align_right = true})) {
    set_cut(desktop, tables, cut);
  }
  ui.draw.text_fit(Font::small, x + 120, y, area.x1 - x - 130, ui.colors.tertiary,
                   "equal shards, least loaded GPUs");
  y += kManyPitch;
  draw_exchange(ui, desktop, tables, area, y);
  ui.draw.unclip();
}

}  // namespace shardscope::ui
