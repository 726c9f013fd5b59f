#include "layout/scratch_bytes.hpp"

#include <algorithm>
#include <bit>

namespace shardscope {

std::int64_t dedup_table_bytes(std::int64_t count, KeyType key) {
  const auto entries = static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(2 * count, 16))));
  return entries * 2 * bytes_of(key) + 4 * count;
}

std::int64_t sort_scratch_bytes(std::int64_t count, std::int64_t row_limit) {
  const std::int64_t entry = row_limit <= (std::int64_t{1} << 32) ? 8 : 16;
  return 2 * entry * count;
}

}  // namespace shardscope
