#pragma once
// GPU activity as binary columns (see columns.hpp); names stand in the frame's JSON, once each.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layout/result.hpp"
#include "profiler/activity.hpp"

namespace shardscope::service {

/// i64 start_ns, end_ns, bytes, local_bytes, grid_id, graph_node; i32 rank, device, context,
/// stream, correlation, detail, iteration, thread, grid x 3, block x 3, registers, static shared,
/// dynamic shared and local bytes, event, name; u8 kind, stage, work, attributed, source,
/// destination.
inline constexpr std::size_t kActivityBytes = 6 * 8 + 20 * 4 + 6;

/// Appends names that are new to `names`.
[[nodiscard]] std::string columns_of(std::span<const ActivityRecord> records,
                                     std::vector<std::string>& names);
/// Errors: another length than `count` records have, a name, kind, stage, work, memory or flag that
/// does not exist.
[[nodiscard]] Result<std::vector<ActivityRecord>> activities_of(
    std::string_view columns, std::size_t count, const std::vector<std::string>& names);

}  // namespace shardscope::service
