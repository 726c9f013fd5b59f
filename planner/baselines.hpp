#pragma once
// Layouts that need no search, by name: what people start from and planners are compared with.

#include <string>
#include <string_view>
#include <vector>

#include "layout/layout.hpp"
#include "layout/result.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope {

/// round_robin, table_wise, uniform, table_row_wise, data_parallel.
[[nodiscard]] std::vector<std::string> baseline_names();

/// The baseline of that name; whether it fits is for check() to say.
/// round_robin: table i whole on rank i mod ranks. table_wise: whole tables, largest first, each to
/// the rank with the fewest bytes. uniform: every table's rows over all ranks. table_row_wise:
/// table i's rows over the ranks of host i mod hosts (over all ranks where a host's memory is too
/// small for it). data_parallel: every table on every rank.
/// Tables are RB where all their features are pooled, else UB. An unknown name is a usage error.
[[nodiscard]] Result<Layout> baseline(std::string_view name, const Workload& workload,
                                      const Topology& topology);

}  // namespace shardscope
