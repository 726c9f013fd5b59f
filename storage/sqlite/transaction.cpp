#include "storage/sqlite/transaction.hpp"

namespace shardscope::storage {

Result<Transaction> Transaction::begin(Database& database) {
  if (Status status = database.execute("BEGIN IMMEDIATE"); !status) return fail(status.error());
  return Transaction(database);
}

Transaction::~Transaction() {
  // SQLite may have rolled back by itself (disk full): the second time is then a harmless error.
  if (database_ != nullptr) static_cast<void>(database_->execute("ROLLBACK"));
}

Status Transaction::commit() {
  Status status = database_->execute("COMMIT");
  if (status) database_ = nullptr;
  return status;
}

}  // namespace shardscope::storage
