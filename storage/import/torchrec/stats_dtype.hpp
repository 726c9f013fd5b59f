#pragma once
// The weights' types behind a planner's report, which prints storage but no types.

#include <string>
#include <vector>

#include "layout/workload.hpp"
#include "storage/import/torchrec/torchrec_stats.hpp"

namespace shardscope::storage {

struct StatsTypes {
  std::vector<DType> tables;  ///< as TorchrecStats::tables: fp32 or fp16
  std::string note;           ///< how they were found
};

/// A table is fp16 where its fp32 weights would exceed its printed storage (HBM, DDR and SSD; of a
/// replicated table that of all replicas). Where inputs and outputs are small beside the weights,
/// storage that holds fp32 weights says fp32 once another table has been found to be fp16: one
/// optimizer has the same states for both. Tables that tell nothing are as most of the others, fp32
/// where none tells anything.
[[nodiscard]] StatsTypes stats_types(const TorchrecStats& stats, std::int32_t ranks);

}  // namespace shardscope::storage
