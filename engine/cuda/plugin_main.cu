// The plugin's table, filled from the CUDA runtime that is linked into it.

#include <cuda_runtime.h>

#include <cstdio>

#include "engine/cuda/cuda_ops.hpp"
#include "engine/cuda/plugin_table.hpp"

namespace shardscope::engine::cuda {
namespace {

cudaStream_t stream_of(NativeStream stream) {
  return static_cast<cudaStream_t>(stream);
}
cudaEvent_t event_of(NativeEvent event) {
  return static_cast<cudaEvent_t>(event);
}

int attribute(int device, cudaDeviceAttr which) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, device) == cudaSuccess ? value : 0;
}

int device_info(int device, DeviceInfo* info) {
  cudaDeviceProp properties{};
  const cudaError_t error = cudaGetDeviceProperties(&properties, device);
  if (error != cudaSuccess) return error;
  *info = {};
  std::snprintf(info->name, sizeof(info->name), "%s", properties.name);
  std::size_t at = std::snprintf(info->uuid, sizeof(info->uuid), "GPU-");
  for (int byte = 0; byte < 16; ++byte) {
    const bool dash = byte == 4 || byte == 6 || byte == 8 || byte == 10;
    at += std::snprintf(
        info->uuid + at, sizeof(info->uuid) - at, "%s%02x", dash ? "-" : "",
        static_cast<unsigned>(static_cast<unsigned char>(properties.uuid.bytes[byte])));
  }
  std::snprintf(info->bus, sizeof(info->bus), "%04x:%02x:%02x.0",
                static_cast<unsigned>(properties.pciDomainID),
                static_cast<unsigned>(properties.pciBusID),
                static_cast<unsigned>(properties.pciDeviceID));
  info->memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  // Data moves at both edges of the memory's clock (kHz).
  info->memory_bytes_per_s = std::int64_t{2} * 1000 *
                             attribute(device, cudaDevAttrMemoryClockRate) *
                             (attribute(device, cudaDevAttrGlobalMemoryBusWidth) / 8);
  info->l2_bytes = properties.l2CacheSize;
  info->clock_hz = std::int64_t{1000} * attribute(device, cudaDevAttrClockRate);
  info->multiprocessors = properties.multiProcessorCount;
  info->compute_major = properties.major;
  info->compute_minor = properties.minor;
  return cudaSuccess;
}

// Managed, so that host tasks between kernels reach it; told to stay on the device, with a mapping
// for the host, so that nothing migrates.
int allocate(void** memory, std::size_t bytes, int device) {
  cudaError_t error = cudaMallocManaged(memory, bytes, cudaMemAttachGlobal);
  if (error != cudaSuccess) return error;
  const cudaMemLocation gpu{cudaMemLocationTypeDevice, device};
  const cudaMemLocation host{cudaMemLocationTypeHost, 0};
  error = cudaMemAdvise(*memory, bytes, cudaMemAdviseSetPreferredLocation, gpu);
  if (error == cudaSuccess) {
    error = cudaMemAdvise(*memory, bytes, cudaMemAdviseSetAccessedBy, host);
  }
  return error;
}

