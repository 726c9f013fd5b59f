#pragma once
// The cuda device that the tests of this folder run on: emulated in test_cuda, a GPU in the packed
// check.

#include <cstdint>
#include <memory>

#include "engine/cuda/codec_ops.hpp"
#include "engine/cuda/plugin_table.hpp"
#include "engine/device.hpp"
#include "engine/engine.hpp"

namespace shardscope::engine::testing {

/// For kernels alone: they reach the tests' vectors.
[[nodiscard]] std::shared_ptr<Device> device_under_test();

/// For whole runs: kernels reach the device's memory only. Null: that communicator is not here.
[[nodiscard]] std::shared_ptr<Device> pipeline_device(CommKind comm, bool graphs = false);

/// For the dense part alone. Without cuBLAS: null.
struct DenseUnderTest {
  const cuda::PluginTable* plugin = nullptr;
  const cuda::CublasApi* cublas = nullptr;
};
[[nodiscard]] DenseUnderTest dense_under_test();

/// Emulated: work of streams made from now on waits until it is asked for.
void defer_streams(bool deferred);

/// Its codec kernels.
[[nodiscard]] std::shared_ptr<cuda::CodecOps> codec_ops_under_test();

/// In the harness: the order in which a block's threads start; 0: ascending.
void vary_order(std::uint64_t seed);

}  // namespace shardscope::engine::testing
