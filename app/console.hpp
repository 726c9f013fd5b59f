#pragma once
// What stands on the terminal: width, colour, the one-line error.

#include <string>
#include <string_view>

#include "layout/result.hpp"

namespace shardscope::app {

/// What a stream can show. Colour only on a terminal, without NO_COLOR and TERM=dumb.
struct Console {
  bool terminal = false;
  bool colour = false;
  int width = 80;

  [[nodiscard]] static Console of_stdout();
  [[nodiscard]] static Console of_stderr();

  /// The text in bold, dimmed, green, yellow or red where colour is on, else unchanged.
  [[nodiscard]] std::string bold(std::string_view text) const { return styled("1", text); }
  [[nodiscard]] std::string dim(std::string_view text) const { return styled("2", text); }
  [[nodiscard]] std::string green(std::string_view text) const { return styled("32", text); }
  [[nodiscard]] std::string yellow(std::string_view text) const { return styled("33", text); }
  [[nodiscard]] std::string red(std::string_view text) const { return styled("31", text); }

 private:
  [[nodiscard]] std::string styled(const char* code, std::string_view text) const;
};

/// "shardscope: place: what; expected. cure" on stderr.
void print_error(const Error& error);

/// Columns the text takes on a terminal (UTF-8 code points; styling sequences take none).
[[nodiscard]] int columns_of(std::string_view text);

}  // namespace shardscope::app
