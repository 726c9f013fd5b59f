#include "ui/platform/png.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

namespace shardscope::ui {
namespace {

TEST(Png, APictureReadsBackAsItWas) {
  std::mt19937 random(3);
  RecordProperty("seed", 3);
  const std::string path = testing::TempDir() + "/shardscope_png_test.png";
  for (const auto& [width, height] : {std::pair{1, 1}, {17, 3}, {64, 64}}) {
    Picture picture{width, height, {}};
    picture.rgb.resize(static_cast<std::size_t>(width * height * 3));
    for (std::uint8_t& value : picture.rgb) value = static_cast<std::uint8_t>(random());
    ASSERT_TRUE(write_png(path, picture));
    const auto back = read_png(path);
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, picture);
  }
  std::filesystem::remove(path);
}

TEST(Png, DamagedFilesAreRefused) {
  const std::string path = testing::TempDir() + "/shardscope_png_damaged.png";
  Picture picture{8, 8, std::vector<std::uint8_t>(192, 7)};
  const std::vector<std::uint8_t> bytes = png_bytes(picture);
  for (std::size_t cut = 0; cut < bytes.size(); cut += 3) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(cut));
    const auto read = read_png(path);
    // Complete again once only the trailer is missing.
    EXPECT_TRUE(!read || *read == picture);
    EXPECT_TRUE(!read || cut >= bytes.size() / 2) << cut;
  }
  std::filesystem::remove(path);
  EXPECT_FALSE(read_png(path));
}

}  // namespace
}  // namespace shardscope::ui
