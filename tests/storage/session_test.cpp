#include "storage/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "storage/schema.hpp"
#include "storage/session_state.hpp"
#include "tests/temp_directory.hpp"

namespace shardscope::storage {
namespace {

using Access = Session::Access;
using test::TempDirectory;
using testing::HasSubstr;

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// The error of opening `path`, which must fail.
Error error_of_opening(const std::string& path, Access access) {
  Result<Session> session = Session::open(path, access);
  EXPECT_FALSE(session.has_value());
  return session ? Error{} : session.error();
}

TEST(Session, IsOneSelfContainedFileOnceItIsClosed) {
  const TempDirectory directory;
  const std::string path = directory.file("a.shardscope");
  Result<Session> session = Session::create(path);
  ASSERT_TRUE(session) << to_string(session.error());
  EXPECT_GT(directory.files(), 1u) << "an open session has a lock and a log beside it";
  ASSERT_TRUE(session->close());
  EXPECT_EQ(directory.files(), 1u);

  Result<Database> database = Database::open(path, Database::Open::read_only);
  ASSERT_TRUE(database);
  EXPECT_EQ(database->integer("PRAGMA application_id").value(), kApplicationId);
  EXPECT_EQ(database->integer("PRAGMA user_version").value(), newest_schema_version());
  EXPECT_EQ(database->integer("PRAGMA page_size").value(), 16384);
  EXPECT_EQ(database->text("PRAGMA journal_mode").value(), "delete");
  EXPECT_EQ(database->text("PRAGMA integrity_check").value(), "ok");
}

TEST(Session, IsInWalModeWhileItIsOpen) {
  const TempDirectory directory;
  Result<Session> session = Session::create(directory.file("a.shardscope"));
  ASSERT_TRUE(session);
  EXPECT_EQ(session->state().database.text("PRAGMA journal_mode").value(), "wal");
  EXPECT_EQ(session->state().database.integer("PRAGMA synchronous").value(), 1);
}

TEST(Session, KeepsItsStartTimeOverReopening) {
  const TempDirectory directory;
  const std::string path = directory.file("a.shardscope");
  const std::int64_t start = Session::create(path).value().start_utc_ns();
  EXPECT_GT(start, 1'600'000'000'000'000'000);
  EXPECT_EQ(Session::open(path, Access::read_only).value().start_utc_ns(), start);
  EXPECT_EQ(Session::open(path, Access::read_write).value().start_utc_ns(), start);
}

TEST(Session, CanBeReadWhileAnotherWrites) {
  const TempDirectory directory;
  const std::string path = directory.file("a.shardscope");
  Result<Session> writer = Session::create(path);
  ASSERT_TRUE(writer);
  Result<Session> reader = Session::open(path, Access::read_only);
  ASSERT_TRUE(reader) << to_string(reader.error());
  ASSERT_TRUE(writer->state().database.execute("INSERT INTO dropped VALUES (1, 'recorder', 7)"));
  EXPECT_EQ(reader->state().database.integer("SELECT count FROM dropped").value(), 7);
  // A reader that is still there does not make closing fail, and nothing is lost.
  ASSERT_TRUE(writer->close());
  ASSERT_TRUE(reader->close());
  Result<Session> again = Session::open(path, Access::read_write);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->state().database.integer("SELECT count FROM dropped").value(), 7);
  ASSERT_TRUE(again->close());
  EXPECT_EQ(directory.files(), 1u);
}

TEST(Session, OpenOrCreateDoesWhatThePathNeeds) {
  const TempDirectory directory;
  const std::string path = directory.file("a.shardscope");
  const std::int64_t start = Session::open_or_create(path).value().start_utc_ns();
  EXPECT_EQ(Session::open_or_create(path).value().start_utc_ns(), start);
  const std::string empty = directory.file("empty.shardscope");
  write_file(empty, "");
  EXPECT_TRUE(Session::open_or_create(empty));
}

TEST(Session, ASecondWriterIsToldWhoTheFirstIs) {
  const TempDirectory directory;
  const std::string path = directory.file("a.shardscope");
  ASSERT_TRUE(Session::create(path));
  int ready[2];
  int done[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(done), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const Result<Session> session = Session::open(path, Access::read_write);
    char byte = session ? 'y' : 'n';
    static_cast<void>(!::write(ready[1], &byte, 1));
    static_cast<void>(!::read(done[0], &byte, 1));
    ::_exit(0);  // dies with the lock held, as a killed program would
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  const Error error = error_of_opening(path, Access::read_write);
  EXPECT_EQ(error.kind, ErrorKind::runtime);
  EXPECT_THAT(error.what, HasSubstr("process " + std::to_string(child) + " on "));
  EXPECT_TRUE(Session::open(path, Access::read_only));
  ASSERT_EQ(::write(done[1], "x", 1), 1);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  for (const int end : {ready[0], ready[1], done[0], done[1]}) ::close(end);
  // What the dead process left behind is taken over.
  EXPECT_TRUE(std::filesystem::exists(path + ".lock"));
  Result<Session> session = Session::open(path, Access::read_write);
  ASSERT_TRUE(session) << to_string(session.error());
  ASSERT_TRUE(session->close());
  EXPECT_EQ(directory.files(), 1u);
}

TEST(Session, RefusesWhatIsNoSession) {
  const TempDirectory directory;
  const std::string text = directory.file("notes.txt");
  write_file(text, std::string(5000, 'x'));
  const std::string other = directory.file("other.sqlite");
  ASSERT_TRUE(Database::open(other, Database::Open::create)
                  .value()
                  .execute("CREATE TABLE t (a); PRAGMA user_version = 1"));
  const std::string empty = directory.file("empty");
  write_file(empty, "");
  for (const Access access : {Access::read_only, Access::read_write}) {
    for (const auto& [path, message] :
         {std::pair{text, "not a database"}, std::pair{other, "another program"},
          std::pair{empty, "is empty"}, std::pair{directory.file("none"), "does not exist"},
          std::pair{directory.path().string(), "is a directory"}}) {
      const Error error = error_of_opening(path, access);
      EXPECT_EQ(error.kind, ErrorKind::usage) << path;
      EXPECT_THAT(error.what, HasSubstr(message));
      EXPECT_EQ(error.place, path);
      EXPECT_FALSE(error.cure.empty());
    }
  }
  EXPECT_EQ(directory.files(), 3u) << "a refused file is left as it was, without a lock";
}

TEST(Session, CreateNeverOverwrites) {
  const TempDirectory directory;
  const std::string path = directory.file("precious");
  write_file(path, "text");
  const Result<Session> session = Session::create(path);
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().kind, ErrorKind::usage);
  EXPECT_THAT(session.error().what, HasSubstr("exists already"));
  EXPECT_EQ(std::filesystem::file_size(path), 4u);
  EXPECT_EQ(Session::create(directory.path().string()).error().kind, ErrorKind::usage);
  EXPECT_EQ(Session::create(directory.file("no/such/place")).error().kind, ErrorKind::usage);
}

TEST(Session, RefusesANewerFormatWithoutTouchingIt) {
  const TempDirectory directory;
  const std::string path = directory.file("a.shardscope");
  ASSERT_TRUE(Session::create(path));
  ASSERT_TRUE(
      Database::open(path, Database::Open::read_write).value().execute("PRAGMA user_version = 99"));
  for (const Access access : {Access::read_only, Access::read_write}) {
    const Error error = error_of_opening(path, access);
    EXPECT_EQ(error.kind, ErrorKind::usage);
    EXPECT_THAT(error.what, HasSubstr("version 99"));
    EXPECT_THAT(error.cure, HasSubstr("Shardscope that wrote it"));
  }
  EXPECT_EQ(directory.files(), 1u);
}

TEST(Session, AClosedOrMovedSessionGivesItsLockAway) {
  const TempDirectory directory;
  const std::string path = directory.file("a.shardscope");
  Session first = Session::create(path).value();
  Session second = std::move(first);
  EXPECT_EQ(second.path(), path);
  EXPECT_FALSE(Session::open(path, Access::read_write));
  second = Session::create(directory.file("b.shardscope")).value();
  EXPECT_TRUE(Session::open(path, Access::read_write));
}

}  // namespace
}  // namespace shardscope::storage
