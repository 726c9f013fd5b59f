// docs/session.md names every table and column, and its queries answer as the product does.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <tuple>
#include <utility>

#include "storage/access.hpp"
#include "storage/queries/stages.hpp"
#include "storage/session_writer.hpp"
#include "storage/sqlite/query.hpp"
#include "tests/paths.hpp"
#include "tests/storage/samples.hpp"
#include "tests/temp_directory.hpp"

namespace shardscope::storage {
namespace {

std::string session_document() {
  std::ifstream file(test::source_dir() + "/docs/session.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The n-th block of SQL in the document.
std::string query_of_document(int n) {
  const std::string text = session_document();
  std::size_t begin = 0;
  for (int i = 0; i <= n; ++i) begin = text.find("```sql\n", begin) + 7;
  return text.substr(begin, text.find("```", begin) - begin);
}

class SessionDocument : public testing::Test {
 protected:
  void SetUp() override {
    SessionWriter writer(session_);
    run_ = writer.begin_run(test::sample_run()).value();
    writer.spans(run_, test::sample_spans(20));
    writer.iterations(run_, test::sample_iterations(20));
    ASSERT_TRUE(writer.end_run(run_, {}));
  }

  test::TempDirectory directory_;
  Session session_ = Session::create(directory_.file("a.shardscope")).value();
  std::int64_t run_ = 0;
};

TEST_F(SessionDocument, NamesTheVersionThatIsWritten) {
  const ReadAccess access(session_);
  const auto versions = select(access.database(), "PRAGMA user_version",
                               [](const Statement& row) { return row.integer(0); });
  ASSERT_TRUE(versions);
  EXPECT_THAT(session_document(),
              testing::HasSubstr("(now " + std::to_string(versions->front()) + ")"));
}

TEST_F(SessionDocument, NamesEveryTableAndColumn) {
  const std::string text = session_document();
  const ReadAccess access(session_);
  const auto columns =
      select(access.database(),
             "SELECT t.name, c.name FROM pragma_table_list t JOIN pragma_table_info(t.name) c "
             "WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%'",
             [](const Statement& row) { return std::pair(row.text(0), row.text(1)); });
  ASSERT_TRUE(columns);
  EXPECT_GT(columns->size(), 100u);
  for (const auto& [table, column] : *columns) {
    if (table.starts_with("TARGET_INFO") || table == "stages" || table == "works") continue;
    EXPECT_THAT(text, testing::HasSubstr("`" + table + "`"));
    EXPECT_THAT(text, testing::HasSubstr("`" + column + "`")) << table;
  }
}

TEST_F(SessionDocument, ItsStageTableIsTheOneTheProductShows) {
  const auto rows = [&] {
    const ReadAccess access(session_);
    return select(access.database(), query_of_document(0), [](const Statement& row) {
      return std::tuple(row.text(0), row.real(1), row.real(2));
    });
  }();
  ASSERT_TRUE(rows) << to_string(rows.error());
  EXPECT_THAT(*rows, testing::ElementsAre(std::tuple("model_forward", 2.0, 1.5),
                                          std::tuple("network_forward", 2.0, 2.0)));
  const auto table = run_stages(session_, run_).value().table();
  ASSERT_EQ(table.size(), rows->size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(to_string(table[i].stage), std::get<0>((*rows)[i]));
    EXPECT_NEAR(table[i].ms_max, std::get<1>((*rows)[i]), 5e-4);
    EXPECT_NEAR(table[i].ms_mean, std::get<2>((*rows)[i]), 5e-4);
  }
}

TEST_F(SessionDocument, ItsSpansAreTheLongestOfTheIteration) {
  const ReadAccess access(session_);
  const auto rows = select(access.database(), query_of_document(1), [](const Statement& row) {
    return std::tuple(row.text(0), row.text(1), row.real(2));
  });
  ASSERT_TRUE(rows) << to_string(rows.error());
  EXPECT_THAT(*rows, testing::ElementsAre(std::tuple("network_forward", "RB", 2.0),
                                          std::tuple("model_forward", "RB", 1.0)));
}

}  // namespace
}  // namespace shardscope::storage
