#include "engine/cuda/plugin.hpp"

#include <dlfcn.h>

#include <cstring>
#include <system_error>

#include <fmt/format.h>

namespace shardscope::engine::cuda {

const char* plugin_build_id() {
  return SHARDSCOPE_CUDA_BUILD_ID;
}

Result<const PluginTable*> open_plugin(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return fail({ErrorKind::usage, "this build has no CUDA device", file.string(), "the plugin",
                 "Build the target shardscope_cuda with a CUDA toolkit, or use --backend cpu"});
  }
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return fail({ErrorKind::runtime, fmt::format("the CUDA plugin cannot be loaded: {}", dlerror()),
                 file.string(), "", "Build the target shardscope_cuda again"});
  }
  const auto function = reinterpret_cast<PluginFunction>(dlsym(library, kPluginSymbol));
  if (function == nullptr) {
    return fail({ErrorKind::runtime, fmt::format("there is no {} in the file", kPluginSymbol),
                 file.string(), "the CUDA plugin", "Build the target shardscope_cuda again"});
  }
  const PluginTable* table = function();
  if (std::strcmp(table->build_id, plugin_build_id()) != 0) {
    return fail({ErrorKind::runtime,
                 fmt::format("the CUDA plugin is of build {}, this program of {}", table->build_id,
                             plugin_build_id()),
                 file.string(), "program and plugin of one build",
                 "Build the target shardscope_cuda again"});
  }
  return table;
}

Result<const PluginTable*> cuda_plugin() {
  static const Result<const PluginTable*> plugin = [] {
    std::error_code ignored;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
    return open_plugin(program.parent_path() / "libshardscope_cuda.so");
  }();
  return plugin;
}

}  // namespace shardscope::engine::cuda
