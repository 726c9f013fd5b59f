#pragma once
// The handles of this folder.

#include <sqlite3.h>
#include <unistd.h>

#include "storage/unique.hpp"

namespace shardscope::storage {

using DatabaseHandle = Unique<sqlite3*, sqlite3_close_v2, nullptr>;
using StatementHandle = Unique<sqlite3_stmt*, sqlite3_finalize, nullptr>;
using FileDescriptor = Unique<int, ::close, -1>;

}  // namespace shardscope::storage
