#pragma once
// The arithmetic of all_reduce.

#include <cstddef>
#include <cstdint>

#include "layout/workload.hpp"

namespace shardscope::engine {

/// out[i] = ((parts[0][i] + parts[1][i]) + parts[2][i]) + ... for `elements` elements: summed in
/// fp32 in the order of the parts, rounded once to the type, so the result depends on nothing but
/// the values. `out` may be one of the parts. parts_count >= 1.
void sum_parts(std::byte* out, const std::byte* const* parts, std::int32_t parts_count,
               std::int64_t elements, DType dtype);

/// Part p of `count` elements cut in `parts`: [begin, end). The first count % parts are one longer.
struct Chunk {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  [[nodiscard]] std::int64_t size() const { return end - begin; }
};
[[nodiscard]] Chunk chunk_of(std::int64_t count, std::int32_t part, std::int32_t parts);

}  // namespace shardscope::engine
