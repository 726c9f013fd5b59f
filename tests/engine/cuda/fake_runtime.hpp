#pragma once
// A CUDA runtime of a machine that the test describes: memory is host memory, streams run at once.

#include <cstddef>
#include <map>
#include <string>

#include "engine/cuda/runtime_api.hpp"

namespace shardscope::engine::cuda {

/// What the fake machine is like and what has been done to it. One at a time.
struct FakeMachine {
  int devices = 1;
  int device_count_error = kCudaSuccess;
  int driver = 13000;
  std::size_t free_bytes = std::size_t{1} << 30;
  bool peers = true;
  float elapsed_ms = 0;               ///< between any two events
  std::map<std::string, int> errors;  ///< by function: what it returns from now on
  std::map<std::string, int> calls;   ///< by function
  int open = 0;                       ///< streams, events and allocations not given back
};

/// A table whose functions act on `machine`, which must outlive its use.
[[nodiscard]] RuntimeApi fake_runtime(FakeMachine& machine);

}  // namespace shardscope::engine::cuda
