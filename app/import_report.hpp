#pragma once
// What an import found, as people and machines read it.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "storage/import/import_files.hpp"

namespace shardscope::app {

/// Kept, warnings with place and expectation, number of skipped lines.
[[nodiscard]] std::string import_notes_text(const storage::ImportNotes& notes);

/// Plans with their prediction: time, hot rank and its tables.
[[nodiscard]] std::string import_text(const storage::Imported& imported);

/// {kind, plans: [...], notes: {kept, warnings, skipped}, ...}.
[[nodiscard]] nlohmann::ordered_json import_json(const storage::Imported& imported);

/// Shows what a file of that kind holds without keeping it.
[[nodiscard]] Status inspect_import(const std::string& path, storage::ImportKind kind, bool json);

}  // namespace shardscope::app
