#pragma once
// Values that a logger spread over lines of its own, and the words of a line.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shardscope::storage {

/// The text from `at` on (1 MiB at most), with what the logger put before every line (time, level,
/// rank: what the line at `at` and those after it begin with, digits and letters compared by kind)
/// removed from the later lines.
[[nodiscard]] std::string without_prefixes(std::string_view text, std::size_t at);

/// What blanks, tabs and carriage returns separate.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view line);

}  // namespace shardscope::storage
