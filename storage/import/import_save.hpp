#pragma once
// What an import gave, into a session: plans as layouts with their inputs, traces as runs.

#include "profiler/record_sink.hpp"
#include "storage/import/import_files.hpp"
#include "storage/session.hpp"

namespace shardscope::storage {

/// Workloads, topologies and, where sizes are known, layouts.
[[nodiscard]] Status save_plans(const Session& session, const Imported& imported);

/// The trace (there must be one) as a run; under placeholders that say so where its layout is
/// unknown.
[[nodiscard]] Status save_trace(RecordSink& sink, const Imported& imported);

}  // namespace shardscope::storage
