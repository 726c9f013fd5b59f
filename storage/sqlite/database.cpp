#include "storage/sqlite/database.hpp"

#include "storage/sqlite/error.hpp"

namespace shardscope::storage {
namespace {

int open_flags(Database::Open mode) {
  // NOMUTEX: the owner serialises the calls, a lock a call would only cost.
  switch (mode) {
    case Database::Open::read_only:
      return SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;
    case Database::Open::read_write:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    case Database::Open::create:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  }
  return SQLITE_OPEN_READONLY;
}

}  // namespace

Result<Database> Database::open(const std::string& path, Open mode) {
  Database database;
  database.path_ = path;
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, open_flags(mode), nullptr);
  database.handle_.reset(raw);  // also after a failure: the handle then carries the message
  if (code != SQLITE_OK) return database.failed(code);
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  database.set_busy_timeout(std::chrono::seconds(5));
  if (Status status = database.execute("PRAGMA cell_size_check = ON"); !status) {
    return fail(status.error());
  }
  return database;
}

Status Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failed(code);
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (code != SQLITE_OK) return failed(code);
  return Statement(StatementHandle(raw), path_);
}

Result<std::int64_t> Database::integer(std::string_view sql) {
  Result<Statement> query = prepare(sql);
  if (!query) return fail(query.error());
  const Result<bool> row = query->step();
  if (!row) return fail(row.error());
  return *row ? query->integer(0) : 0;
}

Result<std::string> Database::text(std::string_view sql) {
  Result<Statement> query = prepare(sql);
  if (!query) return fail(query.error());
  const Result<bool> row = query->step();
  if (!row) return fail(row.error());
  return *row ? query->text(0) : std::string();
}

std::int64_t Database::last_insert_id() const {
  return sqlite3_last_insert_rowid(handle_.get());
}

std::int64_t Database::changes() const {
  return sqlite3_changes64(handle_.get());
}

std::string Database::file() const {
  const char* name = sqlite3_db_filename(handle_.get(), "main");
  return name != nullptr ? name : "";
}

void Database::set_busy_timeout(std::chrono::milliseconds timeout) {
  sqlite3_busy_timeout(handle_.get(), static_cast<int>(timeout.count()));
}

Status Database::copy_to(Database& target) {
  sqlite3_backup* backup = sqlite3_backup_init(target.handle_.get(), "main", handle_.get(), "main");
  if (backup == nullptr) return target.failed(sqlite3_extended_errcode(target.handle_.get()));
  sqlite3_backup_step(backup, -1);
  const int code = sqlite3_backup_finish(backup);
  if (code != SQLITE_OK) return failed(code);
  return {};
}

tl::unexpected<Error> Database::failed(int code) const {
  return fail(sqlite_error(handle_.get(), code, path_));
}

}  // namespace shardscope::storage
