#pragma once
// Ids that repeat as in a published batch instead of by the workload's own laws.

#include <string>

#include "layout/result.hpp"
#include "layout/workload.hpp"

namespace shardscope::app {

/// Every feature's ids drawn from one batch of `file_and_batch`: FILE or FILE#BATCH, the batch by
/// its number from 1 (the default) or its name. Errors: an unreadable file, an unknown batch.
[[nodiscard]] Result<Workload> with_reuse(Workload workload, const std::string& file_and_batch);

}  // namespace shardscope::app
