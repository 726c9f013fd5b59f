#pragma once
// Values that a logger spread over lines of its own.

#include <cstddef>
#include <string>
#include <string_view>

namespace shardscope::storage {

/// The text from `at` on (1 MiB at most), with what the logger put before every line (time, level,
/// rank: what the line at `at` and those after it begin with, digits and letters compared by kind)
/// removed from the later lines.
[[nodiscard]] std::string without_prefixes(std::string_view text, std::size_t at);

}  // namespace shardscope::storage
