#pragma once
// Moves the write-ahead log into the file from a thread and connection of its own.

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace shardscope::storage {

/// A checkpoint waits for the disk (fsync); on the writer's connection it would hold up commits for
/// as long, and kill -9 could cost more than promised. Works on errors silently: the log then only
/// grows, and closing the session reports them.
class Checkpointer {
 public:
  /// The session's connection must not checkpoint by itself (PRAGMA wal_autocheckpoint = 0).
  explicit Checkpointer(std::string path);
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

 private:
  void run();
  void checkpoint() const;

  std::string path_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace shardscope::storage
