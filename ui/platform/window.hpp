#pragma once
// The desktop in a window: GLFW on Xorg or Wayland, OpenGL 3. Draws when something happened.

#include "layout/result.hpp"
#include "ui/desktop/options.hpp"

namespace shardscope::ui {

/// Runs until the window closes. Errors: no display, no OpenGL 3.
[[nodiscard]] Status run_window(const GuiOptions& options);

}  // namespace shardscope::ui
