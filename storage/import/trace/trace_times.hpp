#pragma once
// Times of a machine that an imported trace tells.

#include <array>
#include <vector>

#include "planner/calibration.hpp"
#include "storage/import/trace/trace_stages.hpp"

namespace shardscope::storage {

/// Collectives of known size that are no all-reduces, waiting for peers taken out, as all-to-alls
/// between the ranks of the whole job: the median of every power of two.
[[nodiscard]] std::vector<CollectiveTime> exchange_times(const ImportedTrace& trace);

/// Seconds of each imported rank's stages, an iteration; [rank][stage]. A kernel that reduces and
/// updates stands with local_reduce.
[[nodiscard]] std::vector<std::array<double, kStages>> stage_seconds(const ImportedTrace& trace);

}  // namespace shardscope::storage
