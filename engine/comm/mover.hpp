#pragma once
// Moves and adds what ranks exchange where that is not the host's memory: a device's own copies.

#include <cstddef>
#include <cstdint>

#include "layout/result.hpp"
#include "layout/workload.hpp"

namespace shardscope::engine {

/// Both calls return when their work is done. Any thread may call.
class Mover {
 public:
  virtual ~Mover() = default;

  [[nodiscard]] virtual Status copy(std::byte* to, const std::byte* from, std::int64_t bytes) = 0;
  /// As sum_parts (engine/comm/reduce.hpp), bit for bit.
  [[nodiscard]] virtual Status sum(std::byte* out, const std::byte* const* parts,
                                   std::int32_t parts_count, std::int64_t elements,
                                   DType dtype) = 0;
};

}  // namespace shardscope::engine
