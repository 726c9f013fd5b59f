#pragma once
// The whole desktop under a hand that needs neither window nor OpenGL, in a home folder of its own.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/shared_data.hpp"
#include "tests/temp_directory.hpp"
#include "ui/desktop/driver.hpp"

namespace shardscope::ui {

class DesktopFixture : public testing::Test {
 protected:
  DesktopFixture()
      : home_(as_home(directory_.path())), context_(1), driver_(context_, desktop_, 1920, 1080) {}

  void open_model() {
    ASSERT_TRUE(desktop_.open_model("dcnv2", "dgx-h100", "table_wise"));
    driver_.settle();
  }
  [[nodiscard]] Document& document() { return *desktop_.document; }
  [[nodiscard]] std::int32_t owner(std::int32_t table) {
    return document().layout().tables[static_cast<std::size_t>(table)].owners.at(0);
  }
  /// A file of the shared data, or nothing where it is not there.
  [[nodiscard]] static std::string data(const std::string& name) {
    const std::string path = test_data::shared_path(name);
    return std::filesystem::exists(path) ? path : std::string();
  }
  [[nodiscard]] std::string told() const {
    std::string all;
    for (const Notice& notice : desktop_.notices) all += notice.text + "\n";
    return all;
  }

  test::TempDirectory directory_;
  std::string home_;
  GuiContext context_;
  Desktop desktop_;
  Driver driver_;

 private:
  static std::string as_home(const std::string& path) {
    for (const char* name : {"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"}) {
      setenv(name, path.c_str(), 1);
    }
    return path;
  }
};

}  // namespace shardscope::ui
