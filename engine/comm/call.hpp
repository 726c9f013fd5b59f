#pragma once
// One collective as errors name it.

#include <cstdint>
#include <string>

#include "engine/comm/communicator.hpp"

namespace shardscope::engine {

enum class Operation : std::uint8_t {
  exchange_counts,
  alltoall_v,
  all_reduce,
  barrier,
  publish,
  fence,
  graph,  ///< the calls of a graph, at its launch
};

[[nodiscard]] const char* to_string(Operation operation);

/// `number` counts a rank's calls on one channel and group from 0; the calls of equal number meet.
struct Call {
  Operation operation = Operation::barrier;
  Group group = Group::flat;
  std::int32_t channel = 0;
  std::uint64_t number = 0;
  const char* label = "";
};

/// "alltoall_v of 'RB network_forward' (channel 1, group flat, call 17)".
[[nodiscard]] std::string to_string(const Call& call);

}  // namespace shardscope::engine
