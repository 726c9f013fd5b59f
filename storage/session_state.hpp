#pragma once
// What a Session holds; for the parts of storage/ that read and write through it.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "storage/checkpointer.hpp"
#include "storage/lock_file.hpp"
#include "storage/sqlite/database.hpp"

namespace shardscope::storage {

struct SessionState {
  std::string path;
  bool writable = false;
  std::int64_t start_utc_ns = 0;
  LockFile lock;  ///< declared before the database: released after it is closed
  /// Guards `database`. Writers hold it for one transaction, readers for one query.
  std::mutex mutex;
  Database database;
  std::unique_ptr<Checkpointer> checkpointer;  ///< while open for writing
};

}  // namespace shardscope::storage
