#pragma once
// An imported trace as a run of a session: spans, iterations, GPU activity.

#include <cstdint>

#include "layout/result.hpp"
#include "profiler/record_sink.hpp"
#include "storage/import/trace/trace_stages.hpp"

namespace shardscope::storage {

/// Fills what a trace knows of a run (ranks, batch, backend); documents and label are the caller's.
[[nodiscard]] RunInfo trace_run_info(const ImportedTrace& trace);

/// Opens, fills and ends the run; its id.
[[nodiscard]] Result<std::int64_t> write_trace(RecordSink& sink, const ImportedTrace& trace,
                                               const RunInfo& info);

/// True where kernels of local_reduce update in one, as FBGEMM's do.
[[nodiscard]] bool has_fused_update(const ImportedTrace& trace);

/// Mean length of the iterations, ms; 0 without.
[[nodiscard]] double iteration_ms(const ImportedTrace& trace);

}  // namespace shardscope::storage
