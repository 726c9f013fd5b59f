#include "app/html_pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/text_table.hpp"

namespace shardscope::app {
namespace {

constexpr std::size_t kRanksDrawn = 64;
constexpr double kPictureWidth = 900;
constexpr double kLabelWidth = 60;
constexpr double kRowHeight = 18;

constexpr std::array<const char*, kStages> kStageColours = {
    "#4e79a7", "#59a14f", "#f28e2b", "#76b7b2", "#3b8f8a",
    "#e15759", "#b07aa1", "#9c755f", "#edc948", "#bab0ac"};

constexpr std::array<const char*, kClusterTypes> kClusterColours = {"#7f8ea3", "#2f7ed8",
                                                                    "#c0562f"};

double total_ms(const std::array<StageCost, kStages>& costs) {
  double sum = 0;
  for (const StageCost& cost : costs) sum += cost.ms + cost.waiting_ms;
  return sum;
}

std::string rectangle(double x, double y, double width, const char* colour, double opacity,
                      const std::string& title) {
  return fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\" "
      "fill-opacity=\"{}\"><title>{}</title></rect>",
      x, y, width, kRowHeight - 4, colour, opacity, html_text(title));
}

std::string opened(double height) {
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\">", kPictureWidth, height);
}

std::string row_label(std::size_t rank, double y) {
  return fmt::format("<text x=\"0\" y=\"{:.1f}\">rank {}</text>", y + kRowHeight - 7, rank);
}

std::string left_out(std::size_t ranks) {
  return ranks > kRanksDrawn
             ? fmt::format("<p class=\"dim\">{} more ranks are not drawn.</p>", ranks - kRanksDrawn)
             : "";
}

/// Bytes of weights that table t keeps on each rank, by shard.
struct Block {
  double bytes = 0;
  std::size_t table = 0;
};

std::vector<std::vector<Block>> blocks_of(const Workload& workload, const Layout& layout) {
  std::vector<std::vector<Block>> ranks(static_cast<std::size_t>(std::max(layout.ranks, 0)));
  for (std::size_t t = 0; t < layout.tables.size() && t < workload.tables.size(); ++t) {
    const TablePlacement& placement = layout.tables[t];
    const Table& table = workload.tables[t];
    const auto element = static_cast<double>(bytes_of(table.dtype));
    if (placement.cluster == ClusterType::DP) {
      for (auto& rank : ranks) {
        rank.push_back({static_cast<double>(table.rows) * table.dim * element, t});
      }
      continue;
    }
    for (std::int32_t j = 0; j < placement.row_shards; ++j) {
      for (std::int32_t k = 0; k < placement.column_shards(); ++k) {
        const auto owner = static_cast<std::size_t>(placement.owner(j, k));
        if (owner >= ranks.size()) continue;
        ranks[owner].push_back(
            {static_cast<double>(placement.rows_in(j, table.rows)) * placement.width(k) * element,
             t});
      }
    }
  }
  for (auto& rank : ranks) {
    std::stable_sort(rank.begin(), rank.end(),
                     [](const Block& a, const Block& b) { return a.bytes > b.bytes; });
  }
  return ranks;
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += letter;
    }
  }
  return out;
}

const char* stage_colour(Stage stage) {
  return kStageColours[static_cast<std::size_t>(stage)];
}

std::string rank_bars_svg(const StageProfile& profile) {
  const std::size_t ranks = std::min(profile.by_rank.size(), kRanksDrawn);
  double longest = 0;
  for (const auto& costs : profile.by_rank) longest = std::max(longest, total_ms(costs));
  if (longest <= 0) return "<p class=\"dim\">Nothing was traced.</p>";
  const double scale = (kPictureWidth - kLabelWidth) / longest;
  std::string svg = opened(static_cast<double>(ranks) * kRowHeight);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const double y = static_cast<double>(rank) * kRowHeight;
    double x = kLabelWidth;
    svg += row_label(rank, y);
    for (const bool waiting : {false, true}) {
      for (int s = 0; s < kStages; ++s) {
        const auto stage = static_cast<Stage>(s);
        const StageCost& cost = profile.at(rank, stage);
        const double ms = waiting ? cost.waiting_ms : cost.ms;
        if (ms <= 0) continue;
        svg += rectangle(
            x, y, ms * scale, stage_colour(stage), waiting ? 0.3 : 1,
            fmt::format("{}{}: {} ms", to_string(stage), waiting ? " (waiting)" : "", ms_text(ms)));
        x += ms * scale;
      }
    }
  }
  return svg + "</svg>" + left_out(profile.by_rank.size());
}

