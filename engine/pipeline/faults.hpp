#pragma once
// Mistakes that the tests plant to see that the law of the engine notices them. Never set outside
// tests.

#include <cstdint>

namespace shardscope::engine {

enum class Fault : std::uint8_t {
  none,
  lost_duplicate,           ///< the last occurrence of every list is not reduced
  wrong_owner,              ///< ids of row shard j go where those of j + 1 belong
  missing_rank,             ///< owners do not reduce what the last rank sent
  hierarchical_calls_flat,  ///< hierarchical tables are exchanged flat
  ub_sends_everything,      ///< UB does not remove duplicates
  missing_wait,             ///< the waits of the schedule are not enqueued
};

}  // namespace shardscope::engine
