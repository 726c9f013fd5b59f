#pragma once
// Which core a rank's thread stays on.

#include <cstdint>

namespace shardscope::engine {

/// The core of a rank's stream: one each where this process may use as many, else one a rank, taken
/// in turns. -1: unknown, leave it to the system.
///
/// Left alone, a scheduler keeps an engine's threads for seconds where they happen to be. Of two
/// engines that run in turns one then looks faster than the other for as long, however often blocks
/// alternate; equal ranks on equal cores leave only the layouts to differ.
[[nodiscard]] int core_of(std::int32_t rank, std::int32_t ranks, std::int32_t stream,
                          std::int32_t streams);

/// Keeps the calling thread on that core; -1 does nothing. A refusal of the system is ignored.
void stay_on_core(int core);

}  // namespace shardscope::engine
