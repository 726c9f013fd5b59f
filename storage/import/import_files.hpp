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

namespace shardscope::storage {

/// Called during long imports with the share done (0..1); false cancels.
using ImportProgress = std::function<bool(double)>;

struct Imported {
  ImportKind kind = ImportKind::hugectr;
  std::vector<ImportedPlan> plans;
  ImportNotes notes;
};

/// Reads the files (one, but for traces: one a rank) as `kind`.
[[nodiscard]] Result<Imported> import_files(ImportKind kind, const std::vector<std::string>& paths,
                                            const ImportContext& context,
                                            const ImportProgress& progress);

}  // namespace shardscope::storage
