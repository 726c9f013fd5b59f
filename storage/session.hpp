#pragma once
// One session: a single SQLite file with workloads, layouts, runs and what they recorded
// (docs/session.md). What is stored and asked stands in documents.hpp, session_writer.hpp and
// queries/.

#include <cstdint>
#include <memory>
#include <string>

#include "layout/result.hpp"

namespace shardscope::storage {

struct SessionState;

/// Owner of an open session. One process at a time may write (PATH.lock); any number may read, also
/// while another writes. Calls on one Session may come from several threads.
class Session {
 public:
  enum class Access { read_only, read_write };

  /// A new session. The path must not exist yet (an empty file is taken).
  [[nodiscard]] static Result<Session> create(const std::string& path);

  /// An existing session. An older format is brought up to date (read-only: in a private copy);
  /// a newer one is refused. For writing: runs that a killed program left are closed as incomplete.
  /// Errors: usage where the path is no session, runtime where it cannot be used now (locked,
  /// read-only, damaged).
  [[nodiscard]] static Result<Session> open(const std::string& path, Access access);

  /// open(path, read_write) where the file exists, else create(path).
  [[nodiscard]] static Result<Session> open_or_create(const std::string& path);

  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  /// Closes; errors are lost (call close() to see them).
  ~Session();

  /// Makes the file self-contained (no -wal, no -shm, no .lock) and releases it. Its writers must
  /// be gone. The session is closed afterwards even when this fails.
  [[nodiscard]] Status close();

  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] bool writable() const;
  /// UTC ns since 1970 that runs.start_ns and the GPU tables count from.
  [[nodiscard]] std::int64_t start_utc_ns() const;

  [[nodiscard]] SessionState& state() const;

 private:
  explicit Session(std::unique_ptr<SessionState> state);

  std::unique_ptr<SessionState> state_;
};

}  // namespace shardscope::storage
