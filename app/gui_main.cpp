#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "ui/desktop/options.hpp"
#include "ui/desktop/screenshots.hpp"
#include "ui/platform/window.hpp"

int main(int argc, char** argv) {
  using namespace shardscope;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const Result<ui::GuiOptions> options = ui::parse_gui_options(arguments);
  if (!options) {
    fmt::print(stderr, "shardscope-gui: {}\n", to_string(options.error()));
    return exit_code(options.error().kind);
  }
  if (options->help) {
    fmt::print("{}", ui::gui_help());
    return 0;
  }
  const Status done =
      options->screenshots.empty() ? ui::run_window(*options) : ui::take_screenshots(*options);
  if (done) return 0;
  fmt::print(stderr, "shardscope-gui: {}\n", to_string(done.error()));
  return exit_code(done.error().kind);
}
