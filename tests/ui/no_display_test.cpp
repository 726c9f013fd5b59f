// The program where there is nothing to draw with: a message on the terminal and exit code 3.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

namespace shardscope::ui {
namespace {

struct GuiEnd {
  int code = -1;
  std::string words;
};

/// Runs shardscope-gui beside this test program; code -1 where it was not built.
GuiEnd run_gui(const std::string& environment, const std::string& arguments) {
  const auto gui = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "shardscope-gui";
  GuiEnd end;
  if (!std::filesystem::exists(gui)) return end;
  const std::string command =
      "env " + environment + " timeout 60 " + gui.string() + " " + arguments + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return end;
  std::array<char, 512> piece{};
  while (std::fgets(piece.data(), piece.size(), pipe) != nullptr) end.words += piece.data();
  const int status = pclose(pipe);
  end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return end;
}

TEST(NoDisplay, AWindowThatCannotOpenEndsWithAMessageAndThree) {
  const GuiEnd end = run_gui("-u DISPLAY -u WAYLAND_DISPLAY HOME=/tmp", "");
  if (end.code == -1) GTEST_SKIP() << "shardscope-gui is not built";
  EXPECT_EQ(end.code, 3) << end.words;
  EXPECT_NE(end.words.find("no window can be opened"), std::string::npos) << end.words;
  EXPECT_NE(end.words.find("--screenshot"), std::string::npos) << end.words;
}

TEST(NoDisplay, PicturesWithoutOpenGlEndWithAMessageAndThree) {
  const GuiEnd end = run_gui("__EGL_VENDOR_LIBRARY_FILENAMES=/dev/null HOME=/tmp",
                             "--screenshot /tmp/shardscope_no_opengl");
  if (end.code == -1) GTEST_SKIP() << "shardscope-gui is not built";
  EXPECT_EQ(end.code, 3) << end.words;
  EXPECT_FALSE(end.words.empty());
}

TEST(NoDisplay, AFileThatIsNothingEndsWithOne) {
  const GuiEnd end = run_gui("HOME=/tmp", "/no/such/file --screenshot /tmp/shardscope_no_file");
  if (end.code == -1) GTEST_SKIP() << "shardscope-gui is not built";
  EXPECT_EQ(end.code, 1) << end.words;
  EXPECT_NE(end.words.find("/no/such/file"), std::string::npos) << end.words;
}

}  // namespace
}  // namespace shardscope::ui
