#pragma once
// What the engine uses of the CUDA runtime, as a table of functions over plain types: the plugin
// fills it from the runtime, tests with a machine of their own making. Functions return the
// runtime's error number, 0 for success.

#include <cstddef>
#include <cstdint>
#include <string>

#include "layout/result.hpp"

namespace shardscope::engine::cuda {

/// cudaStream_t and cudaEvent_t.
using NativeStream = void*;
using NativeEvent = void*;

/// Error numbers that mean something to us.
inline constexpr int kCudaSuccess = 0;
inline constexpr int kCudaOutOfMemory = 2;
inline constexpr int kCudaNotReady = 600;
inline constexpr int kCudaDriverTooOld = 35;
inline constexpr int kCudaNoDevice = 100;
inline constexpr int kCudaPeerAccessOpen = 704;

/// What the runtime says of a GPU; 0 or empty where it does not.
struct DeviceInfo {
  char name[256] = {};
  char uuid[48] = {};  ///< "GPU-01234567-..."
  char bus[32] = {};   ///< PCI location
  std::int64_t memory_bytes = 0;
  std::int64_t memory_bytes_per_s = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t clock_hz = 0;
  std::int32_t multiprocessors = 0;
  std::int32_t compute_major = 0;
  std::int32_t compute_minor = 0;
};

/// cudaGraph_t, cudaGraphExec_t.
using NativeGraph = void*;

struct RuntimeApi {
  int (*device_count)(int* count) = nullptr;
  /// 0 without a driver.
  int (*driver_version)(int* version) = nullptr;
  int (*runtime_version)(int* version) = nullptr;
  int (*set_device)(int device) = nullptr;
  int (*device_info)(int device, DeviceInfo* info) = nullptr;
  int (*memory)(std::size_t* free_bytes, std::size_t* total_bytes) = nullptr;
  int (*can_access_peer)(int* can, int device, int peer) = nullptr;
  int (*enable_peer_access)(int peer) = nullptr;

  /// Memory that host and device address alike, kept on the device.
  int (*allocate)(void** memory, std::size_t bytes, int device) = nullptr;
  int (*free)(void* memory) = nullptr;
  int (*allocate_pinned)(void** memory, std::size_t bytes) = nullptr;
  int (*free_pinned)(void* memory) = nullptr;
  /// Both return when they are done.
  int (*copy)(void* to, const void* from, std::size_t bytes) = nullptr;
  int (*set)(void* to, int value, std::size_t bytes) = nullptr;
  int (*allocate_async)(void** memory, std::size_t bytes, NativeStream stream) = nullptr;
  int (*free_async)(void* memory, NativeStream stream) = nullptr;
  int (*copy_async)(void* to, const void* from, std::size_t bytes, NativeStream stream) = nullptr;
  int (*set_async)(void* to, int value, std::size_t bytes, NativeStream stream) = nullptr;

  int (*create_stream)(NativeStream* stream) = nullptr;
  int (*destroy_stream)(NativeStream stream) = nullptr;
  int (*wait_event)(NativeStream stream, NativeEvent event) = nullptr;
  /// Runs function(argument) on a host thread when the stream has come there.
  int (*host_function)(NativeStream stream, void (*function)(void*), void* argument) = nullptr;
  int (*create_event)(NativeEvent* event) = nullptr;
  int (*destroy_event)(NativeEvent event) = nullptr;
  int (*record_event)(NativeEvent event, NativeStream stream) = nullptr;
  /// While the stream is captured: every launch of the graph records the event, for those outside.
  int (*record_event_outside)(NativeEvent event, NativeStream stream) = nullptr;
  int (*query_event)(NativeEvent event) = nullptr;
  int (*synchronize_event)(NativeEvent event) = nullptr;
  int (*elapsed_ms)(float* ms, NativeEvent begin, NativeEvent end) = nullptr;

  /// What this thread enqueues on the stream goes into a graph instead, and on every stream that
  /// waits for an event recorded there meanwhile (thread-local mode: the thread may not allocate or
  /// wait on the host). All of those join the first again before its capture ends.
  int (*begin_capture)(NativeStream stream) = nullptr;
  int (*end_capture)(NativeStream stream, NativeGraph* graph) = nullptr;
  int (*instantiate_graph)(NativeGraph* executable, NativeGraph graph) = nullptr;
  int (*launch_graph)(NativeGraph executable, NativeStream stream) = nullptr;
  int (*destroy_graph)(NativeGraph graph) = nullptr;
  int (*destroy_executable)(NativeGraph executable) = nullptr;

  /// "cudaErrorMemoryAllocation", "out of memory".
  const char* (*error_name)(int error) = nullptr;
  const char* (*error_text)(int error) = nullptr;
};

/// The error of a call, with the runtime's own name for it. `call` is what was called, `place` for
/// whom ("rank 3, GPU 1").
[[nodiscard]] Error runtime_error(const RuntimeApi& runtime, int error, const std::string& call,
                                  const std::string& place);

}  // namespace shardscope::engine::cuda
