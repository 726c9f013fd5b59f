#include "app/console.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace shardscope::app {
namespace {

Console console_of(int descriptor) {
  Console console;
  console.terminal = isatty(descriptor) == 1;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::strcmp(term, "dumb") == 0;
  console.colour = console.terminal && !dumb && (no_colour == nullptr || *no_colour == '\0');
  winsize size{};
  if (console.terminal && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) {
    console.width = size.ws_col;
  }
  return console;
}

}  // namespace

Console Console::of_stdout() {
  return console_of(STDOUT_FILENO);
}
Console Console::of_stderr() {
  return console_of(STDERR_FILENO);
}

std::string Console::styled(const char* code, std::string_view text) const {
  if (!colour) return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

void print_error(const Error& error) {
  std::fprintf(stderr, "shardscope: %s\n", to_string(error).c_str());
}

int columns_of(std::string_view text) {
  int columns = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == 0x1b) {
      while (at < text.size() && text[at] != 'm') ++at;
    } else if ((byte & 0xc0) != 0x80) {
      ++columns;
    }
  }
  return columns;
}

}  // namespace shardscope::app
