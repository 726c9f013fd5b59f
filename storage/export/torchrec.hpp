#pragma once
// A layout as TorchRec jobs take it: JSON in the form of ShardingPlan._serialize and a loader.

#include <string>
#include <vector>

#include "layout/layout.hpp"
#include "layout/result.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope::storage {

struct TorchrecExport {
  Layout layout;  ///< what TorchRec will do: block rows
  /// What differs from the layout that was given, one sentence each.
  std::vector<std::string> changes;
  std::string json;    ///< {"plan": {module: {table: {...}}}}
  std::string loader;  ///< Python that reads the JSON file named `json_name` beside it
};

/// Module of tables whose workload names none (pooled, not pooled).
inline constexpr const char* kPooledModule = "model.sparse_arch.embedding_bag_collection";
inline constexpr const char* kSequenceModule = "model.sparse_arch.embedding_collection";

/// Refused (infeasible), each with table and cure: tables in none of TorchRec's seven forms, column
/// widths that are no multiples of 4, unequal row blocks inside a host, pooled tables in UB, and
/// whatever else check() finds for the executor torchrec. Modulo rows become equal blocks.
[[nodiscard]] Result<TorchrecExport> export_torchrec(const Workload& workload,
                                                     const Topology& topology, const Layout& layout,
                                                     const std::string& json_name);

}  // namespace shardscope::storage
