#pragma once
// Nsight Systems' SQLite exports of any version, read by column name.

#include <string>
#include <vector>

#include "layout/result.hpp"
#include "storage/import/notes.hpp"
#include "storage/import/trace/trace_model.hpp"

namespace shardscope::storage {

/// One trace a process (globalPid) with GPU work, in the file's order; NVTX ranges are its
/// annotations. Columns that a version lacks are taken as absent. Errors: no SQLite file, or one
/// without GPU activity.
[[nodiscard]] Result<std::vector<RankTrace>> read_nsys(const std::string& path, ImportNotes& notes);

}  // namespace shardscope::storage
