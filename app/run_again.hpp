#pragma once
// Another process of this program, for what two cannot share.

#include <string>
#include <vector>

#include "layout/result.hpp"

namespace shardscope::app {

/// Runs this program once more with this process' arguments and `more` behind them; what it prints
/// goes to stderr. An error where it could not be started or did not end well.
[[nodiscard]] Status run_again(const std::vector<std::string>& more);

}  // namespace shardscope::app
