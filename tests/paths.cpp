#include "tests/paths.hpp"

namespace shardscope::test {

const std::string& source_dir() {
  static const std::string path = SHARDSCOPE_SOURCE_DIR;
  return path;
}

const std::string& binary_dir() {
  static const std::string path = SHARDSCOPE_BINARY_DIR;
  return path;
}

}  // namespace shardscope::test
