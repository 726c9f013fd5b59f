// The program and the plugin as files: what they need, and how one opens the other.

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "engine/cuda/capabilities.hpp"
#include "engine/cuda/plugin.hpp"
#include "tests/paths.hpp"

namespace shardscope::engine::cuda {
namespace {

namespace fs = std::filesystem;

const fs::path kProgram = fs::path(test::binary_dir()) / "bin/shardscope";
const fs::path kPlugin = fs::path(test::binary_dir()) / "bin/libshardscope_cuda.so";

/// Libraries that the dynamic section of an ELF file asks for.
std::vector<std::string> needed_libraries(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::vector<std::string> needed;
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  for (std::size_t n = 0; n < header.e_shnum; ++n) {
    Elf64_Shdr section;
    std::memcpy(&section, bytes.data() + header.e_shoff + n * sizeof(section), sizeof(section));
    if (section.sh_type != SHT_DYNAMIC) continue;
    Elf64_Shdr strings;
    std::memcpy(&strings, bytes.data() + header.e_shoff + section.sh_link * sizeof(strings),
                sizeof(strings));
    for (std::size_t at = 0; at < section.sh_size; at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      std::memcpy(&entry, bytes.data() + section.sh_offset + at, sizeof(entry));
      if (entry.d_tag != DT_NEEDED) continue;
      needed.emplace_back(bytes.data() + strings.sh_offset + entry.d_un.d_val);
    }
  }
  return needed;
}

void expect_no_cuda(const std::vector<std::string>& libraries) {
  EXPECT_FALSE(libraries.empty());
  for (const std::string& library : libraries) {
    for (const char* word : {"cuda", "nccl", "cupti", "cublas", "nvrtc", "nvidia"}) {
      EXPECT_EQ(library.find(word), std::string::npos) << library;
    }
  }
}

TEST(CudaProgram, NeedsNoCudaLibrary) {
  if (!fs::exists(kProgram)) GTEST_SKIP() << "the program is not built";
  expect_no_cuda(needed_libraries(kProgram));
}

TEST(CudaPlugin, NeedsNoCudaLibrary) {
  if (!fs::exists(kPlugin)) GTEST_SKIP() << "the target shardscope_cuda is not built";
  expect_no_cuda(needed_libraries(kPlugin));
}

TEST(CudaPlugin, OpensWithoutADriverAndMakesOperations) {
  if (!fs::exists(kPlugin)) GTEST_SKIP() << "the target shardscope_cuda is not built";
  const Result<const PluginTable*> plugin = open_plugin(kPlugin);
  ASSERT_TRUE(plugin) << to_string(plugin.error());
  EXPECT_THAT((*plugin)->architectures, ::testing::HasSubstr("sm_"));
  const std::unique_ptr<Ops> ops((*plugin)->make_ops());
  EXPECT_NE(ops, nullptr);
  const std::vector<GpuCapability> found = gpu_capabilities_of(plugin);
  ASSERT_GE(found.size(), 2U);
  EXPECT_TRUE(found[0].available);
  EXPECT_EQ(found[1].name, "GPU");
}

TEST(CudaPlugin, IsMissedWithACure) {
  const auto plugin = open_plugin("/nowhere/libshardscope_cuda.so");
  ASSERT_FALSE(plugin);
  EXPECT_EQ(plugin.error().what, "this build has no CUDA device");
  EXPECT_THAT(plugin.error().cure, ::testing::HasSubstr("shardscope_cuda"));
}

TEST(CudaPlugin, ThatIsNoLibraryIsRefused) {
  const fs::path file = fs::temp_directory_path() / "shardscope_not_a_plugin.so";
  std::ofstream(file) << "not a library";
  const auto plugin = open_plugin(file);
  fs::remove(file);
  ASSERT_FALSE(plugin);
  EXPECT_THAT(plugin.error().what, ::testing::HasSubstr("cannot be loaded"));
}

}  // namespace
}  // namespace shardscope::engine::cuda
