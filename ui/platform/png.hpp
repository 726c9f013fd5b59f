#pragma once
// Pictures as PNG files.

#include <cstdint>
#include <string>
#include <vector>

#include "layout/result.hpp"

namespace shardscope::ui {

/// 8-bit RGB, rows from the top, no padding.
struct Picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;

  friend bool operator==(const Picture&, const Picture&) = default;
};

/// OpenGL's first row is the lowest.
void turn_upside_down(Picture& picture);

/// A complete PNG file, best compression.
[[nodiscard]] std::vector<std::uint8_t> png_bytes(const Picture& picture);
/// A PNG that png_bytes() could have made (8-bit RGB, not interlaced).
[[nodiscard]] Result<Picture> read_png(const std::string& path);
[[nodiscard]] Status write_png(const std::string& path, const Picture& picture);

}  // namespace shardscope::ui
