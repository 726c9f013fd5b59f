#pragma once
// Owner of an open file.

#include <unistd.h>

#include "storage/unique.hpp"

namespace shardscope::storage {

using FileDescriptor = Unique<int, ::close, -1>;

}  // namespace shardscope::storage
