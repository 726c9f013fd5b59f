#include "ui/theme/fonts.hpp"

#include <imgui.h>
#include <imgui_freetype.h>

#include <cmath>
#include <filesystem>
#include <initializer_list>

namespace shardscope::ui {
namespace {

enum class Face : std::uint8_t { words, words_strong, numbers, numbers_strong };

struct FontSize {
  Face face;
  float size;
};

constexpr std::array<FontSize, kFonts> kSizes = {{{Face::words, 11},
                                                  {Face::words, 12},
                                                  {Face::words, 13},
                                                  {Face::words_strong, 12},
                                                  {Face::words_strong, 13},
                                                  {Face::numbers, 11},
                                                  {Face::numbers, 12},
                                                  {Face::numbers_strong, 12},
                                                  {Face::words_strong, 20},
                                                  {Face::words_strong, 24},
                                                  {Face::words_strong, 56},
                                                  {Face::words_strong, 28}}};

/// Latin, Greek, dashes and quotes, arrows, mathematical operators, triangles, star, tick and
/// cross.
constexpr ImWchar kGlyphs[] = {0x0020, 0x00ff, 0x0370, 0x03ff, 0x2010, 0x2026, 0x2032,
                               0x2033, 0x2190, 0x21ff, 0x2200, 0x22ff, 0x25a0, 0x25ff,
                               0x2605, 0x2606, 0x2713, 0x2717, 0};

std::string first_present(std::string_view folder, std::initializer_list<const char*> paths) {
  for (const char* name : paths) {
    const std::string path = std::string(folder) + name;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored)) return path;
  }
  return {};
}

/// Sizes are ems; FreeType here is asked for ascender + descender. Both from the fonts' own tables.
struct Metrics {
  float height;   ///< ascender + descender, ems
  float capital;  ///< ems
};

Metrics metrics_of(const std::string& path) {
  if (path.find("Inter") != std::string::npos) return {1.21F, 0.727F};
  if (path.find("JetBrains") != std::string::npos) return {1.32F, 0.73F};
  return {1.164F, 0.729F};  // DejaVu
}

std::string path_of(Face face, std::string_view folder) {
  switch (face) {
    case Face::words:
      return first_present(
          folder, {"/opentype/inter/Inter-Regular.otf", "/truetype/inter/Inter-Regular.ttf",
                   "/truetype/dejavu/DejaVuSans.ttf"});
    case Face::words_strong:
      return first_present(
          folder, {"/opentype/inter/Inter-SemiBold.otf", "/truetype/inter/Inter-SemiBold.ttf",
                   "/truetype/dejavu/DejaVuSans-Bold.ttf"});
    case Face::numbers:
      return first_present(folder, {"/truetype/jetbrains-mono/JetBrainsMono-Regular.ttf",
                                    "/truetype/dejavu/DejaVuSansMono.ttf"});
    case Face::numbers_strong:
      return first_present(folder, {"/truetype/jetbrains-mono/JetBrainsMono-SemiBold.ttf",
                                    "/truetype/dejavu/DejaVuSansMono-Bold.ttf"});
  }
  return {};
}

/// Symbols that Inter and JetBrains Mono lack come from DejaVu where it is installed.
void merge_symbols(ImFontAtlas& atlas, float pixels, bool mono, std::string_view folder) {
  const std::string path = first_present(
      folder, {mono ? "/truetype/dejavu/DejaVuSansMono.ttf" : "/truetype/dejavu/DejaVuSans.ttf",
               "/truetype/dejavu/DejaVuSans.ttf"});
  if (path.empty()) return;
  ImFontConfig config;
  config.MergeMode = true;
  config.GlyphRanges = kGlyphs;
  atlas.AddFontFromFileTTF(path.c_str(), std::round(pixels * metrics_of(path).height), &config,
                           kGlyphs);
}

}  // namespace

Fonts load_fonts(ImFontAtlas& atlas, float scale, std::string_view folder) {
  atlas.Clear();
  atlas.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
  atlas.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
  Fonts result;
  for (std::size_t i = 0; i < kFonts; ++i) {
    const FontSize& wanted = kSizes[i];
    const bool mono = wanted.face == Face::numbers || wanted.face == Face::numbers_strong;
    const float pixels = std::round(wanted.size * scale);
    const std::string path = path_of(wanted.face, folder);
    if (path.empty()) {
      ImFontConfig config;
      config.SizePixels = pixels;
      result.fonts[i] = atlas.AddFontDefault(&config);
      result.capitals[i] = pixels * 0.7F;
      result.missing = "Inter, JetBrains Mono, DejaVu";
      continue;
    }
    const Metrics metrics = metrics_of(path);
    result.fonts[i] = atlas.AddFontFromFileTTF(path.c_str(), std::round(pixels * metrics.height),
                                               nullptr, kGlyphs);
    result.capitals[i] = pixels * metrics.capital;
    merge_symbols(atlas, pixels, mono, folder);
    if (path.find("DejaVu") != std::string::npos && result.missing.empty()) {
      result.missing = mono ? "JetBrains Mono" : "Inter";
    }
  }
  return result;
}

}  // namespace shardscope::ui
