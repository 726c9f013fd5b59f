#pragma once
// What the words on the screens mean, for tooltips: one sentence or two each.

#include <string_view>

namespace shardscope::ui {

/// Of a stage ("input_dist"), a column or a figure ("gap"); empty where there is none.
[[nodiscard]] std::string_view explain_term(std::string_view term);

}  // namespace shardscope::ui
