#include "storage/sqlite/error.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <cstring>

namespace shardscope::storage {
namespace {

Error full(const std::string& place) {
  return {ErrorKind::runtime, "the disk is full", place, "",
          "Free some space and repeat; everything committed before is kept"};
}

Error io_error(sqlite3* database, int code, const std::string& place) {
  const int reason = database != nullptr ? sqlite3_system_errno(database) : 0;
  if (reason == ENOSPC || reason == EDQUOT || reason == EFBIG) return full(place);
  const std::string detail = reason != 0 ? std::strerror(reason) : sqlite3_errstr(code);
  return {ErrorKind::runtime, fmt::format("reading or writing the file failed ({})", detail), place,
          "", "Check the disk and the mount; everything committed before is kept"};
}

}  // namespace

Error sqlite_error(sqlite3* database, int code, const std::string& place) {
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return {ErrorKind::usage, "the file is not a database", place, "a Shardscope session",
              "Name a file that shardscope wrote with --session"};
    case SQLITE_CORRUPT:
      return {ErrorKind::runtime, "the file is damaged", place, "an intact Shardscope session",
              "Recover what is readable with: sqlite3 FILE .recover"};
    case SQLITE_FULL:
      return full(place);
    case SQLITE_READONLY:
      return {ErrorKind::runtime, "the file or its directory is read-only", place, "",
              "Copy the session to a directory you may write to"};
    case SQLITE_CANTOPEN:
      return {ErrorKind::runtime,
              "the file cannot be opened, or its directory does not allow the files that belong to "
              "an open session",
              place, "a readable file in an existing directory",
              "Check the path and its permissions, or copy the session to a directory you may "
              "write to"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorKind::runtime, "another program keeps the file busy", place, "",
              "Close the other program or try again"};
    case SQLITE_IOERR:
      return io_error(database, code, place);
    case SQLITE_NOMEM:
      return {ErrorKind::runtime, "out of memory", place, "", "Free memory and repeat"};
    default:
      break;
  }
  const char* message = database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code);
  return {ErrorKind::runtime, fmt::format("the database refused a statement ({})", message), place,
          "", ""};
}

}  // namespace shardscope::storage
