#include "storage/lock_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace shardscope::storage {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

/// "process 12 on host", from the lock file's text; empty where it says nothing.
std::string holder_of(int file) {
  std::array<char, 300> text{};
  const ssize_t length = ::pread(file, text.data(), text.size() - 1, 0);
  if (length <= 0) return {};
  long process = 0;
  std::array<char, 257> host{};
  if (std::sscanf(text.data(), "%ld %256s", &process, host.data()) != 2) return {};
  return fmt::format("process {} on {}", process, host.data());
}

/// False: the file was removed by its last holder between open and lock; the lock is on a ghost.
bool is_current(int file, const std::string& path) {
  struct stat by_file {};
  struct stat by_path {};
  return ::fstat(file, &by_file) == 0 && ::stat(path.c_str(), &by_path) == 0 &&
         by_file.st_ino == by_path.st_ino && by_file.st_dev == by_path.st_dev;
}

Error cannot_lock(const std::string& path, int reason) {
  if (reason == EACCES || reason == EROFS || reason == EPERM) {
    return {ErrorKind::runtime, "the directory is read-only", path, "",
            "Copy the session to a directory you may write to"};
  }
  if (reason == ENOENT || reason == ENOTDIR) {
    return {ErrorKind::usage, "the directory does not exist", path, "", "Create it first"};
  }
  return {ErrorKind::runtime, fmt::format("the lock file failed ({})", std::strerror(reason)), path,
          "", "Put the session on a local file system"};
}

}  // namespace

Result<LockFile> LockFile::acquire(const std::string& path) {
  // Absolute: it is removed under the same name even if the working directory changes.
  const std::string lock_path = std::filesystem::absolute(path + ".lock").string();
  while (true) {
    FileDescriptor file(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (!file) return fail(cannot_lock(lock_path, errno));
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return fail(cannot_lock(lock_path, errno));
      const std::string holder = holder_of(file.get());
      return fail({ErrorKind::runtime,
                   fmt::format("the session is being written by {}",
                               holder.empty() ? "another process" : holder),
                   path, "", "Close it there, name another file, or only inspect it"});
    }
    if (!is_current(file.get(), lock_path)) continue;
    const std::string text = fmt::format("{} {}\n", ::getpid(), host_name());
    if (::ftruncate(file.get(), 0) != 0 ||
        ::pwrite(file.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
      // Only the name for others is missing (disk full): the lock itself holds.
      static_cast<void>(::ftruncate(file.get(), 0));
    }
    return LockFile(lock_path, std::move(file));
  }
}

LockFile& LockFile::operator=(LockFile&& other) noexcept {
  if (this != &other) {
    release();
    lock_path_ = std::move(other.lock_path_);
    file_ = std::move(other.file_);
  }
  return *this;
}

LockFile::~LockFile() {
  release();
}

void LockFile::release() {
  // Removed while still locked: whoever waits for this name finds it gone and makes a new one.
  if (file_) ::unlink(lock_path_.c_str());
  file_.reset();
}

}  // namespace shardscope::storage
