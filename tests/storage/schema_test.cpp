#include "storage/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "storage/queries/runs.hpp"
#include "storage/queries/stages.hpp"
#include "storage/schema_versions.hpp"
#include "storage/session.hpp"
#include "storage/session_state.hpp"
#include "storage/sqlite/query.hpp"
#include "tests/temp_directory.hpp"

namespace shardscope::storage {
namespace {

/// A session as the first version of the format has it: one ended run with two spans.
void make_version_1(const std::string& path) {
  Database database = Database::open(path, Database::Open::create).value();
  ASSERT_TRUE(migrate(database, 1));
  ASSERT_TRUE(database.execute(R"sql(
    INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1000, 'utc', 'local');
    INSERT INTO workloads VALUES (1, 'w', 0, 0, '{}');
    INSERT INTO topologies VALUES (1, 't', 0, 0, '{}');
    INSERT INTO layouts VALUES (1, 'l', 1, 1, NULL, '', 0, '', 0, 0, '{}');
    INSERT INTO runs VALUES (1, 'old', 'measured', 'engine', 'cpu', 'threads', '', 'serial', '7',
      64, 0, 2, 1, 1, 1, '{}', 5, 900, 1, '', 10.0, 1.0, 1.0, 0.0);
    INSERT INTO tracks VALUES (1, 1, 0, 0, 2);
    INSERT INTO spans VALUES (1, 0, 1000000, 0, 0, 0, 0, 0, 1, 1, 0);
    INSERT INTO spans VALUES (1, 2000000, 3000000, 0, 0, 0, 0, 1, 1, 1, 0);
  )sql"));
  ASSERT_EQ(database.integer("PRAGMA user_version").value(), 1);
}

std::int64_t version_of(const std::string& path) {
  return Database::open(path, Database::Open::read_only)
      .value()
      .integer("PRAGMA user_version")
      .value();
}

void expect_old_run(const Session& session) {
  const auto runs = list_runs(session).value();
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].label, "old");
  EXPECT_EQ(runs[0].start_utc_ns, 1005);
  EXPECT_EQ(runs[0].spans, 2);
  const RunStages stages = run_stages(session, 1).value();
  EXPECT_EQ(stages.iterations, 2);
  EXPECT_DOUBLE_EQ(stages.table().at(0).ms_max, 1);
}

TEST(Schema, AVersion1FileIsBroughtUpToDateWhenItIsOpenedForWriting) {
  const test::TempDirectory directory;
  const std::string path = directory.file("old.shardscope");
  make_version_1(path);
  Result<Session> session = Session::open(path, Session::Access::read_write);
  ASSERT_TRUE(session) << to_string(session.error());
  expect_old_run(*session);
  ASSERT_TRUE(session->close());
  EXPECT_EQ(version_of(path), newest_schema_version());
}

TEST(Schema, AVersion1FileIsReadWithoutBeingTouched) {
  const test::TempDirectory directory;
  const std::string path = directory.file("old.shardscope");
  make_version_1(path);
  const auto written = std::filesystem::last_write_time(path);
  Result<Session> session = Session::open(path, Session::Access::read_only);
  ASSERT_TRUE(session) << to_string(session.error());
  expect_old_run(*session);
  ASSERT_TRUE(session->close());
  EXPECT_EQ(version_of(path), 1);
  EXPECT_EQ(std::filesystem::last_write_time(path), written);
  EXPECT_EQ(directory.files(), 1u);
}

TEST(Schema, AMigrationThatFailsLeavesTheFileAsItWas) {
  const test::TempDirectory directory;
  const std::string path = directory.file("old.shardscope");
  make_version_1(path);
  {
    Database database = Database::open(path, Database::Open::read_write).value();
    // In the way of a table of version 2.
    ASSERT_TRUE(database.execute("CREATE TABLE calibrations (a)"));
    EXPECT_FALSE(migrate(database));
    EXPECT_EQ(database.integer("PRAGMA user_version").value(), 1);
    EXPECT_EQ(database.integer("SELECT count(*) FROM sqlite_master WHERE name = 'levels'").value(),
              0);
  }
  EXPECT_FALSE(Session::open(path, Session::Access::read_write));
  EXPECT_EQ(version_of(path), 1);
}

TEST(Schema, EveryVersionCanBeReachedFromEveryEarlierOne) {
  const auto newest = newest_schema_version();
  for (std::int32_t from = 0; from <= newest; ++from) {
    Database stepwise = Database::open("", Database::Open::create).value();
    ASSERT_TRUE(migrate(stepwise, from));
    ASSERT_TRUE(migrate(stepwise, newest));
    EXPECT_EQ(stepwise.integer("PRAGMA user_version").value(), newest);
    EXPECT_TRUE(check_is_session(stepwise));
  }
}

TEST(Schema, OwnTablesAreStrict) {
  Database database = Database::open("", Database::Open::create).value();
  ASSERT_TRUE(migrate(database));
  const auto loose = select(
      database,
      "SELECT name FROM pragma_table_list WHERE type = 'table' AND strict = 0 AND schema = 'main' "
      "AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'TARGET_INFO_%'",
      [](const Statement& row) { return row.text(0); });
  ASSERT_TRUE(loose);
  EXPECT_TRUE(loose->empty()) << loose->front();
}

TEST(Schema, StagesAndWorksAreNamed) {
  Database database = Database::open("", Database::Open::create).value();
  ASSERT_TRUE(migrate(database));
  EXPECT_EQ(database.integer("SELECT count(*) FROM stages").value(), kStages);
  EXPECT_EQ(database.text("SELECT name FROM stages WHERE id = 9").value(), "update");
  EXPECT_EQ(database.text("SELECT name FROM works WHERE id = 2").value(), "UB");
}

}  // namespace
}  // namespace shardscope::storage
