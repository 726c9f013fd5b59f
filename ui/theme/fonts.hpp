#pragma once
// The two typefaces in their few sizes, in one atlas.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

struct ImFont;
struct ImFontAtlas;

namespace shardscope::ui {

/// Inter in words, JetBrains Mono in numbers.
enum class Font : std::uint8_t {
  small,        ///< 11: secondary, axes
  body,         ///< 12
  name,         ///< 13: names, tabs, GPU labels
  strong,       ///< 12 semibold
  title,        ///< 13 semibold
  mono_small,   ///< 11
  mono,         ///< 12
  mono_strong,  ///< 12 semibold
  digits,       ///< 20 semibold
  large,        ///< 24 semibold
  huge,         ///< 56 semibold
  heading,      ///< 28 semibold
};

inline constexpr std::size_t kFonts = 12;

struct Fonts {
  std::array<ImFont*, kFonts> fonts{};
  std::array<float, kFonts> capitals{};  ///< height of a capital, device pixels
  std::string missing;  ///< preferred families that are not installed, for a notice; or empty

  [[nodiscard]] ImFont* operator[](Font font) const {
    return fonts[static_cast<std::size_t>(font)];
  }
  [[nodiscard]] float capital(Font font) const { return capitals[static_cast<std::size_t>(font)]; }
};

inline constexpr std::string_view kFontFolder = "/usr/share/fonts";

/// Loads all sizes at that scale into the atlas (emptied before) from Debian's folders below
/// `folder`. Where Inter or JetBrains Mono is absent, DejaVu; where that is absent too, the
/// built-in font.
Fonts load_fonts(ImFontAtlas& atlas, float scale, std::string_view folder = kFontFolder);

}  // namespace shardscope::ui
