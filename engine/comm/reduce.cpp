#include "engine/comm/reduce.hpp"

#include <algorithm>

#include "engine/cpu/kernels.hpp"

namespace shardscope::engine {
namespace {

/// Elements summed at a time: the fp32 sums of one block stay in the first-level cache.
constexpr std::int64_t kBlock = 2048;

}  // namespace

void sum_parts(std::byte* out, const std::byte* const* parts, std::int32_t parts_count,
               std::int64_t elements, DType dtype) {
  alignas(64) float sum[kBlock];
  for (std::int64_t begin = 0; begin < elements; begin += kBlock) {
    const std::int64_t offset = begin * bytes_of(dtype);
    CopyColumns add;
    add.from_type = dtype;
    add.to = sum;
    add.rows = 1;
    add.width = static_cast<std::int32_t>(std::min(kBlock, elements - begin));
    for (std::int32_t part = 0; part < parts_count; ++part) {
      add.from = parts[part] + offset;
      add.accumulate = part > 0;
      copy_columns(add);
    }
    CopyColumns store;
    store.from = sum;
    store.to = out + offset;
    store.to_type = dtype;
    store.rows = 1;
    store.width = add.width;
    copy_columns(store);
  }
}

Chunk chunk_of(std::int64_t count, std::int32_t part, std::int32_t parts) {
  const std::int64_t base = count / parts;
  const std::int64_t longer = count % parts;
  const std::int64_t begin = part * base + std::min<std::int64_t>(part, longer);
  return {begin, begin + base + (part < longer ? 1 : 0)};
}

}  // namespace shardscope::engine
