#include "ui/theme/palette.hpp"

#include <algorithm>
#include <cmath>

namespace shardscope::ui {
namespace {

constexpr float kTextTurnsDark = 0.19F;  ///< luminance above which text on a fill is near-black

constexpr std::array<Color, kStages> kStageColors = {
    rgb(0xb7f5f0), rgb(0xf3e878), rgb(0x30adbe), rgb(0xd7dfcc), rgb(0x7d7f87),
    rgb(0x495eb9), rgb(0x867128), rgb(0xd89c30), rgb(0x8f80f2), rgb(0xc03a68)};
constexpr std::array<Color, kClusterTypes> kClusterColors = {rgb(0xb9b27a), rgb(0x4c9be0),
                                                             rgb(0xe07fb0)};

constexpr Palette kDark = {.window = rgb(0x0c0f12),
                           .pane = rgb(0x15191e),
                           .header = rgb(0x1b2027),
                           .control = rgb(0x262d36),
                           .pressed = rgb(0x343d48),
                           .line = rgb(0x272e36),
                           .strong_line = rgb(0x46515d),
                           .field = rgb(0x0c0f12),
                           .lane = rgb(0x0c0f12),
                           .text = rgb(0xe8edf2),
                           .secondary = rgb(0xb0bac5),
                           .tertiary = rgb(0x87929e),
                           .accent = rgb(0x62b0ff),
                           .on_accent = rgb(0x0c0f12),
                           .selection = rgb(0x193450),
                           .reference = rgb(0xa3adb8),
                           .error = rgb(0xff6464),
                           .error_fill = rgb(0x3a181c),
                           .warning = rgb(0xffc24d),
                           .warning_fill = rgb(0x33260d),
                           .good = rgb(0x52cdb2),
                           .worse = rgb(0xff955c),
                           .simulated = rgb(0xbda6ff),
                           .emulated = rgb(0x5ccbdc),
                           .measured = rgb(0xe8edf2),
                           .on_measured = rgb(0x0c0f12),
                           .idle = rgb(0x3d4651),
                           .callout = rgb(0x101418),
                           .stages = kStageColors,
                           .clusters = kClusterColors,
                           .heat = {rgb(0x10233f), rgb(0x2b4470), rgb(0x575d6d), rgb(0x8a8678),
                                    rgb(0xc4b56c), rgb(0xfee838)}};

constexpr Palette kLight = {.window = rgb(0xd9dee4),
                            .pane = rgb(0xf8f9fb),
                            .header = rgb(0xeef1f4),
                            .control = rgb(0xdfe4ea),
                            .pressed = rgb(0xcfd6de),
                            .line = rgb(0xd5dbe1),
                            .strong_line = rgb(0xa9b3be),
                            .field = rgb(0xffffff),
                            .lane = rgb(0xd9dee4),
                            .text = rgb(0x14181d),
                            .secondary = rgb(0x46515d),
                            .tertiary = rgb(0x5f6a76),
                            .accent = rgb(0x0b5fc0),
                            .on_accent = rgb(0xffffff),
                            .selection = rgb(0xd3e5fa),
                            .reference = rgb(0x7a8592),
                            .error = rgb(0xc01818),
                            .error_fill = rgb(0xfbe3e3),
                            .warning = rgb(0x8a5a00),
                            .warning_fill = rgb(0xfbf0d9),
                            .good = rgb(0x00746a),
                            .worse = rgb(0xb93c00),
                            .simulated = rgb(0x5b3fb8),
                            .emulated = rgb(0x007a8a),
                            .measured = rgb(0x14181d),
                            .on_measured = rgb(0xffffff),
                            .idle = rgb(0xc4cbd3),
                            .callout = rgb(0xffffff),
                            .stages = kStageColors,
                            .clusters = kClusterColors,
                            .heat = {rgb(0xeef1f4), rgb(0xcfd6dc), rgb(0xa9b0ad), rgb(0xa79c6a),
                                     rgb(0x8a7a2a), rgb(0x5c4b00)}};

float channel(Color color, int shift) {
  return static_cast<float>((color >> shift) & 0xff);
}

Color packed(float red, float green, float blue, float alpha) {
  const auto byte = [](float value) {
    return static_cast<Color>(std::lround(std::clamp(value, 0.0F, 255.0F)));
  };
  return byte(red) | (byte(green) << 8) | (byte(blue) << 16) | (byte(alpha) << 24);
}

}  // namespace

Color mix(Color a, Color b, float share) {
  const auto between = [&](int shift) {
    return channel(a, shift) + (channel(b, shift) - channel(a, shift)) * share;
  };
  return packed(between(0), between(8), between(16), between(24));
}

Color tone(Color color, float amount) {
  const Color toward = amount > 0 ? rgb(0xffffff) : rgb(0x000000);
  return mix(color, (toward & 0x00ffffff) | (color & 0xff000000), std::abs(amount));
}

float luminance(Color color) {
  const auto linear = [&](int shift) {
    const float value = channel(color, shift) / 255.0F;
    return value <= 0.04045F ? value / 12.92F : std::pow((value + 0.055F) / 1.055F, 2.4F);
  };
  return 0.2126F * linear(0) + 0.7152F * linear(8) + 0.0722F * linear(16);
}

float contrast(Color a, Color b) {
  const float high = std::max(luminance(a), luminance(b));
  const float low = std::min(luminance(a), luminance(b));
  return (high + 0.05F) / (low + 0.05F);
}

Color text_on(Color fill) {
  return luminance(fill) > kTextTurnsDark ? rgb(0x0c0f12) : rgb(0xffffff);
}

Color Palette::mode(Mode value) const {
  switch (value) {
    case Mode::measured:
      return measured;
    case Mode::emulated:
      return emulated;
    case Mode::simulated:
      return simulated;
  }
  return text;
}

Color Palette::heat_at(double share) const {
  const double spread = std::pow(std::clamp(share, 0.0, 1.0), 0.8) * (heat.size() - 1.0);
  const auto low = std::min(static_cast<std::size_t>(spread), heat.size() - 2);
  return mix(heat[low], heat[low + 1], static_cast<float>(spread - static_cast<double>(low)));
}

Color Palette::table_tone(ClusterType type, std::size_t table) const {
  // An order in which neighbours lie far apart, from 30 % white to 26 % black.
  constexpr std::array<float, 6> kTones = {0.0F, 0.22F, -0.14F, 0.12F, -0.24F, 0.30F};
  return tone(cluster(type), kTones[table % kTones.size()]);
}

const Palette& palette_of(Theme theme) {
  return theme == Theme::dark ? kDark : kLight;
}

}  // namespace shardscope::ui
