#pragma once
// All rows of a query as values.

#include <string_view>
#include <utility>
#include <vector>

#include "layout/result.hpp"
#include "storage/sqlite/database.hpp"

namespace shardscope::storage {

/// Calls `visit(row)` with the statement standing on each row of the query.
template <class Visit, class... Values>
[[nodiscard]] Status for_each_row(Database& database, std::string_view sql, Visit visit,
                                  const Values&... values) {
  Result<Statement> query = database.prepare(sql);
  if (!query) return fail(query.error());
  query->bind_all(values...);
  while (true) {
    const Result<bool> row = query->step();
    if (!row) return fail(row.error());
    if (!*row) return {};
    visit(std::as_const(*query));
  }
}

/// `read(row)` of every row.
template <class Read, class... Values>
[[nodiscard]] auto select(Database& database, std::string_view sql, Read read,
                          const Values&... values)
    -> Result<std::vector<decltype(read(std::declval<const Statement&>()))>> {
  std::vector<decltype(read(std::declval<const Statement&>()))> rows;
  const auto visit = [&](const Statement& row) { rows.push_back(read(row)); };
  if (Status done = for_each_row(database, sql, visit, values...); !done) {
    return fail(done.error());
  }
  return rows;
}

/// Runs one statement with these parameters.
template <class... Values>
[[nodiscard]] Status run_once(Database& database, std::string_view sql, const Values&... values) {
  Result<Statement> statement = database.prepare(sql);
  if (!statement) return fail(statement.error());
  return statement->run(values...);
}

}  // namespace shardscope::storage
