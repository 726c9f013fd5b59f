#pragma once
// Records as binary columns: the tail of a frame. Column after column, each little-endian, without
// padding; the number of records stands in the frame's JSON.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layout/result.hpp"
#include "profiler/span.hpp"

namespace shardscope::service {

/// i64 start_ns, end_ns, busy_ns, intra_bytes, inter_bytes, rows; i32 iteration, rank; u8 stage,
/// work, stream, waiting.
inline constexpr std::size_t kSpanBytes = 6 * 8 + 2 * 4 + 4;
[[nodiscard]] std::string columns_of(std::span<const Span> spans);
/// Errors: another length than `count` records have, a stage, work or flag that does not exist.
[[nodiscard]] Result<std::vector<Span>> spans_of(std::string_view columns, std::size_t count);

/// i64 start_ns, end_ns; f64 loss; i32 index, block; u8 warm_up, traced.
inline constexpr std::size_t kIterationBytes = 3 * 8 + 2 * 4 + 2;
[[nodiscard]] std::string columns_of(std::span<const Iteration> iterations);
[[nodiscard]] Result<std::vector<Iteration>> iterations_of(std::string_view columns,
                                                           std::size_t count);

}  // namespace shardscope::service
