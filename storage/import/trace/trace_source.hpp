#pragma once
// Trace files as streams of bounded size: plain, compressed, in archives, a directory of them.

#include <functional>
#include <string>
#include <vector>

#include "layout/result.hpp"
#include "storage/import/notes.hpp"
#include "storage/import/unpack.hpp"

namespace shardscope::storage {

/// One trace of a file or archive.
struct TraceMember {
  std::string name;  ///< file, or archive:member
  ByteStream* bytes = nullptr;
};

using TraceVisit = std::function<Status(const TraceMember&)>;

/// Calls `visit` for each trace: a file, compressed or not, or each *.json, *.json.gz and
/// *.json.zst of a tar or zip archive. Directories give such files by name. `progress` gets the
/// share of the files' bytes done; false cancels. Bounds: those of UnpackBudget a file.
[[nodiscard]] Status for_each_trace(const std::vector<std::string>& paths, ImportNotes& notes,
                                    const std::function<bool(double)>& progress,
                                    const TraceVisit& visit);

}  // namespace shardscope::storage
