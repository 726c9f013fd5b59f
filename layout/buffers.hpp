#pragma once
// Every buffer a rank of the engine allocates, as a value: the engine carves its arena by this
// list and the memory accounting sums it, so the two cannot drift apart.

#include <cstdint>
#include <string>
#include <vector>

#include "layout/bytes.hpp"
#include "layout/layout.hpp"
#include "layout/schedule.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope {

/// The field of MemoryUse a buffer counts in.
enum class BufferPurpose : std::uint8_t {
  weights,
  optimizer_state,
  transients,
  communication,
  indices,
  sort,
  wgrad,
  dense,
};

struct BufferSpec {
  std::string name;  ///< stage and contents, e.g. "rb.network_forward.send"
  BufferPurpose purpose = BufferPurpose::communication;
  std::int32_t table = -1;  ///< the table it belongs to, or -1
  std::int64_t bytes = 0;   ///< before alignment
};

/// Alignment of every buffer in the arena.
inline constexpr std::int64_t kBufferAlignment = 64;

/// Buffers of one rank; `capacity` bounds the counts of every batch that will run.
[[nodiscard]] std::vector<BufferSpec> engine_buffers(const Workload& workload,
                                                     const Topology& topology,
                                                     const Layout& layout,
                                                     const Schedule& schedule, std::int32_t rank,
                                                     const BatchCounts& capacity);

}  // namespace shardscope
