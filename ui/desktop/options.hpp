#pragma once
// The command line of shardscope-gui.

#include <string>
#include <vector>

#include "layout/result.hpp"
#include "ui/theme/palette.hpp"

namespace shardscope::ui {

struct GuiOptions {
  std::string screenshots;  ///< folder; empty: a window
  std::string file;         ///< a session, or anything that open_path() takes
  std::string workload;
  std::string topology = "dgx-h100";
  std::string layout = "table_row_wise";
  std::string reference;  ///< layout that others are compared with; empty: the layout itself
  int width = 1920;
  int height = 1080;
  float scale = 0;  ///< 0: the display's, 1 for pictures
  bool theme_given = false;
  Theme theme = Theme::dark;
  bool help = false;
};

/// Arguments without the program's name. Usage errors name the argument.
[[nodiscard]] Result<GuiOptions> parse_gui_options(const std::vector<std::string>& arguments);
[[nodiscard]] std::string gui_help();

}  // namespace shardscope::ui
