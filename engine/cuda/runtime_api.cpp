#include "engine/cuda/runtime_api.hpp"

#include <fmt/format.h>

namespace shardscope::engine::cuda {

namespace {

std::string cure_of(int error) {
  switch (error) {
    case kCudaDriverTooOld:
      return "Install the NVIDIA driver that this CUDA version asks for, or use --backend cpu";
    case kCudaNoDevice:
      return "Make a GPU visible to this process, or use --backend cpu";
    case kCudaOutOfMemory:
      return "Lower the batch or the reserve, or cap the tables with --rows-cap";
    default:
      return "Look into the kernel log for messages of the NVIDIA driver";
  }
}

}  // namespace

Error runtime_error(const RuntimeApi& runtime, int error, const std::string& call,
                    const std::string& place) {
  return {ErrorKind::runtime,
          fmt::format("{} failed with {} ({}: {})", call, runtime.error_name(error), error,
                      runtime.error_text(error)),
          place, "", cure_of(error)};
}

}  // namespace shardscope::engine::cuda
