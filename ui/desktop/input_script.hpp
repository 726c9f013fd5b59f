#pragma once
// What a hand did, frame by frame, as text: recorded by a Driver, replayed by another.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "layout/result.hpp"

namespace shardscope::ui {

/// Input of one frame, as the window system gives it.
struct InputFrame {
  float x = 0;  ///< of the mouse, device pixels
  float y = 0;
  std::array<bool, 3> down{};
  float wheel = 0;
  std::uint8_t modifiers = 0;
  std::vector<int> keys;             ///< that are down
  std::vector<std::uint32_t> typed;  ///< characters

  friend bool operator==(const InputFrame&, const InputFrame&) = default;
};

/// One line a frame: "X Y BUTTONS WHEEL MODIFIERS", then "kCODE" a key that is down and "tCODE" a
/// character that was typed.
[[nodiscard]] std::string to_text(const std::vector<InputFrame>& frames);
/// Errors name the line.
[[nodiscard]] Result<std::vector<InputFrame>> input_script(std::string_view text);

}  // namespace shardscope::ui
