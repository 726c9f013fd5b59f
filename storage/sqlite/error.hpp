#pragma once
// SQLite's result codes as errors a person can act on.

#include <string>

#include "layout/result.hpp"

struct sqlite3;

namespace shardscope::storage {

/// `code` is an extended result code; `database` may be null. `place` is the file.
/// Unusable input (not a database) is a usage error, everything else a run-time failure.
[[nodiscard]] Error sqlite_error(sqlite3* database, int code, const std::string& place);

}  // namespace shardscope::storage
