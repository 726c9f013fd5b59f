#include "ui/desktop/input_script.hpp"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

namespace shardscope::ui {
namespace {

constexpr int kMostKey = 511;
constexpr std::uint32_t kMostCharacter = 0x10ffff;

template <class Number>
bool read_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_frame(const std::string& line, InputFrame& frame) {
  std::istringstream words(line);
  std::string x, y, down, wheel, modifiers;
  if (!(words >> x >> y >> down >> wheel >> modifiers)) return false;
  unsigned buttons = 0, bits = 0;
  if (!read_number(x, frame.x) || !read_number(y, frame.y) || !read_number(down, buttons) ||
      !read_number(wheel, frame.wheel) || !read_number(modifiers, bits) || buttons > 7 ||
      bits > 7) {
    return false;
  }
  for (std::size_t b = 0; b < frame.down.size(); ++b) frame.down[b] = (buttons >> b & 1U) != 0;
  frame.modifiers = static_cast<std::uint8_t>(bits);
  for (std::string word; words >> word;) {
    const std::string_view number = std::string_view(word).substr(1);
    int key = 0;
    std::uint32_t character = 0;
    if (word[0] == 'k' && read_number(number, key) && key >= 0 && key <= kMostKey) {
      frame.keys.push_back(key);
    } else if (word[0] == 't' && read_number(number, character) && character <= kMostCharacter) {
      frame.typed.push_back(character);
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string to_text(const std::vector<InputFrame>& frames) {
  std::string text;
  for (const InputFrame& frame : frames) {
    unsigned buttons = 0;
    for (std::size_t b = 0; b < frame.down.size(); ++b) buttons |= frame.down[b] ? 1U << b : 0U;
    text += fmt::format("{} {} {} {} {}", frame.x, frame.y, buttons, frame.wheel, frame.modifiers);
    for (const int key : frame.keys) text += fmt::format(" k{}", key);
    for (const std::uint32_t character : frame.typed) text += fmt::format(" t{}", character);
    text += '\n';
  }
  return text;
}

Result<std::vector<InputFrame>> input_script(std::string_view text) {
  std::vector<InputFrame> frames;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    InputFrame frame;
    if (!read_frame(line, frame)) {
      return fail({ErrorKind::usage, fmt::format("'{}' is no frame of input", line),
                   fmt::format("input script:{}", frames.size() + 1),
                   "X Y BUTTONS WHEEL MODIFIERS [kCODE ...] [tCODE ...]", ""});
    }
    frames.push_back(std::move(frame));
  }
  return frames;
}

}  // namespace shardscope::ui
