#include "storage/session.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <utility>

#include "layout/invariant.hpp"
#include "profiler/clock.hpp"
#include "storage/run_finish.hpp"
#include "storage/schema.hpp"
#include "storage/session_state.hpp"
#include "storage/sqlite/transaction.hpp"

namespace shardscope::storage {
namespace {

/// 16 KiB pages insert a third faster than 4 KiB ones.
constexpr const char* kFreshFilePragmas = "PRAGMA page_size = 16384";

/// Per connection. WAL with NORMAL survives the death of the process at any moment; a power cut may
/// cost the last commits, never the file.
constexpr const char* kWriterPragmas =
    "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536; PRAGMA secure_delete = OFF; "
    "PRAGMA wal_autocheckpoint = 0";

enum class PathKind { missing, empty, file, directory };

PathKind kind_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return PathKind::missing;
  if (S_ISDIR(info.st_mode)) return PathKind::directory;
  return info.st_size == 0 ? PathKind::empty : PathKind::file;
}

Error directory_error(const std::string& path) {
  return {ErrorKind::usage, "the path is a directory", path, "a session file",
          "Name a file inside it"};
}

Error missing_error(const std::string& path) {
  return {ErrorKind::usage, "the session does not exist", path, "an existing session file",
          "Check the path; profile, compare and train create sessions with --session"};
}

Error exists_error(const std::string& path) {
  return {ErrorKind::usage, "the file exists already", path, "a path that is free",
          "Open the session instead, or name another file"};
}

Error empty_error(const std::string& path) {
  return {ErrorKind::usage, "the file is empty", path, "a Shardscope session",
          "Name a file that shardscope wrote with --session"};
}

Error read_only_error(const std::string& path) {
  return {ErrorKind::runtime, "the file is read-only", path, "a file you may write to",
          "Copy the session, or only inspect it"};
}

std::tm broken_down(std::time_t seconds, bool local) {
  std::tm parts{};
  if (local) {
    ::localtime_r(&seconds, &parts);
  } else {
    ::gmtime_r(&seconds, &parts);
  }
  return parts;
}

Status write_start_time(Database& database, std::int64_t now_ns) {
  Result<Statement> insert =
      database.prepare("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?, ?, ?)");
  if (!insert) return fail(insert.error());
  const std::time_t seconds = now_ns / 1'000'000'000;
  return insert->run(now_ns, fmt::format("{:%Y-%m-%d %H:%M:%S}", broken_down(seconds, false)),
                     fmt::format("{:%Y-%m-%d %H:%M:%S}", broken_down(seconds, true)));
}

Status start_writing(SessionState& state) {
  if (Status done = state.database.execute(kWriterPragmas); !done) return done;
  // A file system without shared memory keeps the rollback journal: slower, as safe.
  const Result<std::string> mode = state.database.text("PRAGMA journal_mode = WAL");
  if (!mode) return fail(mode.error());
  if (*mode == "wal") state.checkpointer = std::make_unique<Checkpointer>(state.database.file());
  return {};
}

Status read_start_time(SessionState& state) {
  const Result<std::int64_t> start =
      state.database.integer("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME LIMIT 1");
  if (!start) return fail(start.error());
  state.start_utc_ns = *start;
  return {};
}

Status open_for_writing(SessionState& state) {
  if (::access(state.path.c_str(), W_OK) != 0) return fail(read_only_error(state.path));
  Result<LockFile> lock = LockFile::acquire(state.path);
  if (!lock) return fail(lock.error());
  state.lock = std::move(*lock);
  Result<Database> database = Database::open(state.path, Database::Open::read_write);
  if (!database) return fail(database.error());
  state.database = std::move(*database);
  if (Status is = check_is_session(state.database); !is) return is;
  if (Status done = migrate(state.database); !done) return done;
  return start_writing(state);
}

/// An older format is read through a private, migrated copy: the file itself may not be touched.
Status use_migrated_copy(SessionState& state) {
  Result<Database> copy = Database::open("", Database::Open::create);
  if (!copy) return fail(copy.error());
  if (Status done = state.database.copy_to(*copy); !done) return done;
  if (Status done = migrate(*copy); !done) return done;
  state.database = std::move(*copy);
  return {};
}

Status open_for_reading(SessionState& state) {
  Result<Database> database = Database::open(state.path, Database::Open::read_only);
  if (!database) return fail(database.error());
  state.database = std::move(*database);
  if (Status is = check_is_session(state.database); !is) return is;
  const Result<std::int64_t> version = state.database.integer("PRAGMA user_version");
  if (!version) return fail(version.error());
  return *version < newest_schema_version() ? use_migrated_copy(state) : Status{};
}

Status make_self_contained(Database& database) {
  // A reader may hold the log: the checkpoint is then complete, only the files stay until it goes.
  database.set_busy_timeout(std::chrono::seconds(1));
  if (const auto busy = database.integer("PRAGMA wal_checkpoint(TRUNCATE)"); !busy) {
    return fail(busy.error());
  }
  static_cast<void>(database.text("PRAGMA journal_mode = DELETE"));
  return {};
}

}  // namespace

