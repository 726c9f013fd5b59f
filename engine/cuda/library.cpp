#include "engine/cuda/library.hpp"

#include <dlfcn.h>

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shardscope::engine::cuda {

Result<Library> Library::open(const std::vector<std::string>& names, const std::string& purpose,
                              const std::string& cure) {
  std::string why;
  for (const std::string& name : names) {
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL); handle != nullptr) {
      return Library(handle, name);
    }
    if (why.empty()) why = dlerror();
  }
  return fail({ErrorKind::runtime, fmt::format("no library for {}: {}", purpose, why), "",
               fmt::format("{}", fmt::join(names, " or ")), cure});
}

void* Library::find(const char* name) const {
  return dlsym(handle_, name);
}

Status Library::missing(const char* name) const {
  return fail({ErrorKind::runtime, fmt::format("the library has no {}", name), name_,
               "the CUDA 13 version of the library", "Install the CUDA 13 libraries"});
}

}  // namespace shardscope::engine::cuda
