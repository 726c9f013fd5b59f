#pragma once
// One entry for every format: what a file holds, as our values, and what was said about it.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "layout/result.hpp"
#include "storage/import/import_kind.hpp"
#include "storage/import/imported_plan.hpp"
#include "storage/import/notes.hpp"
#include "storage/import/trace/trace_stages.hpp"

namespace shardscope::storage {

/// Called during long imports with the share done (0..1); false cancels.
using ImportProgress = std::function<bool(double)>;

/// What files held. By kind:
/// - torchrec, torchrec_stats, hugectr: a plan each (one a file; several where a file has several)
///   with `matrix`; workload, topology and layout where sizes are known; `estimate` of a report.
/// - mlperf: a plan with the log's facts, its layout where the log prints the matrix.
/// - tbe: a plan a configuration with a workload alone.
/// - kineto, nsys: `trace` (a run: storage/import/trace/trace_write.hpp writes it to a session),
/// and one
///   plan where the layout that ran is known.
/// nccl_tests gives an error: calibration reads it.
/// `notes` say what was kept, assumed and left out; show them with whatever is shown.
struct Imported {
  ImportKind kind = ImportKind::hugectr;
  std::vector<ImportedPlan> plans;
  std::optional<ImportedTrace> trace;  ///< its layout, where it is known, is plans.front()
  std::string device_name;             ///< of a trace
  ImportNotes notes;
};

/// Reads the files (one, but for traces: one a rank) as `kind`; storage/import/import_kind.hpp
/// tells a file's kind. `map` gives kernels to stages. Runs in the caller's thread; `progress` is
/// called from it. Errors: files that cannot be read or hold nothing of the kind (usage), cancelled
/// (runtime).
[[nodiscard]] Result<Imported> import_files(ImportKind kind, const std::vector<std::string>& paths,
                                            const ImportContext& context, const KernelMap& map,
                                            const ImportProgress& progress);

}  // namespace shardscope::storage
