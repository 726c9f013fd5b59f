#pragma once
// Who will train the layout: fixes the legal forms, memory rules, key bytes and padding.

#include <cstdint>

namespace shardscope {

enum class Executor : std::uint8_t { engine, hugectr, torchrec };

[[nodiscard]] const char* to_string(Executor value);

}  // namespace shardscope
