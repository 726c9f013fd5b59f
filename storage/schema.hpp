#pragma once
// The tables of a session and how older files become newer ones. Documented in docs/session.md.

#include <cstdint>

#include "layout/result.hpp"
#include "storage/sqlite/database.hpp"

namespace shardscope::storage {

/// Marks a file as ours ("SHRD"); at offset 68 of the file.
inline constexpr std::int32_t kApplicationId = 0x53485244;

/// Version this code writes; at offset 60 of the file as user_version.
[[nodiscard]] std::int32_t newest_schema_version();

/// Brings the database from its user_version (0: empty) to `version` in one transaction: afterwards
/// it has that version, or is unchanged and the error says why. A newer file is refused.
[[nodiscard]] Status migrate(Database& database, std::int32_t version = newest_schema_version());

/// Fails unless the database is a session that this code can read.
[[nodiscard]] Status check_is_session(Database& database);

}  // namespace shardscope::storage
