#pragma once
// What is measured of one step on one rank: written by tasks of the step's stream.

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/comm/communicator.hpp"
#include "engine/stream.hpp"
#include "layout/bytes.hpp"

namespace shardscope::engine {

/// One collective inside a step.
struct ExchangeTimes {
  Moment begin;
  Moment end;
  std::int64_t waited_ns = 0;  ///< for peers
  std::int64_t copied_ns = 0;  ///< moving and adding bytes
  LinkBytes sent;
  LinkBytes received;
  Group group = Group::flat;
};

/// Most collectives a step has: RB with flat and hierarchical tables, coded messages in two parts
/// and the sizes of each.
inline constexpr std::size_t kMostExchanges = 10;

struct StepTimes {
  Moment start;
  Moment end;
  Moment helper_start;  ///< of the stream that runs codecs; equal: there was none
  Moment helper_end;
  std::int64_t host_cpu_ns = 0;  ///< of the host thread, where it is another
  std::int64_t rows = 0;
  std::array<ExchangeTimes, kMostExchanges> exchanges{};
  std::size_t exchange_count = 0;

  /// Time of the rank's own work inside the step: kernels, copies, and the host's lists. On a
  /// device with a clock of its own the step's time there.
  [[nodiscard]] std::int64_t busy_ns() const {
    return end.busy_ns - start.busy_ns + helper_end.busy_ns - helper_start.busy_ns + host_cpu_ns;
  }
  [[nodiscard]] LinkBytes sent() const {
    LinkBytes sum;
    for (std::size_t i = 0; i < exchange_count; ++i) {
      sum.intra += exchanges[i].sent.intra;
      sum.inter += exchanges[i].sent.inter;
    }
    return sum;
  }
};

}  // namespace shardscope::engine