std::string stage_legend_html(const StageProfile& profile) {
  std::string html = "<p class=\"legend\">";
  for (int s = 0; s < kStages; ++s) {
    const auto stage = static_cast<Stage>(s);
    if (profile.ms_max(stage) <= 0) continue;
    html += fmt::format("<span><i style=\"background:{}\"></i>{}</span> ", stage_colour(stage),
                        to_string(stage));
  }
  return html + "<span class=\"dim\">pale: waiting for peers</span></p>";
}

std::string layout_svg(const Workload& workload, const Layout& layout) {
  const auto ranks = blocks_of(workload, layout);
  const std::size_t drawn = std::min(ranks.size(), kRanksDrawn);
  double most = 0;
  for (const auto& rank : ranks) {
    double sum = 0;
    for (const Block& block : rank) sum += block.bytes;
    most = std::max(most, sum);
  }
  if (most <= 0) return "<p class=\"dim\">The layout has no tables.</p>";
  const double scale = (kPictureWidth - kLabelWidth) / most;
  std::string svg = opened(static_cast<double>(drawn) * kRowHeight);
  for (std::size_t rank = 0; rank < drawn; ++rank) {
    const double y = static_cast<double>(rank) * kRowHeight;
    double x = kLabelWidth;
    svg += row_label(rank, y);
    constexpr double kThinnest = 0.4;  // of a pixel: thousands of small shards stay one block
    double small = 0;
    for (const Block& block : ranks[rank]) {
      const double width = block.bytes * scale;
      if (width < kThinnest) {
        small += width;
        continue;
      }
      const ClusterType cluster = layout.tables[block.table].cluster;
      svg += rectangle(x, y, std::max(width - 0.6, 0.4),
                       kClusterColours[static_cast<std::size_t>(cluster)], 1,
                       fmt::format("{} ({}): {}", workload.tables[block.table].name,
                                   to_string(cluster), bytes_text(block.bytes)));
      x += width;
    }
    if (small > 0) svg += rectangle(x, y, small, "#999", 1, "small shards");
  }
  svg += "</svg><p class=\"legend\">";
  for (int c = 0; c < kClusterTypes; ++c) {
    svg += fmt::format("<span><i style=\"background:{}\"></i>{}</span> ",
                       kClusterColours[static_cast<std::size_t>(c)],
                       to_string(static_cast<ClusterType>(c)));
  }
  return svg +
         fmt::format(
             "<span class=\"dim\">widths: bytes of weights, the fullest rank {}"
             "</span></p>",
             bytes_text(most)) +
         left_out(ranks.size());
}

std::string interval_svg(double ratio, double low, double high) {
  const double reach = std::max({std::abs(low - 1), std::abs(high - 1), 0.05}) * 1.2;
  const auto x = [&](double value) {
    return kPictureWidth / 2 +
           std::clamp((value - 1) / reach, -1.0, 1.0) * (kPictureWidth / 2 - 20);
  };
  return fmt::format(
      "{}<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"4\" y2=\"36\" stroke=\"#888\" "
      "stroke-dasharray=\"3 3\"/><line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"20\" y2=\"20\" "
      "stroke=\"#2f7ed8\" stroke-width=\"4\"/><circle cx=\"{:.1f}\" cy=\"20\" r=\"6\" "
      "fill=\"#2f7ed8\"/><text x=\"{:.1f}\" y=\"52\" text-anchor=\"middle\">equal</text></svg>",
      opened(56), x(1), x(1), x(low), x(high), x(ratio), x(1));
}

}  // namespace shardscope::app
