#pragma once
// Pieces of a line.

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace shardscope::engine {

/// Splits at every `separator`; an empty text is one empty piece.
inline void split(std::string_view text, char separator, std::vector<std::string_view>& pieces) {
  pieces.clear();
  for (;;) {
    const std::size_t end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

/// Splits a CSV line whose fields may stand in double quotes (then without the quotes; a doubled
/// quote inside stays doubled, which is as good to hash). False when a quote is not closed or text
/// follows a closing quote.
[[nodiscard]] inline bool split_quoted(std::string_view text, char separator,
                                       std::vector<std::string_view>& pieces) {
  pieces.clear();
  for (;;) {
    if (text.empty() || text.front() != '"') {
      const std::size_t end = text.find(separator);
      pieces.push_back(text.substr(0, end));
      if (end == std::string_view::npos) return true;
      text.remove_prefix(end + 1);
      continue;
    }
    std::size_t end = 1;
    for (;; ++end) {
      end = text.find('"', end);
      if (end == std::string_view::npos) return false;
      if (end + 1 == text.size() || text[end + 1] != '"') break;
      ++end;
    }
    pieces.push_back(text.substr(1, end - 1));
    text.remove_prefix(end + 1);
    if (text.empty()) return true;
    if (text.front() != separator) return false;
    text.remove_prefix(1);
  }
}

/// The whole text as a decimal integer.
[[nodiscard]] inline std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

/// The whole text as a finite number.
[[nodiscard]] inline std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

}  // namespace shardscope::engine
