#include "profiler/span.hpp"

namespace shardscope {

const char* to_string(Mode value) {
  switch (value) {
    case Mode::measured:
      return "measured";
    case Mode::emulated:
      return "emulated";
    case Mode::simulated:
      return "simulated";
  }
  return "?";
}

}  // namespace shardscope
