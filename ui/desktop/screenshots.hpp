#pragma once
// Every workspace as a picture, without a display.

#include "layout/result.hpp"
#include "ui/desktop/options.hpp"

namespace shardscope::ui {

/// Writes options.screenshots/NAME.png: start; tune and tune-drag (a shard of the critical GPU
/// carried to the lightest), run, timeline, scale and history where there is something to show.
[[nodiscard]] Status take_screenshots(const GuiOptions& options);

}  // namespace shardscope::ui
