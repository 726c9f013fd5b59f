#pragma once
// The name a person probably meant.

#include <string>
#include <string_view>
#include <vector>

namespace shardscope {

/// The candidate with the fewest edits to `name`; empty when all are further than a third of the
/// longer text. Ties: the first.
[[nodiscard]] std::string closest_name(std::string_view name,
                                       const std::vector<std::string>& candidates);

/// "a, b, c".
[[nodiscard]] std::string join_names(const std::vector<std::string>& names);

}  // namespace shardscope
