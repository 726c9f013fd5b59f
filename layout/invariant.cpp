#include "layout/invariant.hpp"

#include <cstdio>
#include <cstdlib>

namespace shardscope {

void invariant_failed(const char* condition, const char* file, int line, const char* message) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s (%s)\n", file, line, message, condition);
  std::abort();
}

}  // namespace shardscope
