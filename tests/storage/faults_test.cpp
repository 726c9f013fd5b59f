// What the world does to a session: full disks, read-only places, damaged files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "storage/queries/runs.hpp"
#include "storage/session.hpp"
#include "storage/session_state.hpp"
#include "storage/session_writer.hpp"
#include "tests/storage/samples.hpp"
#include "tests/temp_directory.hpp"

namespace shardscope::storage {
namespace {

using testing::HasSubstr;

constexpr int kChildCannot = 77;  // the machine does not let the child do what it needs

/// Runs `body` in a process of its own; its result is the exit status.
template <class Body>
int status_of_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Fills the session until the disk refuses; 0 when everything went as it should, else a line.
int fill_until_full(Session& session) {
  SessionWriter writer(session, {.commit_period = std::chrono::milliseconds(1)});
  const Result<std::int64_t> run = writer.begin_run(test::sample_run());
  if (!run) return __LINE__;
  const std::vector<Span> spans = test::sample_spans(1000);
  Status flushed;
  for (int i = 0; i < 100 && flushed; ++i) {
    writer.spans(*run, spans);
    flushed = writer.flush();
  }
  if (flushed) return __LINE__;
  if (flushed.error().what != "the disk is full") return __LINE__;
  if (flushed.error().kind != ErrorKind::runtime) return __LINE__;
  if (writer.lost() == 0 || writer.lost() % 4000 != 0) return __LINE__;
  const Status ended = writer.end_run(*run, {});
  if (ended) return __LINE__;
  const std::int64_t committed = writer.committed();
  if (committed == 0) return __LINE__;
  const std::lock_guard guard(session.state().mutex);
  Database& database = session.state().database;
  if (database.integer("SELECT count(*) FROM spans").value_or(-1) != committed) return __LINE__;
  if (database.text("PRAGMA integrity_check").value_or("") != "ok") return __LINE__;
  return 0;
}

TEST(Faults, WhatWasCommittedBeforeTheDiskWasFullSurvives) {
  const test::TempDirectory directory;
  Session session = Session::create(directory.file("a.shardscope")).value();
  ASSERT_TRUE(session.state().database.integer("PRAGMA max_page_count = 60"));
  EXPECT_EQ(fill_until_full(session), 0) << "line of the first broken promise";
}

TEST(Faults, OnAFileSystemThatIsReallyFullToo) {
  const test::TempDirectory directory;
  const int status = status_of_child([&] {
    // A mount that only this process sees, gone with it.
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", directory.path().c_str(), "tmpfs", 0, "size=3m") != 0) {
      return kChildCannot;
    }
    Result<Session> session = Session::create(directory.file("a.shardscope"));
    if (!session) return __LINE__;
    return fill_until_full(*session);
  });
  if (status == kChildCannot) GTEST_SKIP() << "mounting a small tmpfs is not allowed here";
  EXPECT_EQ(status, 0) << "line of the first broken promise";
}

TEST(Faults, LostRecordsAreCountedInTheSessionOnceThereIsSpaceAgain) {
  const test::TempDirectory directory;
  Session session = Session::create(directory.file("a.shardscope")).value();
  SessionWriter writer(session);
  const std::int64_t run = writer.begin_run(test::sample_run()).value();
  {
    const std::lock_guard guard(session.state().mutex);
    const std::int64_t pages = session.state().database.integer("PRAGMA page_count").value();
    ASSERT_TRUE(
        session.state().database.integer("PRAGMA max_page_count = " + std::to_string(pages)));
  }
  writer.dropped(run, 2);
  writer.spans(run, test::sample_spans(5000));
  EXPECT_FALSE(writer.flush());
  {
    const std::lock_guard guard(session.state().mutex);
    ASSERT_TRUE(session.state().database.integer("PRAGMA max_page_count = 1000000"));
  }
  writer.spans(run, test::sample_spans(1));
  EXPECT_FALSE(writer.flush()) << "the first error stays until the end";
  EXPECT_EQ(writer.lost(), 20000);
  EXPECT_EQ(find_run(session, run).value().dropped, 20002);
  EXPECT_EQ(find_run(session, run).value().spans, 4);
}

/// Runs `body` as a user without rights on `path`'s directory.
template <class Body>
int status_as_nobody(Body body) {
  return status_of_child([&] {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return kChildCannot;
    return body();
  });
}

TEST(Faults, AReadOnlyDirectoryCanBeReadAndSaysWhyItCannotBeWritten) {
  const test::TempDirectory directory;
  const std::string path = directory.file("a.shardscope");
  ASSERT_TRUE(Session::create(path).value().close());
  std::filesystem::permissions(path, std::filesystem::perms(0644));
  std::filesystem::permissions(directory.path(), std::filesystem::perms(0555));
  const int status = status_as_nobody([&] {
    const Result<Session> reader = Session::open(path, Session::Access::read_only);
    if (!reader || !list_runs(*reader)) return __LINE__;
    const Result<Session> writer = Session::open(path, Session::Access::read_write);
    if (writer || writer.error().kind != ErrorKind::runtime) return __LINE__;
    if (writer.error().what.find("read-only") == std::string::npos) return __LINE__;
    const Result<Session> fresh = Session::create(directory.file("b.shardscope"));
    if (fresh || fresh.error().what.find("read-only") == std::string::npos) return __LINE__;
    return 0;
  });
  std::filesystem::permissions(directory.path(), std::filesystem::perms(0755));
  if (status == kChildCannot) GTEST_SKIP() << "cannot become another user here";
  EXPECT_EQ(status, 0) << "line of the first broken promise";
}

TEST(Faults, AReadOnlyFileInAWritableDirectorySaysSo) {
  const test::TempDirectory directory;
  const std::string path = directory.file("a.shardscope");
  ASSERT_TRUE(Session::create(path).value().close());
  std::filesystem::permissions(path, std::filesystem::perms(0444));
  std::filesystem::permissions(directory.path(), std::filesystem::perms(0777));
  const int status = status_as_nobody([&] {
    const Result<Session> writer = Session::open(path, Session::Access::read_write);
    if (writer || writer.error().what.find("read-only") == std::string::npos) return __LINE__;
    return Session::open(path, Session::Access::read_only) ? 0 : __LINE__;
  });
  if (status == kChildCannot) GTEST_SKIP() << "cannot become another user here";
  EXPECT_EQ(status, 0) << "line of the first broken promise";
}

TEST(Faults, ATruncatedFileIsAnErrorAndNotACrash) {
  const test::TempDirectory directory;
  const std::string path = directory.file("a.shardscope");
  {
    Session session = Session::create(path).value();
    SessionWriter writer(session);
    const std::int64_t run = writer.begin_run(test::sample_run()).value();
    writer.spans(run, test::sample_spans(2000));
    ASSERT_TRUE(writer.end_run(run, {}));
  }
  const auto size = std::filesystem::file_size(path);
  for (const std::uintmax_t keep : {size / 2, std::uintmax_t{16384}, std::uintmax_t{500}}) {
    std::filesystem::resize_file(path, keep);
    const Result<Session> session = Session::open(path, Session::Access::read_only);
    if (!session) {
      EXPECT_FALSE(to_string(session.error()).empty());
      continue;
    }
    const auto runs = list_runs(*session);
    if (!runs) {
      EXPECT_THAT(runs.error().what, HasSubstr("damaged"));
    }
  }
}

}  // namespace
}  // namespace shardscope::storage
