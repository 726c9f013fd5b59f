#pragma once
// One connection to an SQLite file. Not thread-safe: its owner serialises the calls.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "layout/result.hpp"
#include "storage/sqlite/handles.hpp"
#include "storage/sqlite/statement.hpp"

namespace shardscope::storage {

class Database {
 public:
  enum class Open { read_only, read_write, create };

  Database() = default;
  /// Opens the file and hardens the connection against hostile content (no functions or triggers
  /// hidden in the schema run). "" with `create` is a private temporary database.
  [[nodiscard]] static Result<Database> open(const std::string& path, Open mode);

  /// Runs every statement of the text; rows are discarded.
  [[nodiscard]] Status execute(const std::string& sql);
  [[nodiscard]] Result<Statement> prepare(std::string_view sql);
  /// First column of the first row; 0 without a row.
  [[nodiscard]] Result<std::int64_t> integer(std::string_view sql);
  [[nodiscard]] Result<std::string> text(std::string_view sql);

  [[nodiscard]] std::int64_t last_insert_id() const;
  /// Rows changed by the last statement.
  [[nodiscard]] std::int64_t changes() const;
  /// How long a statement waits for another connection.
  void set_busy_timeout(std::chrono::milliseconds timeout);
  /// Copies the whole content into `target`.
  [[nodiscard]] Status copy_to(Database& target);

  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }
  /// As it was given to open(): for messages.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Absolute path, whatever the working directory is by now; empty for a temporary database.
  [[nodiscard]] std::string file() const;
  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(handle_); }
  /// Closes the connection. Statements of it must be gone.
  void close() { handle_.reset(); }

 private:
  [[nodiscard]] tl::unexpected<Error> failed(int code) const;

  DatabaseHandle handle_;
  std::string path_;
};

}  // namespace shardscope::storage
