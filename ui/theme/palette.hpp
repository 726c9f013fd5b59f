#pragma once
// Every colour of the desktop, dark and light. Colour means stage or cluster; everything else is
// grey, one accent and severity.

#include <array>
#include <cstdint>

#include "layout/layout.hpp"
#include "layout/schedule.hpp"
#include "profiler/span.hpp"

namespace shardscope::ui {

/// Alpha, blue, green, red from the highest byte down (Dear ImGui's order).
using Color = std::uint32_t;

/// From 0xRRGGBB.
[[nodiscard]] constexpr Color rgb(std::uint32_t hex, std::uint32_t alpha = 255) {
  return (alpha << 24) | ((hex & 0xff) << 16) | (hex & 0xff00) | ((hex >> 16) & 0xff);
}
[[nodiscard]] constexpr Color with_alpha(Color color, std::uint32_t alpha) {
  return (color & 0x00ffffff) | (alpha << 24);
}

/// a where share is 0, b where it is 1, channel by channel; alpha too.
[[nodiscard]] Color mix(Color a, Color b, float share);
/// Towards white (positive) or black (negative), -1..1.
[[nodiscard]] Color tone(Color color, float amount);
/// WCAG relative luminance, 0..1.
[[nodiscard]] float luminance(Color color);
/// WCAG contrast, 1..21.
[[nodiscard]] float contrast(Color a, Color b);
/// Near-black or white, whichever reads on that fill.
[[nodiscard]] Color text_on(Color fill);

struct Palette {
  Color window, pane, header, control, pressed, line, strong_line, field, lane;
  Color text, secondary, tertiary;
  Color accent, on_accent, selection, reference;
  Color error, error_fill, warning, warning_fill, good, worse;
  Color simulated, emulated, measured, on_measured;
  Color idle;  ///< launch gaps and waiting
  Color callout;
  std::array<Color, kStages> stages;
  std::array<Color, kClusterTypes> clusters;
  std::array<Color, 6> heat;  ///< low to high

  [[nodiscard]] Color stage(Stage value) const { return stages[static_cast<std::size_t>(value)]; }
  [[nodiscard]] Color cluster(ClusterType value) const {
    return clusters[static_cast<std::size_t>(value)];
  }
  [[nodiscard]] Color mode(Mode value) const;
  /// share 0..1 of the largest value; spread by a power of 0.8.
  [[nodiscard]] Color heat_at(double share) const;
  /// Tone of a cluster's n-th table, so that neighbours differ.
  [[nodiscard]] Color table_tone(ClusterType cluster, std::size_t table) const;
};

enum class Theme : std::uint8_t { dark, light };

[[nodiscard]] const Palette& palette_of(Theme theme);

}  // namespace shardscope::ui
