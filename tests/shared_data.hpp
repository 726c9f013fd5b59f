#pragma once
// Real inputs beside the source tree; absent on most machines.

#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "tests/paths.hpp"

namespace shardscope::test_data {

/// Path of a file in ../shared/data.
[[nodiscard]] inline std::string shared_path(const std::string& file) {
  return test::source_dir() + "/../shared/data/" + file;
}

/// The whole file; nothing when it is absent.
[[nodiscard]] inline std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

}  // namespace shardscope::test_data

/// Reads ../shared/data/FILE into the new variable NAME, or skips the test.
#define SHARDSCOPE_SHARED_DATA(name, file)                                        \
  const auto name##_text =                                                        \
      shardscope::test_data::read_file(shardscope::test_data::shared_path(file)); \
  if (!name##_text) {                                                             \
    GTEST_SKIP() << "absent: " << shardscope::test_data::shared_path(file);       \
  }                                                                               \
  const std::string& name = *name##_text
