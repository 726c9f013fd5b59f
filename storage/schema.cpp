#include "storage/schema.hpp"

#include <fmt/format.h>

#include "layout/schedule.hpp"
#include "storage/schema_versions.hpp"
#include "storage/sqlite/transaction.hpp"

namespace shardscope::storage {
namespace {

Error foreign(const std::string& path) {
  return {ErrorKind::usage, "the file is an SQLite database of another program", path,
          "a Shardscope session", "Name a file that shardscope wrote with --session"};
}

Error newer(const std::string& path, std::int64_t version) {
  return {ErrorKind::usage,
          fmt::format("the session has format version {}, written by a newer Shardscope", version),
          path, fmt::format("version {} or older", newest_schema_version()),
          "Open it with the Shardscope that wrote it, or a later one"};
}

/// Names of stages and works, so that SQL can join them. New ones join older files here, too.
Status write_names(Database& database) {
  Result<Statement> stage = database.prepare("INSERT OR REPLACE INTO stages VALUES (?, ?)");
  if (!stage) return fail(stage.error());
  for (int i = 0; i < kStages; ++i) {
    if (Status done = stage->run(i, to_string(static_cast<Stage>(i))); !done) return done;
  }
  Result<Statement> work = database.prepare("INSERT OR REPLACE INTO works VALUES (?, ?)");
  if (!work) return fail(work.error());
  for (int i = 0; i < kWorks; ++i) {
    if (Status done = work->run(i, to_string(static_cast<Work>(i))); !done) return done;
  }
  return {};
}

}  // namespace

std::int32_t newest_schema_version() {
  return static_cast<std::int32_t>(schema_versions().size());
}

Status migrate(Database& database, std::int32_t version) {
  const Result<std::int64_t> found = database.integer("PRAGMA user_version");
  if (!found) return fail(found.error());
  if (*found > newest_schema_version()) return fail(newer(database.path(), *found));
  if (*found >= version) return {};
  Result<Transaction> transaction = Transaction::begin(database);
  if (!transaction) return fail(transaction.error());
  for (std::int64_t next = *found; next < version; ++next) {
    const char* text = schema_versions()[static_cast<std::size_t>(next)];
    if (Status done = database.execute(text); !done) return done;
  }
  if (Status done = write_names(database); !done) return done;
  if (Status done = database.execute(fmt::format(
          "PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, version));
      !done) {
    return done;
  }
  return transaction->commit();
}

Status check_is_session(Database& database) {
  const Result<std::int64_t> application = database.integer("PRAGMA application_id");
  if (!application) return fail(application.error());
  const Result<std::int64_t> version = database.integer("PRAGMA user_version");
  if (!version) return fail(version.error());
  if (*application != kApplicationId || *version < 1) return fail(foreign(database.path()));
  if (*version > newest_schema_version()) return fail(newer(database.path(), *version));
  return {};
}

}  // namespace shardscope::storage
