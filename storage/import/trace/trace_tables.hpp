#pragma once
// Which table lies on which rank, solved from what a trace shows of the embedding operators: the
// number of tables, the size of their weights and the ids they read on each rank.

#include <optional>

#include "storage/import/imported_plan.hpp"
#include "storage/import/trace/trace_stages.hpp"

namespace shardscope::storage {

/// A layout of whole tables (and replicated ones) that explains every rank in exactly one way, for
/// the context's workload or a built-in model, whose dims may differ from the trace's. Nothing
/// where there is none, or more than one; notes say which.
[[nodiscard]] std::optional<ImportedPlan> identify_tables(const ImportedTrace& trace,
                                                          const ImportContext& context,
                                                          ImportNotes& notes);

}  // namespace shardscope::storage
