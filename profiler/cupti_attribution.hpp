#pragma once
// What a thread was working on, as the number CUPTI carries along with its calls.

#include <cstdint>

#include "profiler/work_tracer.hpp"

namespace shardscope::cupti {

// 32 bits iteration, 16 rank, 8 stage, 7 work, and a bit that is always set.
[[nodiscard]] constexpr std::uint64_t to_external_id(const Attribution& at) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(at.iteration)) |
         static_cast<std::uint64_t>(static_cast<std::uint16_t>(at.rank)) << 32 |
         static_cast<std::uint64_t>(at.stage) << 48 | static_cast<std::uint64_t>(at.work) << 56 |
         std::uint64_t{1} << 63;
}

[[nodiscard]] constexpr Attribution from_external_id(std::uint64_t id) {
  return {static_cast<std::int32_t>(id >> 32 & 0xffff),
          static_cast<std::int32_t>(static_cast<std::uint32_t>(id)),
          static_cast<Stage>(id >> 48 & 0xff), static_cast<Work>(id >> 56 & 0x7f)};
}

}  // namespace shardscope::cupti
