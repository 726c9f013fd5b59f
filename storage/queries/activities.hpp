#pragma once
// GPU activity of a run by time: which kernel a span was, and which call launched it.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "layout/result.hpp"
#include "storage/session.hpp"

namespace shardscope::storage {

/// The API call that launched a kernel or copy. Times in ns since the run's start.
struct LaunchCall {
  std::string name;  ///< empty: none is recorded
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

/// A kernel or copy on the device. Times in ns since the run's start.
struct DeviceWork {
  std::int32_t rank = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::string name;  ///< demangled; "copy" for copies
  std::array<std::int32_t, 3> grid{};
  std::array<std::int32_t, 3> block{};
  std::int64_t bytes = 0;  ///< of copies
  LaunchCall call;
};

/// What touches [begin_ns, end_ns) of a run, by rank, then start; at most `limit`. Calls are looked
/// for up to 10 s before the range. Empty where the run recorded no activity. Reads whole tables:
/// seconds for tens of millions of rows, so not for a frame.
[[nodiscard]] Result<std::vector<DeviceWork>> device_work(const Session& session, std::int64_t run,
                                                          std::int64_t begin_ns,
                                                          std::int64_t end_ns, std::int64_t limit);

}  // namespace shardscope::storage
