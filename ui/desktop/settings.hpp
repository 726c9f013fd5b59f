#pragma once
// What the desktop remembers between starts.

#include <string>
#include <vector>

#include "layout/result.hpp"
#include "ui/theme/palette.hpp"

namespace shardscope::ui {

struct Settings {
  Theme theme = Theme::dark;
  float scale = 0;       ///< 0: the display's
  float text_scale = 1;  ///< of fonts alone
  float idle = 0;        ///< a frame: 0 when something changed, 1 also every second, 2 always
  bool show_frame_ms = false;
  bool strict = false;  ///< refuse drops that make the layout invalid
  float tables_width = 400;
  float inspector_width = 396;
  float strip_height = 231;
  float advice_height = 0;  ///< 0: what the inspector leaves
  float run_width = 337;
  float range_width = 372;
  float events_height = 194;
  float planner_width = 476;
  std::string folder;               ///< that a file was last opened from
  std::vector<std::string> recent;  ///< session files, latest first
};

/// $XDG_CONFIG_HOME/shardscope/desktop.json, or under ~/.config; empty where there is no home.
[[nodiscard]] std::string settings_path();
/// A missing file gives the defaults; a damaged one too (it is only habits).
[[nodiscard]] Settings load_settings(const std::string& path);
[[nodiscard]] Status save_settings(const Settings& settings, const std::string& path);
void remember_recent(Settings& settings, const std::string& session);

}  // namespace shardscope::ui
