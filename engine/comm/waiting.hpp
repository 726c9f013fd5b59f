#pragma once
// How a rank waits for its peers: asleep beside them (threads) or by handing its turn on
// (loopback).

#include <cstdint>

#include "engine/comm/call.hpp"
#include "engine/comm/progress.hpp"

namespace shardscope::engine {

enum class Waited : std::uint8_t {
  reached,
  aborted,
  expired,  ///< the deadline passed
};

class Waiting {
 public:
  virtual ~Waiting() = default;
  /// Returns when the progress has reached the target, or soon after an abort.
  [[nodiscard]] virtual Waited wait(std::int32_t rank, Progress& progress, std::uint64_t target,
                                    const Call& call) = 0;
  /// Wakes every rank; the abort flag has been raised.
  virtual void interrupt() = 0;
};

}  // namespace shardscope::engine
