#pragma once
// The name a person probably meant.

#include <string>
#include <string_view>
#include <vector>

namespace shardscope {

/// The candidate with the fewest edits to `name`, whatever the case of letters; empty when all are
/// further than a third of the longer text. Ties: the first.
[[nodiscard]] std::string closest_name(std::string_view name,
                                       const std::vector<std::string>& candidates);

/// "Did you mean \"dcnv2\"?"; empty where nothing is close.
[[nodiscard]] std::string did_you_mean(std::string_view name,
                                       const std::vector<std::string>& candidates);

/// "a, b, c".
[[nodiscard]] std::string join_names(const std::vector<std::string>& names);

}  // namespace shardscope
