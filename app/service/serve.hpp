#pragma once
// `shardscope serve`: the engine behind a desktop. It holds the session, starts a worker a job,
// and writes what workers record (docs/protocol.md).

#include "layout/result.hpp"

namespace shardscope::app {

/// Serves standard input and output until the other side closes them; then cancels what runs,
/// commits and returns within 2 s.
[[nodiscard]] Status serve();

}  // namespace shardscope::app
