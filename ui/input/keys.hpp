#pragma once
// Keys as the window system numbers them (GLFW's codes), and what a frame knows of mouse and keys.

#include <array>
#include <cstdint>

#include "ui/draw/rect.hpp"

namespace shardscope::ui {

/// Letters and digits are their upper-case ASCII codes.
namespace key {
inline constexpr int kSpace = 32, kComma = 44, kPeriod = 46, kEscape = 256, kEnter = 257,
                     kTab = 258, kBackspace = 259, kDelete = 261, kRight = 262, kLeft = 263,
                     kDown = 264, kUp = 265, kPageUp = 266, kPageDown = 267, kHome = 268,
                     kEnd = 269, kF1 = 290, kF3 = 292, kF5 = 294, kF6 = 295, kF7 = 296, kF8 = 297;
}  // namespace key

/// Modifier bits of a chord.
enum Modifier : std::uint8_t { kNone = 0, kCtrl = 1, kShift = 2, kAlt = 4 };

enum class Button : std::uint8_t { left, right, middle };

/// Mouse and modifiers of one frame, in logical pixels.
struct Input {
  Point mouse{-1e6F, -1e6F};
  Point moved;
  float wheel = 0;
  std::array<bool, 3> down{};
  std::array<bool, 3> pressed{};   ///< went down in this frame
  std::array<bool, 3> released{};  ///< went up in this frame
  bool double_click = false;       ///< of the left button
  bool ctrl = false;
  bool shift = false;
  bool alt = false;
  bool typing = false;  ///< a text field has the keyboard
  double time = 0;      ///< seconds

  [[nodiscard]] bool is_down(Button b) const { return down[static_cast<std::size_t>(b)]; }
  [[nodiscard]] bool is_pressed(Button b) const { return pressed[static_cast<std::size_t>(b)]; }
  [[nodiscard]] bool is_released(Button b) const { return released[static_cast<std::size_t>(b)]; }
  [[nodiscard]] std::uint8_t modifiers() const {
    return static_cast<std::uint8_t>((ctrl ? kCtrl : 0) | (shift ? kShift : 0) | (alt ? kAlt : 0));
  }
};

}  // namespace shardscope::ui
