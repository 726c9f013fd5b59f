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
  /// `fonts` is the folder that they are looked for in.
  explicit GuiContext(float scale, float text = 1, std::string_view fonts = kFontFolder);
  ~GuiContext();
  GuiContext(const GuiContext&) = delete;
  GuiContext& operator=(const GuiContext&) = delete;

  [[nodiscard]] const Fonts& fonts() const { return fonts_; }
  [[nodiscard]] float scale() const { return scale_; }
  /// Loads the fonts anew; the renderer must upload the atlas afterwards.
  void set_scale(float scale, float text);
  [[nodiscard]] float text_scale() const { return text_scale_; }
  [[nodiscard]] UiMemory& memory() { return memory_; }

 private:
  Fonts fonts_;
  std::string folder_;
  float scale_;
  float text_scale_ = 1;  ///< of fonts beside `scale`
  UiMemory memory_;
};

/// Between ImGui::NewFrame() and ImGui::Render(). `names` may be null.
void draw_frame(GuiContext& context, Desktop& desktop, NamedRects* names);

}  // namespace shardscope::ui