RuntimeApi make_runtime() {
  RuntimeApi api;
  api.device_count = [](int* count) -> int { return cudaGetDeviceCount(count); };
  api.driver_version = [](int* version) -> int { return cudaDriverGetVersion(version); };
  api.runtime_version = [](int* version) -> int { return cudaRuntimeGetVersion(version); };
  api.set_device = [](int device) -> int { return cudaSetDevice(device); };
  api.device_info = device_info;
  api.memory = [](std::size_t* free_bytes, std::size_t* total) -> int {
    return cudaMemGetInfo(free_bytes, total);
  };
  api.can_access_peer = [](int* can, int device, int peer) -> int {
    return cudaDeviceCanAccessPeer(can, device, peer);
  };
  api.enable_peer_access = [](int peer) -> int {
    const cudaError_t error = cudaDeviceEnablePeerAccess(peer, 0);
    if (error != cudaSuccess) cudaGetLastError();  // it is no error of the next launch
    return error;
  };
  api.allocate = allocate;
  api.free = [](void* memory) -> int { return cudaFree(memory); };
  api.allocate_pinned = [](void** memory, std::size_t bytes) -> int {
    return cudaMallocHost(memory, bytes);
  };
  api.free_pinned = [](void* memory) -> int { return cudaFreeHost(memory); };
  api.copy = [](void* to, const void* from, std::size_t bytes) -> int {
    const cudaError_t error = cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
    return error == cudaSuccess ? cudaStreamSynchronize(nullptr) : error;
  };
  api.set = [](void* to, int value, std::size_t bytes) -> int {
    const cudaError_t error = cudaMemset(to, value, bytes);
    return error == cudaSuccess ? cudaStreamSynchronize(nullptr) : error;
  };
  api.allocate_async = [](void** memory, std::size_t bytes, NativeStream stream) -> int {
    return cudaMallocAsync(memory, bytes, stream_of(stream));
  };
  api.free_async = [](void* memory, NativeStream stream) -> int {
    return cudaFreeAsync(memory, stream_of(stream));
  };
  api.copy_async = [](void* to, const void* from, std::size_t bytes, NativeStream stream) -> int {
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_of(stream));
  };
  api.set_async = [](void* to, int value, std::size_t bytes, NativeStream stream) -> int {
    return cudaMemsetAsync(to, value, bytes, stream_of(stream));
  };
  api.create_stream = [](NativeStream* stream) -> int {
    return cudaStreamCreateWithFlags(reinterpret_cast<cudaStream_t*>(stream),
                                     cudaStreamNonBlocking);
  };
  api.destroy_stream = [](NativeStream stream) -> int {
    return cudaStreamDestroy(stream_of(stream));
  };
  api.wait_event = [](NativeStream stream, NativeEvent event) -> int {
    return cudaStreamWaitEvent(stream_of(stream), event_of(event), 0);
  };
  api.host_function = [](NativeStream stream, void (*function)(void*), void* argument) -> int {
    return cudaLaunchHostFunc(stream_of(stream), function, argument);
  };
  api.create_event = [](NativeEvent* event) -> int {
    return cudaEventCreate(reinterpret_cast<cudaEvent_t*>(event));
  };
  api.destroy_event = [](NativeEvent event) -> int { return cudaEventDestroy(event_of(event)); };
  api.record_event = [](NativeEvent event, NativeStream stream) -> int {
    return cudaEventRecord(event_of(event), stream_of(stream));
  };
  api.record_event_outside = [](NativeEvent event, NativeStream stream) -> int {
    return cudaEventRecordWithFlags(event_of(event), stream_of(stream), cudaEventRecordExternal);
  };
  api.query_event = [](NativeEvent event) -> int { return cudaEventQuery(event_of(event)); };
  api.synchronize_event = [](NativeEvent event) -> int {
    return cudaEventSynchronize(event_of(event));
  };
  api.elapsed_ms = [](float* ms, NativeEvent begin, NativeEvent end) -> int {
    return cudaEventElapsedTime(ms, event_of(begin), event_of(end));
  };
  api.begin_capture = [](NativeStream stream) -> int {
    return cudaStreamBeginCapture(stream_of(stream), cudaStreamCaptureModeThreadLocal);
  };
  api.end_capture = [](NativeStream stream, NativeGraph* graph) -> int {
    return cudaStreamEndCapture(stream_of(stream), reinterpret_cast<cudaGraph_t*>(graph));
  };
  api.instantiate_graph = [](NativeGraph* executable, NativeGraph graph) -> int {
    return cudaGraphInstantiate(reinterpret_cast<cudaGraphExec_t*>(executable),
                                static_cast<cudaGraph_t>(graph), 0);
  };
  api.launch_graph = [](NativeGraph executable, NativeStream stream) -> int {
    return cudaGraphLaunch(static_cast<cudaGraphExec_t>(executable), stream_of(stream));
  };
  api.destroy_graph = [](NativeGraph graph) -> int {
    return cudaGraphDestroy(static_cast<cudaGraph_t>(graph));
  };
  api.destroy_executable = [](NativeGraph executable) -> int {
    return cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(executable));
  };
  api.error_name = [](int error) { return cudaGetErrorName(static_cast<cudaError_t>(error)); };
  api.error_text = [](int error) { return cudaGetErrorString(static_cast<cudaError_t>(error)); };
  return api;
}

Ops* make_ops() {
  return new CudaOps;
}

}  // namespace
}  // namespace shardscope::engine::cuda

extern "C" __attribute__((visibility("default"))) const shardscope::engine::cuda::PluginTable*
shardscope_cuda_plugin() {
  using namespace shardscope::engine::cuda;
  static const PluginTable table{SHARDSCOPE_CUDA_BUILD_ID, SHARDSCOPE_CUDA_ARCHITECTURES,
                                 make_runtime(),           make_ops,
                                 make_dense_math,          make_codec_ops};
  return &table;
}
