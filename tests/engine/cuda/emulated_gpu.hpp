#pragma once
// A CUDA runtime on the CPU, for tests alone: streams are threads (or deferred), memory is the
// host's but known by address, kernels run in engine/cuda/host. What engine and command do on a GPU
// runs on it line by line. Its operations refuse every list that leads a kernel to memory that the
// device was not given, so that a host's pointer handed to a kernel fails here as on a GPU.

#include <memory>

#include "engine/cuda/cuda_device.hpp"
#include "engine/cuda/plugin_table.hpp"

namespace shardscope::engine::cuda {

/// How work of streams made from now on runs: StreamMode::threaded, or deferred, where nothing runs
/// before somebody waits for it.
void set_emulated_streams(StreamMode mode);

/// The next calls of the functions named so ("allocate", "create_stream", ...) return the error;
/// 0: as usual.
void set_emulated_error(const char* function, int error);

/// Enqueues work of a library on a stream of the runtime, or into its capture.
void enqueue_emulated(NativeStream stream, const Task& task);
/// Into its capture, behind everything that was enqueued there so: work that peers wait for, in the
/// same order on all.
void enqueue_in_order(NativeStream stream, const Task& task);
/// The calling thread's work on the stream goes into a graph.
[[nodiscard]] bool is_captured(NativeStream stream);

/// Memory a GPU has.
void set_emulated_memory(std::int64_t bytes);

/// Largest temporary memory of all streams at once since the last call.
[[nodiscard]] std::int64_t emulated_temporary_peak();

/// Eight GPUs.
[[nodiscard]] const PluginTable& emulated_plugin();

/// True where [memory, memory + bytes) is memory of an emulated GPU; the end of one is, of 0 bytes.
[[nodiscard]] bool is_emulated_memory(const void* memory, std::int64_t bytes);

/// Allocations, streams and events not given back.
[[nodiscard]] int emulated_open();

/// Ranks on GPU 0, or a GPU each connected by the fake NCCL.
[[nodiscard]] std::shared_ptr<CudaDevice> make_emulated_device(int gpus = 1, bool graphs = false);

}  // namespace shardscope::engine::cuda
