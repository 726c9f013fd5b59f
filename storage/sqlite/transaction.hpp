#pragma once
// A transaction that rolls back unless it is committed.

#include <utility>

#include "layout/result.hpp"
#include "storage/sqlite/database.hpp"

namespace shardscope::storage {

class Transaction {
 public:
  /// Takes the write lock at once (BEGIN IMMEDIATE), so that it never fails half way for want of
  /// it.
  [[nodiscard]] static Result<Transaction> begin(Database& database);

  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  /// A failed commit is rolled back.
  [[nodiscard]] Status commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}

  Database* database_;
};

}  // namespace shardscope::storage
