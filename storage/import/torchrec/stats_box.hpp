#pragma once
// The box of '#' around TorchRec's planner report, as it is pasted from logs: its lines without
// frame and prefix, wrapped ones joined.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shardscope::storage {

struct BoxLine {
  std::string text;
  std::int64_t line = 0;  ///< in the text, from 1; of its first piece
};

/// Rows of the box, and lines outside it as they are. A row that a terminal or editor wrapped is
/// one line; messages that a logger wrote with "\\n" between their lines are taken apart.
[[nodiscard]] std::vector<BoxLine> box_lines(std::string_view text);

}  // namespace shardscope::storage
