#pragma once
// The pane that a person means (with the keyboard, else under the mouse) to the clipboard, as a
// CSV file or as a picture.

#include <functional>

#include "ui/desktop/desktop.hpp"
#include "ui/platform/png.hpp"

namespace shardscope::ui {

void copy_pane(Desktop& desktop, const UiMemory& memory);
void save_pane_csv(Desktop& desktop, const UiMemory& memory);
/// Asks whoever renders for the pane's pixels (`whole`: the window's) at the end of the frame.
void save_pane_picture(Desktop& desktop, const UiMemory& memory, bool whole);

/// After rendering: writes what was asked for. `read` gives the frame; `scale` its device pixels a
/// logical pixel.
void take_asked_picture(Desktop& desktop, float scale, const std::function<Picture()>& read);
/// The part of a picture inside a rectangle of device pixels, which may reach beyond it.
[[nodiscard]] Picture cropped(const Picture& picture, const Rect& rect);

}  // namespace shardscope::ui
