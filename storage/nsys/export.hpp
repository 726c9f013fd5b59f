#pragma once
// One run as a file of its own in Nsight Systems' SQLite format.

#include <cstdint>
#include <string>

#include "layout/result.hpp"
#include "storage/session.hpp"

namespace shardscope::storage::nsys {

/// Writes the run's GPU activity, processes and names to `path`, which must not exist. Times count
/// from the run's start. Stages are NVTX ranges: those of the API calls where there was GPU
/// activity, else the recorded spans (thread = stream + 1). META_DATA_CAPTURE says the mode
/// (measured, emulated, simulated), backend and layout. Nothing is left at `path` after a failure.
[[nodiscard]] Status export_run(const Session& session, std::int64_t run, const std::string& path);

}  // namespace shardscope::storage::nsys
