// Panes drawn through EGL and compared with stored pictures, by tolerance: text may be hinted
// otherwise, blocks may not stand elsewhere. SHARDSCOPE_WRITE_PICTURES=1 stores them anew.

#include <gtest/gtest.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include <algorithm>
#include <cstdlib>

#include "tests/paths.hpp"
#include "ui/desktop/driver.hpp"
#include "ui/platform/offscreen.hpp"

namespace shardscope::ui {
namespace {

#ifdef __SANITIZE_ADDRESS__
/// Mesa's driver keeps some of what it allocates for good, and is unloaded before the leak checker
/// could name it. Leaks of our own show in every other test.
using WithoutLeakCheck = __lsan::ScopedDisabler;
#else
struct WithoutLeakCheck {
  WithoutLeakCheck() {}
};
#endif

constexpr int kWidth = 960;
constexpr int kHeight = 540;
constexpr int kFar = 48;            ///< of 255; a pixel further off is another colour
constexpr double kMostFar = 0.012;  ///< share of such pixels
constexpr double kMostMean = 2.0;   ///< mean distance of a channel

struct PictureDistance {
  double far_share = 0;
  double mean = 0;
};

PictureDistance distance_of(const Picture& a, const Picture& b) {
  PictureDistance result;
  const std::size_t pixels = a.rgb.size() / 3;
  for (std::size_t p = 0; p < pixels; ++p) {
    int most = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      const int difference = std::abs(int{a.rgb[3 * p + c]} - int{b.rgb[3 * p + c]});
      most = std::max(most, difference);
      result.mean += difference;
    }
    result.far_share += most > kFar ? 1 : 0;
  }
  result.far_share /= static_cast<double>(pixels);
  result.mean /= static_cast<double>(a.rgb.size());
  return result;
}

void compare_with_stored(Workspace workspace, Theme theme, const std::string& name) {
  [[maybe_unused]] const WithoutLeakCheck drawing;
  GuiContext context(0.75F);
  if (!context.fonts().missing.empty())
    GTEST_SKIP() << "not installed: " << context.fonts().missing;
  Result<Offscreen> renderer = Offscreen::create(kWidth, kHeight);
  if (!renderer) GTEST_SKIP() << to_string(renderer.error());
  Desktop desktop;
  desktop.settings.theme = theme;
  ASSERT_TRUE(desktop.open_model("dcnv2", "dgx-h100", "table_wise"));
  desktop.choose(workspace);
  Driver driver(context, desktop, kWidth, kHeight);
  const Picture drawn = renderer->render(driver.settle());
  const std::string path = test::source_dir() + "/tests/ui/pictures/" + name;
  if (std::getenv("SHARDSCOPE_WRITE_PICTURES") != nullptr) {
    ASSERT_TRUE(write_png(path, drawn));
    return;
  }
  const Result<Picture> stored = read_png(path);
  ASSERT_TRUE(stored) << to_string(stored.error());
  ASSERT_EQ(stored->width, kWidth);
  ASSERT_EQ(stored->height, kHeight);
  const PictureDistance distance = distance_of(drawn, *stored);
  EXPECT_LT(distance.far_share, kMostFar);
  EXPECT_LT(distance.mean, kMostMean);
  // The measure sees a missing pane.
  Picture without = drawn;
  const std::size_t third = without.rgb.size() / 3;
  std::fill(without.rgb.begin() + static_cast<std::ptrdiff_t>(third),
            without.rgb.begin() + static_cast<std::ptrdiff_t>(2 * third), std::uint8_t{0});
  EXPECT_GT(distance_of(without, *stored).mean, kMostMean);
}

TEST(Pictures, TuneLooksAsStored) {
  compare_with_stored(Workspace::tune, Theme::dark, "tune.png");
}

TEST(Pictures, TuneInTheLightLooksAsStored) {
  compare_with_stored(Workspace::tune, Theme::light, "tune-light.png");
}

TEST(Pictures, ScaleLooksAsStored) {
  compare_with_stored(Workspace::scale, Theme::dark, "scale.png");
}

}  // namespace
}  // namespace shardscope::ui
