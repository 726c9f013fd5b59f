#pragma once
// `shardscope worker`: one run, comparison or training, in a process of its own, started by
// `shardscope serve`. A crash costs that job alone.

#include "layout/result.hpp"

namespace shardscope::app {

/// Speaks the protocol on standard input and output until its job is done or the engine is gone.
[[nodiscard]] Status run_worker();

}  // namespace shardscope::app
