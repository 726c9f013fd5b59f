#pragma once
// The handles of SQLite.

#include <sqlite3.h>

#include "storage/unique.hpp"

namespace shardscope::storage {

using DatabaseHandle = Unique<sqlite3*, sqlite3_close_v2, nullptr>;
using StatementHandle = Unique<sqlite3_stmt*, sqlite3_finalize, nullptr>;

}  // namespace shardscope::storage
