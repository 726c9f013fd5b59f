#pragma once
// What codecs do for each exchange of a layout, as people and machines read it.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/inputs.hpp"
#include "planner/codec_account.hpp"

namespace shardscope::app {

/// How many tables are coded by direction and hop, then the exchanges that gain most and those that
/// were refused, with their arithmetic; empty where there are no accounts.
[[nodiscard]] std::string codec_accounts_text(const Inputs& inputs,
                                              const std::vector<CodecAccount>& accounts);

/// Every account.
[[nodiscard]] nlohmann::ordered_json codec_accounts_json(const Inputs& inputs,
                                                         const std::vector<CodecAccount>& accounts);

}  // namespace shardscope::app
