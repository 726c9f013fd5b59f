#pragma once
// What is written when a run ends: its summary, stage times and levels of detail.

#include <cstdint>

#include "layout/result.hpp"
#include "profiler/record_sink.hpp"
#include "storage/session_state.hpp"

namespace shardscope::storage {

/// Everything of the run must be committed. Reads through a connection of its own and writes in
/// short transactions, so that a writer of other runs is not held up.
[[nodiscard]] Status finish_run(SessionState& state, std::int64_t run, const RunSummary& summary);

/// Ends the runs that a killed program left open, as incomplete. The caller holds the lock file.
[[nodiscard]] Status finish_interrupted_runs(SessionState& state);

}  // namespace shardscope::storage
