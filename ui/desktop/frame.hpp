#pragma once
// One frame with a current Dear ImGui context: input in, draw lists out. The window, the headless
// renderer and the tests all draw through here.

#include <map>
#include <string>

#include "ui/desktop/desktop.hpp"
#include "ui/theme/fonts.hpp"

namespace shardscope::ui {

/// Rectangles of the last frame by name, in logical pixels.
using NamedRects = std::map<std::string, Rect, std::less<>>;

/// A Dear ImGui context with the desktop's fonts and style; destroyed with the object.
class GuiContext {
 public:
  explicit GuiContext(float scale);
  ~GuiContext();
  GuiContext(const GuiContext&) = delete;
  GuiContext& operator=(const GuiContext&) = delete;

  [[nodiscard]] const Fonts& fonts() const { return fonts_; }
  [[nodiscard]] float scale() const { return scale_; }
  /// Loads the fonts anew; the renderer must upload the atlas afterwards.
  void set_scale(float scale);
  [[nodiscard]] UiMemory& memory() { return memory_; }

 private:
  Fonts fonts_;
  float scale_;
  UiMemory memory_;
};

/// Between ImGui::NewFrame() and ImGui::Render(). `names` may be null.
void draw_frame(GuiContext& context, Desktop& desktop, NamedRects* names);

}  // namespace shardscope::ui
