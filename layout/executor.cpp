#include "layout/executor.hpp"

#include "layout/names.hpp"

namespace shardscope {

const char* to_string(Executor value) {
  return name_of(value);
}

}  // namespace shardscope