Result<Session> Session::create(const std::string& path) {
  const PathKind kind = kind_of(path);
  if (kind == PathKind::directory) return fail(directory_error(path));
  if (kind == PathKind::file) return fail(exists_error(path));
  auto state = std::make_unique<SessionState>();
  state->path = path;
  state->writable = true;
  Result<LockFile> lock = LockFile::acquire(path);
  if (!lock) return fail(lock.error());
  state->lock = std::move(*lock);
  if (kind_of(path) == PathKind::file) return fail(exists_error(path));  // made while we waited
  Result<Database> database = Database::open(path, Database::Open::create);
  if (!database) return fail(database.error());
  state->database = std::move(*database);
  state->start_utc_ns = utc_ns();
  Status done = state->database.execute(kFreshFilePragmas);
  if (done) done = migrate(state->database);
  if (done) done = write_start_time(state->database, state->start_utc_ns);
  if (done) done = start_writing(*state);
  if (!done) {
    state->database.close();
    ::unlink(path.c_str());  // ours: it did not exist, or was empty
    return fail(done.error());
  }
  return Session(std::move(state));
}

Result<Session> Session::open(const std::string& path, Access access) {
  switch (kind_of(path)) {
    case PathKind::missing:
      return fail(missing_error(path));
    case PathKind::directory:
      return fail(directory_error(path));
    case PathKind::empty:
      return fail(empty_error(path));
    case PathKind::file:
      break;
  }
  auto state = std::make_unique<SessionState>();
  state->path = path;
  state->writable = access == Access::read_write;
  Status done = state->writable ? open_for_writing(*state) : open_for_reading(*state);
  if (done) done = read_start_time(*state);
  if (done && state->writable) done = finish_interrupted_runs(*state);
  if (!done) return fail(done.error());
  return Session(std::move(state));
}

Result<Session> Session::open_or_create(const std::string& path) {
  const PathKind kind = kind_of(path);
  const bool fresh = kind == PathKind::missing || kind == PathKind::empty;
  return fresh ? create(path) : open(path, Access::read_write);
}

Session::Session(std::unique_ptr<SessionState> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&& other) noexcept {
  if (this != &other) {
    static_cast<void>(close());
    state_ = std::move(other.state_);
  }
  return *this;
}
Session::~Session() {
  static_cast<void>(close());
}

Status Session::close() {
  if (!state_) return {};
  Status done;
  {
    const std::lock_guard guard(state_->mutex);
    state_->checkpointer.reset();
    if (state_->writable) done = make_self_contained(state_->database);
  }
  state_.reset();
  return done;
}

const std::string& Session::path() const {
  return state().path;
}
bool Session::writable() const {
  return state().writable;
}
std::int64_t Session::start_utc_ns() const {
  return state().start_utc_ns;
}

SessionState& Session::state() const {
  SHARDSCOPE_CHECK(state_ != nullptr, "the session was closed or moved from");
  return *state_;
}

}  // namespace shardscope::storage
