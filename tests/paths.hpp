#pragma once
// Where the sources and the build of a test program lie. Their names are compiled into one file, so
// that all others are the same in every checkout.

#include <string>

namespace shardscope::test {

[[nodiscard]] const std::string& source_dir();
[[nodiscard]] const std::string& binary_dir();

}  // namespace shardscope::test
