#pragma once
// Every buffer a rank of the engine allocates, as a value: the engine carves its arena by this
// list and the memory accounting sums it, so the two cannot drift apart.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "layout/bytes.hpp"
#include "layout/layout.hpp"
#include "layout/routes.hpp"
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

/// Names are dotted: cluster, stage or contents, and where a table has several the row shard, the
/// column shard or the feature in brackets ("rb.wgrad[1,0]"). A buffer that holds a result of
/// input_dist exists twice where the schedule prefetches; the second name ends in ".next".
struct BufferSpec {
  std::string name;
  BufferPurpose purpose = BufferPurpose::communication;
  std::int32_t table = -1;  ///< the table it belongs to, or -1
  std::int64_t bytes = 0;   ///< before alignment

  friend bool operator==(const BufferSpec&, const BufferSpec&) = default;
};

/// Alignment of every buffer in the arena, and of every message inside a buffer.
inline constexpr std::int64_t kBufferAlignment = 64;

/// `bytes` rounded up to the alignment; saturates like all accounting.
[[nodiscard]] constexpr std::int64_t aligned_bytes(std::int64_t bytes) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  if (bytes > kLargest - kBufferAlignment) return kLargest;
  return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

/// Buffers of one rank; `capacity` bounds the counts of every batch that will run.
[[nodiscard]] std::vector<BufferSpec> engine_buffers(const Workload& workload,
                                                     const Topology& topology, const Layout& layout,
                                                     const Schedule& schedule, std::int32_t rank,
                                                     const BatchCounts& capacity);

/// The same with the layout's routes at hand (they are equal for all ranks).
[[nodiscard]] std::vector<BufferSpec> engine_buffers(const Workload& workload,
                                                     const Topology& topology, const Layout& layout,
                                                     const Routes& routes, const Schedule& schedule,
                                                     std::int32_t rank,
                                                     const BatchCounts& capacity);

/// Sum of the buffers as they lie in the arena.
[[nodiscard]] std::int64_t arena_bytes(const std::vector<BufferSpec>& buffers);

/// True where the schedule works on the next batch's input_dist beside this batch.
[[nodiscard]] bool prefetches(const Schedule& schedule, Work work);

/// Rows of a feature's output on a rank: a row a bag for pooled features, else a row an id. All
/// have the table's dim. The outputs of a table's features follow each other in one buffer.
[[nodiscard]] std::int64_t output_rows(const Workload& workload, std::size_t feature,
                                       std::int32_t rank, const BatchCounts& counts,
                                       std::int32_t ranks);

/// Ids of a feature on a rank, all row shards.
[[nodiscard]] std::int64_t ids_of_rank(const BatchCounts& counts, std::size_t feature,
                                       std::int32_t rank, std::int32_t ranks);

}  // namespace shardscope
