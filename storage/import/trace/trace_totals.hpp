#pragma once
// What a rank's placed work adds up to.

#include <cstdint>
#include <vector>

#include "storage/import/trace/trace_model.hpp"
#include "storage/import/trace/trace_stages.hpp"

namespace shardscope::storage {

/// One rank over its iterations, a mean iteration. Work outside every iteration does not count.
[[nodiscard]] TraceRank trace_totals(const RankTrace& trace, const std::vector<WorkPlace>& places,
                                     std::int64_t iterations);

/// GPU time that the kernel map gives to no stage, by name, most first.
[[nodiscard]] std::vector<UnmappedName> unmapped_names(
    const std::vector<RankTrace>& ranks, const std::vector<std::vector<WorkPlace>>& places);

}  // namespace shardscope::storage
