#pragma once
// How the parts of storage/ get at a session's database: one at a time.

#include <mutex>
#include <utility>

#include "layout/result.hpp"
#include "storage/session.hpp"
#include "storage/sqlite/transaction.hpp"

namespace shardscope::storage {

/// The database while this object lives.
class ReadAccess {
 public:
  explicit ReadAccess(const Session& session);
  [[nodiscard]] Database& database() const { return *database_; }

 private:
  std::unique_lock<std::mutex> lock_;
  Database* database_;
};

/// The database in a transaction that rolls back unless it is committed.
class WriteAccess {
 public:
  /// Fails on a session that was opened for reading.
  [[nodiscard]] static Result<WriteAccess> begin(const Session& session);
  [[nodiscard]] Database& database() const { return access_.database(); }
  [[nodiscard]] Status commit() { return transaction_.commit(); }

 private:
  WriteAccess(ReadAccess access, Transaction transaction)
      : access_(std::move(access)), transaction_(std::move(transaction)) {}

  ReadAccess access_;  ///< before the transaction: unlocked after it ended
  Transaction transaction_;
};

}  // namespace shardscope::storage
