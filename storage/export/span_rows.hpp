#pragma once
// Every span of a run, in one pass over the database.

#include <cstdint>
#include <functional>
#include <string>

#include "layout/result.hpp"
#include "profiler/span.hpp"
#include "storage/session.hpp"

namespace shardscope::storage {

/// Calls `visit` for the spans of a run by rank and start. A stage or work that this version does
/// not know is left out.
[[nodiscard]] Status for_each_span(const Session& session, std::int64_t run,
                                   const std::function<void(const Span&)>& visit);

/// Rows of a run's GPU activity in Nsight Systems' tables.
struct ActivityRow {
  enum class Kind : std::uint8_t { kernel, memcpy, memset, runtime };
  Kind kind = Kind::kernel;
  std::int64_t start_ns = 0;  ///< since the run's start
  std::int64_t end_ns = 0;
  std::int32_t rank = 0;
  std::int32_t device = 0;
  std::int32_t context = 0;
  std::int64_t stream = 0;  ///< runtime: the thread
  std::int64_t correlation = 0;
  std::int64_t bytes = 0;
  std::int32_t detail = 0;
  std::int32_t grid[3] = {};
  std::int32_t block[3] = {};
  std::int32_t registers = 0;
  std::int32_t shared_bytes = 0;
  std::string name;
};

/// Calls `visit` for each; nothing where the run recorded none. The number visited.
[[nodiscard]] Result<std::int64_t> for_each_activity(
    const Session& session, std::int64_t run, const std::function<void(const ActivityRow&)>& visit);

}  // namespace shardscope::storage
