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
#include "storage/import/trace_stages.hpp"

namespace shardscope::storage {

/// Called during long imports with the share done (0..1); false cancels.
using ImportProgress = std::function<bool(double)>;

struct Imported {
  ImportKind kind = ImportKind::hugectr;
  std::vector<ImportedPlan> plans;
  std::optional<ImportedTrace> trace;  ///< its layout, where it is known, is plans.front()
  std::string device_name;             ///< of a trace
  ImportNotes notes;
};

/// Reads the files (one, but for traces: one a rank) as `kind`. `map` gives kernels to stages.
[[nodiscard]] Result<Imported> import_files(ImportKind kind, const std::vector<std::string>& paths,
                                            const ImportContext& context, const KernelMap& map,
                                            const ImportProgress& progress);

}  // namespace shardscope::storage
