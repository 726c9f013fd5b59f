#pragma once
// FBGEMM's table-batched-embedding configurations as workloads: TBEDataConfig JSON, as its reporter
// writes it from live jobs, and the operator lists of benchmark suites.

#include <string_view>
#include <vector>

#include "layout/result.hpp"
#include "layout/workload.hpp"
#include "storage/import/notes.hpp"

namespace shardscope::storage {

/// One workload a configuration; at least one, or an error that says what was looked for.
[[nodiscard]] Result<std::vector<Workload>> read_tbe_configs(std::string_view text,
                                                             ImportNotes& notes);

/// Bags of `mean` ids on average: one length, or the two whole lengths around it.
[[nodiscard]] Hotness hotness_with_mean(double mean);

}  // namespace shardscope::storage
