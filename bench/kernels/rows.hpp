#pragma once
// Loops that only touch rows: what memory allows.

#include <cstdint>

namespace shardscope::engine {

/// Reads whole rows, fetching ahead, and keeps one sum so that the reads are needed.
float read_rows(const float* table, std::int64_t width, const std::int32_t* ids, std::int64_t count,
                std::int64_t distance);

/// Reads and writes back rows, fetching ahead.
void rewrite_rows(float* table, std::int64_t width, const std::int64_t* rows, std::int64_t count,
                  std::int64_t distance);

}  // namespace shardscope::engine
