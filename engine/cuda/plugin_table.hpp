#pragma once
// What libshardscope_cuda.so exports: one function that returns this table.

#include "engine/cuda/codec_ops.hpp"
#include "engine/cuda/dense_math.hpp"
#include "engine/cuda/runtime_api.hpp"
#include "engine/device.hpp"

namespace shardscope::engine::cuda {

struct PluginTable {
  /// Digest of the headers that program and plugin share; first, so that it can be read whatever
  /// else has changed.
  const char* build_id = nullptr;
  const char* architectures = nullptr;  ///< "sm_90"
  RuntimeApi runtime;
  /// Operations for streams of this runtime (CudaStream). The caller owns them.
  Ops* (*make_ops)() = nullptr;
  /// The dense part on one of them. The caller owns it.
  DenseMath* (*make_dense_math)(CudaStream& stream, const CublasUse& cublas) = nullptr;
  /// Codecs on the same streams.
  CodecOps* (*make_codec_ops)() = nullptr;
};

/// Name and type of the exported function. It calls nothing of CUDA.
inline constexpr const char* kPluginSymbol = "shardscope_cuda_plugin";
using PluginFunction = const PluginTable* (*)();

}  // namespace shardscope::engine::cuda
