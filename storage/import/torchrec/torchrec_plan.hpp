#pragma once
// TorchRec's ShardingPlan: the JSON of ShardingPlan._serialize, TorchEasyRec's plan checkpoint (the
// same without shards) and the text that print(plan) writes.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "layout/result.hpp"
#include "storage/import/imported_plan.hpp"

namespace shardscope::storage {

/// One shard as ShardMetadata gives it.
struct TorchrecShardEntry {
  std::int64_t first_row = 0;
  std::int64_t first_column = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int32_t rank = -1;
};

struct TorchrecPlanEntry {
  std::string module;  ///< FQN of the sharded module
  std::string table;
  std::string sharding;  ///< "table_wise", ...
  std::string kernel;    ///< "fused", ...
  std::vector<std::int32_t> ranks;
  std::vector<TorchrecShardEntry> shards;  ///< empty: data_parallel, or not given
};

struct TorchrecPlan {
  std::vector<TorchrecPlanEntry> tables;
  std::int32_t ranks = 0;
  std::int32_t local_ranks = 0;  ///< of a host; 0: the placements do not tell
  bool cut = false;              ///< tables were left out as damaged
};

/// JSON or Python's repr of it; also inside other text, with a logger's prefixes, or cut off.
[[nodiscard]] Result<TorchrecPlan> read_torchrec_json(std::string_view text, ImportNotes& notes);

/// str(plan), anywhere in a text; lines may carry a prefix.
[[nodiscard]] Result<TorchrecPlan> read_torchrec_text(std::string_view text, ImportNotes& notes);

/// The plan as our layout. Rows and dims follow from the shards; features (hotness, pooling) from
/// the context's workload, else one id a bag is assumed with a warning. A plan that was cut off
/// gives ranks alone where the workload has more tables.
[[nodiscard]] Result<ImportedPlan> resolve_torchrec_plan(const TorchrecPlan& plan,
                                                         const ImportContext& context,
                                                         ImportNotes& notes);

/// The grid of a table's shards as a placement (block rows); nothing where they are no grid that
/// covers rows x dim once. Rows and dim are the shards' extent.
[[nodiscard]] std::optional<TablePlacement> placement_of_shards(
    std::vector<TorchrecShardEntry> shards, ClusterType cluster);

}  // namespace shardscope::storage
