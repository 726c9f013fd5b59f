#pragma once
// A workload for a recorded file that nobody described yet.

#include <cstdint>
#include <string>

#include "layout/result.hpp"
#include "layout/workload.hpp"

namespace shardscope::engine {

struct StreamWorkloadOptions {
  std::int32_t dim = 16;          ///< of every table
  std::int64_t global_batch = 0;  ///< 0: a power of two, at most a quarter of the samples and 8192
};

/// One table and one recorded feature a column of the stream (`spec` as in read_stream):
/// - rows: the largest id + 1, or for text four times the distinct values, up to a power of two, so
///   that few values share a row;
/// - hotness: the exact histogram of the recorded bag lengths, or fixed;
/// - pooling: sequence for histories of a sequence_csv, else sum;
/// - dense part: dot interaction where the stream has dense columns, else concat; none without
///   labels.
/// Histories of a sequence_csv are found by neighbouring columns that hold the same id in at least
/// half of the samples: their common length is the usual distance between the starts of such runs.
/// Histories of only 0 and 1 are masks and left out.
[[nodiscard]] Result<Workload> workload_from_stream(const std::string& spec,
                                                    const StreamWorkloadOptions& options = {});

}  // namespace shardscope::engine
