#pragma once
// Compressed files and archives for tests.

#include <string>
#include <utility>
#include <vector>

namespace shardscope::test {

enum class Packing { gzip, zstd, tar_gz, pax, gnu_tar, zip };

/// Name and bytes of each file. gzip and zstd take one, whose name is not kept.
using PackedFiles = std::vector<std::pair<std::string, std::string>>;

/// Those bytes packed. Throws std::runtime_error where that fails.
[[nodiscard]] std::string packed(Packing packing, const PackedFiles& files);

/// The same, written to `path`, which is returned.
std::string write_packed(const std::string& path, Packing packing, const PackedFiles& files);

}  // namespace shardscope::test
