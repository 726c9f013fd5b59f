#include "ui/theme/palette.hpp"

#include <gtest/gtest.h>

namespace shardscope::ui {
namespace {

TEST(Palette, TextIsReadableOnEverySurfaceItStandsOn) {
  for (const Theme theme : {Theme::dark, Theme::light}) {
    const Palette& colors = palette_of(theme);
    for (const Color text : {colors.text, colors.secondary, colors.tertiary, colors.error,
                             colors.warning, colors.good, colors.worse}) {
      EXPECT_GE(contrast(text, colors.pane), 4.5F);
    }
    EXPECT_GE(contrast(colors.secondary, colors.selection), 4.5F);
    EXPECT_GE(contrast(colors.on_accent, colors.accent), 4.5F);
  }
}

TEST(Palette, LettersOnStagesAndClustersAreReadable) {
  for (const Theme theme : {Theme::dark, Theme::light}) {
    const Palette& colors = palette_of(theme);
    for (const Color fill : colors.stages) EXPECT_GE(contrast(text_on(fill), fill), 4.0F);
    for (std::size_t table = 0; table < 12; ++table) {
      for (const ClusterType cluster : {ClusterType::RB, ClusterType::UB}) {
        const Color fill = colors.table_tone(cluster, table);
        EXPECT_GE(contrast(text_on(fill), fill), 4.0F);
      }
    }
  }
}

TEST(Palette, TheHeatMapGrowsLighterInTheDarkAndDarkerInTheLight) {
  for (const Theme theme : {Theme::dark, Theme::light}) {
    const float sign = theme == Theme::dark ? 1.0F : -1.0F;
    float before = luminance(palette_of(theme).heat_at(0));
    for (int i = 1; i <= 50; ++i) {
      const float now = luminance(palette_of(theme).heat_at(i / 50.0));
      EXPECT_GE(sign * (now - before), -1e-3F);
      before = now;
    }
  }
}

}  // namespace
}  // namespace shardscope::ui
