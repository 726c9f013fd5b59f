#pragma once
// The right to write a file, held by one process at a time.

#include <string>

#include "layout/result.hpp"
#include "storage/file_descriptor.hpp"

namespace shardscope::storage {

/// An exclusive lock on PATH.lock, whose text names the holder ("pid host"). The kernel drops the
/// lock with its process, so what a killed process left behind is taken over. The file goes away
/// with the lock.
class LockFile {
 public:
  LockFile() = default;
  /// Fails at once when another process (or another holder in this one) has it, and names it.
  [[nodiscard]] static Result<LockFile> acquire(const std::string& path);

  LockFile(LockFile&&) = default;
  LockFile& operator=(LockFile&& other) noexcept;
  ~LockFile();

 private:
  LockFile(std::string lock_path, FileDescriptor file)
      : lock_path_(std::move(lock_path)), file_(std::move(file)) {}
  void release();

  std::string lock_path_;
  FileDescriptor file_;
};

}  // namespace shardscope::storage
