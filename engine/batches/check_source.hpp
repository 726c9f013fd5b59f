#pragma once
// What a workload must satisfy before batches can be made of it.

#include <cstdint>

#include "layout/result.hpp"
#include "layout/workload.hpp"

namespace shardscope::engine {

/// Errors name table or feature, what would be accepted and the cure: no tables or features, zero
/// rows, a table index or num_poolings out of range, rows beyond the key type, a batch that is
/// empty, too large to number, or larger than `memory_bytes` (see batch_bytes).
[[nodiscard]] Status check_batchable(const Workload& workload, std::int64_t memory_bytes);

/// Expected bytes of one global batch in host memory: lengths, ids, weights, dense, labels.
/// Saturates at the largest int64.
[[nodiscard]] std::int64_t batch_bytes(const Workload& workload);

/// Physical memory of this machine.
[[nodiscard]] std::int64_t physical_memory_bytes();

}  // namespace shardscope::engine
