#include "storage/import/log_lines.hpp"

#include <algorithm>
#include <cctype>

namespace shardscope::storage {
namespace {

bool letters_alike(char a, char b) {
  const auto kind = [](char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isdigit(byte) != 0) return 1;
    return std::isalpha(byte) != 0 ? 2 : static_cast<int>(byte) + 8;
  };
  return kind(a) == kind(b);
}

std::size_t common_letters(std::string_view a, std::string_view b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t count = 0;
  while (count < most && letters_alike(a[count], b[count])) ++count;
  return count;
}

std::string_view line_at(std::string_view text, std::size_t begin) {
  return text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
}

/// What the line at `at` has before it in common with the next lines.
std::string_view prefix_of(std::string_view text, std::size_t at) {
  constexpr int kLinesCompared = 3;
  const std::size_t line = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const std::size_t begin = line == std::string_view::npos ? 0 : line + 1;
  std::string_view prefix = text.substr(begin, at - begin);
  std::size_t next = text.find('\n', at);
  for (int i = 0; i < kLinesCompared && next != std::string_view::npos; ++i) {
    const std::string_view other = line_at(text, next + 1);
    if (other.empty()) break;
    prefix = prefix.substr(0, common_letters(prefix, other));
    next = text.find('\n', next + 1);
  }
  return prefix;
}

}  // namespace

std::string without_prefixes(std::string_view text, std::size_t at) {
  constexpr std::size_t kMostText = 1 << 20;
  const std::string_view prefix = prefix_of(text, at);
  std::string out;
  for (std::size_t next = at; next < text.size() && out.size() < kMostText;) {
    std::string_view rest = line_at(text, next);
    const std::size_t length = rest.size();
    if (next != at && common_letters(prefix, rest) == prefix.size()) {
      rest.remove_prefix(prefix.size());
    }
    out += rest;
    out += '\n';
    next += length + 1;
  }
  return out;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(" \t\r", at)) != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

}  // namespace shardscope::storage
