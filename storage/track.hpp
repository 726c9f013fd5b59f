#pragma once
// A line of a run's timeline.

#include <cstdint>

namespace shardscope::storage {

/// The spans of one stream of one rank, one after another.
struct Track {
  std::int64_t id = 0;
  std::int32_t rank = 0;
  std::int32_t stream = 0;
  std::int64_t spans = 0;
};

}  // namespace shardscope::storage
