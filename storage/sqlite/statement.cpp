#include "storage/sqlite/statement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "storage/sqlite/error.hpp"

namespace shardscope::storage {

void Statement::bind(int parameter, std::int64_t value) {
  sqlite3_bind_int64(handle_.get(), parameter + 1, value);
}

void Statement::bind(int parameter, double value) {
  if (std::isnan(value)) {
    sqlite3_bind_null(handle_.get(), parameter + 1);
  } else {
    sqlite3_bind_double(handle_.get(), parameter + 1, value);
  }
}

void Statement::bind(int parameter, std::string_view value) {
  // An empty view may have no address, which SQLite would take for NULL.
  const char* data = value.empty() ? "" : value.data();
  sqlite3_bind_text64(handle_.get(), parameter + 1, data, value.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
}

void Statement::bind(int parameter, std::nullptr_t) {
  sqlite3_bind_null(handle_.get(), parameter + 1);
}

void Statement::bind_column(int parameter, const Statement& from, int column) {
  sqlite3_bind_value(handle_.get(), parameter + 1,
                     sqlite3_column_value(from.handle_.get(), column));
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) return failed(code);
  sqlite3_reset(handle_.get());
  return false;
}

Status Statement::run_bound() {
  int code = SQLITE_ROW;
  while (code == SQLITE_ROW) code = sqlite3_step(handle_.get());
  if (code != SQLITE_DONE) return failed(code);
  sqlite3_reset(handle_.get());
  return {};
}

tl::unexpected<Error> Statement::failed(int code) {
  // The message belongs to the connection until the next call on it: read it before the reset.
  Error error = sqlite_error(sqlite3_db_handle(handle_.get()), code, place_);
  sqlite3_reset(handle_.get());
  return fail(std::move(error));
}

void Statement::reset() {
  sqlite3_reset(handle_.get());
}

int Statement::columns() const {
  return sqlite3_column_count(handle_.get());
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}

std::int32_t Statement::integer32(int column) const {
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(integer(column), Limits::min(), Limits::max()));
}

double Statement::real(int column) const {
  if (is_null(column)) return std::numeric_limits<double>::quiet_NaN();
  return sqlite3_column_double(handle_.get(), column);
}

std::string Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}

}  // namespace shardscope::storage
