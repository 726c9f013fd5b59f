#pragma once
// Bytes of trace files: plain, gzip, tar and tar.gz, a directory of them, as streams of bounded
// size.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "layout/result.hpp"
#include "storage/import/notes.hpp"

namespace shardscope::storage {

/// Bytes one after another.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Fills up to `bytes` of `out`; 0 at the end. Errors: damaged data, or more than the bounds.
  [[nodiscard]] virtual Result<std::size_t> read(char* out, std::size_t bytes) = 0;
};

/// One trace of a file or archive.
struct TraceMember {
  std::string name;  ///< file, or archive:member
  ByteStream* bytes = nullptr;
};

using TraceVisit = std::function<Status(const TraceMember&)>;

/// Calls `visit` for each trace. Directories give their *.json, *.json.gz and *.gz files by name.
/// `progress` gets the share of the files' bytes done; false cancels. Bounds: 64 GiB unpacked a
/// file, and 300 times its packed size beyond the first 64 MiB.
[[nodiscard]] Status for_each_trace(const std::vector<std::string>& paths, ImportNotes& notes,
                                    const std::function<bool(double)>& progress,
                                    const TraceVisit& visit);

}  // namespace shardscope::storage
