#pragma once
// Gives one rank's GPU work to iterations, stages and clusters, by the kernel map and by what
// surrounds each launch.

#include <vector>

#include "storage/import/trace/kernel_map.hpp"
#include "storage/import/trace/trace_model.hpp"
#include "storage/import/trace/trace_stages.hpp"

namespace shardscope::storage {

/// One place a piece of work, in the order of trace.work. `trace.collectives` are ordered by start.
[[nodiscard]] std::vector<WorkPlace> place_rank(const RankTrace& trace, const KernelMap& map);

}  // namespace shardscope::storage
