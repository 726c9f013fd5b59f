#pragma once
// A hand for the desktop where there is none: moves the mouse, presses keys, draws frames. Tests
// and pictures use it; nothing here needs OpenGL.

#include <string_view>
#include <vector>

#include "ui/desktop/frame.hpp"
#include "ui/desktop/input_script.hpp"

struct ImDrawData;

namespace shardscope::ui {

class Driver {
 public:
  /// Size in device pixels. Context and desktop must outlive it.
  Driver(GuiContext& context, Desktop& desktop, int width, int height);

  /// Draws one frame; what it drew stays valid until the next.
  ImDrawData& frame();
  /// Frames until the desktop has nothing left to do, at most `limit`.
  ImDrawData& settle(int limit = 400);

  void move(Point to);
  void press(Button button = Button::left);
  void release(Button button = Button::left);
  void click(Point at);
  /// Press at one place, go to the other in steps; the button stays down.
  void drag(Point from, Point to);
  void wheel(Point at, float steps, std::uint8_t modifiers = kNone);
  void key(int code, std::uint8_t modifiers = kNone);
  void type(std::string_view text);
  void hold(std::uint8_t modifiers);
  void resize(int width, int height);

  /// Every frame's input from here on goes there, until null; it must live as long.
  void record(std::vector<InputFrame>* frames) { recorded_ = frames; }
  /// Frames with that input; afterwards the hand lets go of everything.
  void replay(const std::vector<InputFrame>& frames);

  /// Rectangle that the last frame gave that name; empty where there is none.
  [[nodiscard]] Rect rect(std::string_view name) const;
  [[nodiscard]] Point center(std::string_view name) const;
  [[nodiscard]] const NamedRects& names() const { return names_; }

 private:
  GuiContext& context_;
  Desktop& desktop_;
  NamedRects names_;
  std::vector<InputFrame>* recorded_ = nullptr;
};

}  // namespace shardscope::ui
