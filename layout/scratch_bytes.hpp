#pragma once
// Scratch memory that the engine's index operations work in. Formulas over counts, so that the
// buffer list and the kernels agree.

#include <cstdint>

#include "layout/workload.hpp"

namespace shardscope {

/// Scratch of finding the distinct ids among `count` ids: an open-addressing table at most half
/// full, and one u32 an id.
[[nodiscard]] std::int64_t dedup_table_bytes(std::int64_t count, KeyType key);

/// Scratch of sorting `count` row numbers below `row_limit` with their positions: two copies of
/// (row, position), 8 bytes each while rows fit 32 bits, else 16.
[[nodiscard]] std::int64_t sort_scratch_bytes(std::int64_t count, std::int64_t row_limit);

/// Rows of `width` elements that reduce_update reduces before it updates them: their gradients stay
/// in the first-level cache.
[[nodiscard]] std::int64_t reduce_update_rows(std::int64_t width);

/// Scratch of reduce_update: fp32 gradients and a square sum of each of these rows.
[[nodiscard]] std::int64_t reduce_update_bytes(std::int64_t width);

}  // namespace shardscope
