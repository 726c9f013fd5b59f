#pragma once
// A disk that is soon full.

#include <sys/mount.h>

#include <filesystem>
#include <string>
#include <utility>

namespace shardscope::app {

/// A file system of that size at a folder; skips the test where none can be mounted.
class SmallDisk {
 public:
  SmallDisk(std::filesystem::path folder, const char* size) : folder_(std::move(folder)) {
    std::filesystem::create_directory(folder_);
    const std::string options = std::string("size=") + size;
    mounted_ = ::mount("tmpfs", folder_.c_str(), "tmpfs", 0, options.c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount(folder_.c_str());
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  [[nodiscard]] bool mounted() const { return mounted_; }

 private:
  std::filesystem::path folder_;
  bool mounted_ = false;
};

}  // namespace shardscope::app
