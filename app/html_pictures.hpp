#pragma once
// Pictures of a report as inline SVG, and text made safe for HTML.

#include <string>
#include <string_view>
#include <vector>

#include "layout/layout.hpp"
#include "layout/workload.hpp"
#include "profiler/stage_profile.hpp"

namespace shardscope::app {

/// &, <, > and quotes escaped.
[[nodiscard]] std::string html_text(std::string_view text);

/// The colour of a stage, the same in every picture.
[[nodiscard]] const char* stage_colour(Stage stage);

/// One horizontal bar a rank, its stages side by side and waiting pale; at most 64 ranks.
[[nodiscard]] std::string rank_bars_svg(const StageProfile& profile);

/// Colours with their stages, of those that occur.
[[nodiscard]] std::string stage_legend_html(const StageProfile& profile);

/// Ranks as rows, their shards as blocks as wide as the bytes they hold, coloured by cluster; at
/// most 64 ranks.
[[nodiscard]] std::string layout_svg(const Workload& workload, const Layout& layout);

/// The interval of a ratio around 1.
[[nodiscard]] std::string interval_svg(double ratio, double low, double high);

}  // namespace shardscope::app
