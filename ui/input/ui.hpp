#pragma once
// One frame of the desktop: canvas, palette, input, and who has the mouse. Regions are named; tests
// find them by name.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ui/draw/canvas.hpp"
#include "ui/input/keys.hpp"

namespace shardscope::ui {

/// What the mouse does to one region in this frame.
struct Touch {
  bool hovered = false;
  bool pressed = false;  ///< left button went down inside
  bool held = false;     ///< it went down inside and still is, wherever the mouse is now
  bool clicked = false;  ///< it came up inside
  bool double_clicked = false;
  bool right_clicked = false;
};

/// A part of a workspace that a person means as one: to copy, save, reach with Tab.
struct Pane {
  std::string name;
  Rect rect;
  std::function<std::string()> table;  ///< what it shows, tab-separated; may be empty
};

/// State that lives from frame to frame: which region the mouse holds, which field is edited, what
/// lies on top.
struct UiMemory {
  std::uint64_t held = 0;
  std::uint64_t editing = 0;
  bool editing_started = false;
  std::string text;  ///< of the field being edited
  std::string pane;  ///< that has the keyboard (Tab); empty: none
  Point mouse{-1e6F, -1e6F};
  struct Cover {
    int layer = 0;
    Rect rect;
  };
  std::vector<Cover> covers;  ///< overlays of the frame before, which take the mouse from below
  std::vector<Pane> panes;    ///< of the frame before, in the order they were drawn
  std::vector<Pane> drawn;    ///< of this frame, so far

  /// The pane with the keyboard, else the one under the mouse; null where there is neither.
  [[nodiscard]] const Pane* meant_pane() const;
  /// Gives the keyboard to the next pane (or the one before).
  void step_pane(int step);
};

class Ui {
 public:
  Ui(Canvas& canvas, const Palette& palette, const Input& input, UiMemory& memory)
      : draw(canvas), colors(palette), in(input), memory_(memory), covers_before_(memory.covers) {
    memory_.covers.clear();
    memory_.panes = std::exchange(memory_.drawn, {});
    memory_.mouse = input.mouse;
  }

  Canvas& draw;
  const Palette& colors;
  const Input& in;

  /// Names a rectangle and tells what the mouse does to it.
  Touch region(std::string_view name, const Rect& rect);
  /// Names a rectangle that is no region of its own (a block of the map), for tests.
  void name(std::string_view name, const Rect& rect) {
    if (names != nullptr) names->insert_or_assign(std::string(name), rect);
  }
  void pane(std::string name, const Rect& rect, std::function<std::string()> table = {}) {
    memory_.drawn.push_back({std::move(name), rect, std::move(table)});
  }
  /// Whether the pane that has the keyboard holds that point.
  [[nodiscard]] bool pane_has_keyboard(Point point) const;
  /// Whether the mouse is over it and nothing lies above.
  [[nodiscard]] bool hovers(const Rect& rect) const;
  /// True in the frame in which the key went down (or repeats) with exactly these modifiers. Plain
  /// keys are left to a field that is being edited.
  [[nodiscard]] bool key(int code, std::uint8_t modifiers = kNone, bool repeat = false) const;

  /// Everything until end_layer() lies above what was drawn before and takes the mouse inside.
  void begin_layer(const Rect& rect);
  void end_layer();

  void tooltip(std::string text) { tooltip_ = std::move(text); }
  [[nodiscard]] const std::string& tooltip() const { return tooltip_; }

  UiMemory& memory() { return memory_; }
  [[nodiscard]] static std::uint64_t id_of(std::string_view name);

  /// Rectangles by name, kept where a test or a recording asks for them.
  std::map<std::string, Rect, std::less<>>* names = nullptr;

 private:
  UiMemory& memory_;
  std::vector<UiMemory::Cover> covers_before_;
  int layer_ = 0;
  std::string tooltip_;
};

}  // namespace shardscope::ui
