#pragma once
// Opens libshardscope_cuda.so when something asks for it. Nothing of CUDA is linked to the program.

#include <filesystem>
#include <string>

#include "engine/cuda/plugin_table.hpp"
#include "layout/result.hpp"

namespace shardscope::engine::cuda {

/// The plugin beside this program. Opened at the first call; the answer stays for the process'
/// life. Errors: not there (this build has no CUDA device), cannot be loaded, of another build.
[[nodiscard]] Result<const PluginTable*> cuda_plugin();

/// Opens the plugin of that file and compares build ids. It stays open.
[[nodiscard]] Result<const PluginTable*> open_plugin(const std::filesystem::path& file);

/// Digest of the headers that program and plugin share.
[[nodiscard]] const char* plugin_build_id();

}  // namespace shardscope::engine::cuda
