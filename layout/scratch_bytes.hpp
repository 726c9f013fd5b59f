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

}  // namespace shardscope
