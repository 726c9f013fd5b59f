#include "tests/engine/cuda/emulated_gpu.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "profiler/clock.hpp"
#include "tests/engine/cuda/address_checked_ops.hpp"
#include "tests/engine/cuda/emulated_graph.hpp"
#include "tests/engine/cuda/fake_cublas.hpp"
#include "tests/engine/cuda/fake_nccl.hpp"

namespace shardscope::engine::cuda {
namespace {

constexpr int kEmulatedGpus = 8;
constexpr std::size_t kMemoryAlignment = 256;

/// As the runtime says of calls that wait or allocate in a thread that captures.
constexpr int kCaptureUnsupported = 900;
constexpr int kCaptureUnjoined = 904;
thread_local int captures = 0;

/// What is open, by address. One machine a process: the runtime's functions carry no state.
struct EmulatedState {
  std::mutex mutex;
  std::map<const std::byte*, std::int64_t, std::greater<>> memory;
  std::int64_t used_bytes = 0;
  std::map<const void*, std::int64_t> temporary;
  std::int64_t temporary_bytes = 0;
  std::int64_t temporary_peak = 0;
  std::map<std::string, int> errors;
  std::map<NativeStream, SharedGraph> captured;
  int open = 0;
  std::atomic<std::int64_t> memory_bytes{std::int64_t{64} << 30};
  std::atomic<StreamMode> streams{StreamMode::threaded};
};

EmulatedState& state() {
  static EmulatedState one;
  return one;
}

int error_of(const char* function) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().errors.find(function);
  return found == state().errors.end() ? kCudaSuccess : found->second;
}

void count(int change) {
  const std::lock_guard lock(state().mutex);
  state().open += change;
}

Stream& stream_of(NativeStream stream) {
  return *static_cast<Stream*>(stream);
}

SharedGraph graph_of(NativeStream stream) {
  if (captures == 0) return nullptr;
  const std::lock_guard lock(state().mutex);
  const auto found = state().captured.find(stream);
  return found == state().captured.end() ? nullptr : found->second;
}

/// The stream goes into the capture that the event was recorded in.
int join_capture(NativeStream stream, const EmulatedEvent& event) {
  const SharedGraph graph = event.captured;
  if (graph->has_ended()) return kCaptureUnsupported;
  {
    const std::lock_guard lock(state().mutex);
    SharedGraph& own = state().captured[stream];
    if (own != nullptr && own != graph) return kCaptureUnsupported;
    own = graph;
  }
  graph->wait(stream, event);
  return error_of("wait_event");
}

void put(NativeStream stream, const Task& task) {
  if (const SharedGraph graph = graph_of(stream)) {
    graph->add(stream, task);
  } else {
    stream_of(stream).enqueue(task);
  }
}

/// Of functions that a capturing thread must not call.
int outside_error_of(const char* function) {
  return captures > 0 ? kCaptureUnsupported : error_of(function);
}

int emulated_allocate(void** memory, std::size_t bytes, int /*device*/) {
  if (const int error = error_of("allocate"); error != kCudaSuccess) return error;
  const std::size_t room = (std::max<std::size_t>(bytes, 1) + kMemoryAlignment - 1) /
                           kMemoryAlignment * kMemoryAlignment;
  auto* at = static_cast<std::byte*>(std::aligned_alloc(kMemoryAlignment, room));
  // As on a GPU, what was never written holds nothing.
  std::memset(at, 0xCB, room);
  const std::lock_guard lock(state().mutex);
  state().memory[at] = static_cast<std::int64_t>(bytes);
  state().used_bytes += static_cast<std::int64_t>(bytes);
  ++state().open;
  *memory = at;
  return kCudaSuccess;
}

int emulated_free(void* memory) {
  {
    const std::lock_guard lock(state().mutex);
    const auto found = state().memory.find(static_cast<std::byte*>(memory));
    if (found == state().memory.end()) return 1;
    state().used_bytes -= found->second;
    if (const auto of = state().temporary.find(memory); of != state().temporary.end()) {
      state().temporary_bytes -= of->second;
      state().temporary.erase(of);
    }
    state().memory.erase(found);
    --state().open;
  }
  std::free(memory);
  return kCudaSuccess;
}

void count_temporary(const void* memory, std::int64_t bytes) {
  const std::lock_guard lock(state().mutex);
  state().temporary[memory] = bytes;
  state().temporary_bytes += bytes;
  state().temporary_peak = std::max(state().temporary_peak, state().temporary_bytes);
}

void fill_device(RuntimeApi& api) {
  api.device_count = [](int* devices) {
    *devices = kEmulatedGpus;
    return error_of("device_count");
  };
  api.driver_version = api.runtime_version = [](int* version) {
    *version = 13000;
    return kCudaSuccess;
  };
  api.set_device = [](int) { return error_of("set_device"); };
  api.device_info = [](int device, DeviceInfo* info) {
    std::snprintf(info->name, sizeof(info->name), "emulated %d", device);
    info->multiprocessors = 4;
    return kCudaSuccess;
  };
  api.memory = [](std::size_t* free_bytes, std::size_t* total) {
    const std::lock_guard lock(state().mutex);
    *total = static_cast<std::size_t>(state().memory_bytes.load());
    *free_bytes = static_cast<std::size_t>(
        std::max<std::int64_t>(state().memory_bytes - state().used_bytes, 0));
    return kCudaSuccess;
  };
  api.can_access_peer = [](int* can, int, int) {
    *can = error_of("can_access_peer") == kCudaSuccess ? 1 : 0;
    return kCudaSuccess;
  };
  api.enable_peer_access = [](int) { return kCudaSuccess; };
  api.error_name = [](int error) {
    return error == kCudaOutOfMemory ? "cudaErrorMemoryAllocation" : "cudaErrorUnknown";
  };
  api.error_text = [](int) { return "made by the test"; };
}

void fill_memory(RuntimeApi& api) {
  api.allocate = [](void** memory, std::size_t bytes, int device) {
    const int error = outside_error_of("allocate");
    return error == kCudaSuccess ? emulated_allocate(memory, bytes, device) : error;
  };
  api.free = emulated_free;
  api.allocate_pinned = [](void** memory, std::size_t bytes) {
    *memory = std::malloc(bytes);
    count(1);
    return outside_error_of("allocate_pinned");
  };
  api.free_pinned = [](void* memory) {
    std::free(memory);
    count(-1);
    return kCudaSuccess;
  };
  api.copy = [](void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
    return outside_error_of("copy");
  };
  api.set = [](void* to, int value, std::size_t bytes) {
    if (bytes > 0) std::memset(to, value, bytes);
    return outside_error_of("set");
  };
  api.allocate_async = [](void** memory, std::size_t bytes, NativeStream stream) {
    const int error = emulated_allocate(memory, bytes, 0);
    const SharedGraph graph = graph_of(stream);
    if (error == kCudaSuccess) count_temporary(*memory, static_cast<std::int64_t>(bytes));
    if (error == kCudaSuccess && graph) {
      graph->own(std::shared_ptr<void>(*memory, [](void* at) { emulated_free(at); }));
    }
    return error;
  };
  api.free_async = [](void* memory, NativeStream stream) {
    if (graph_of(stream)) return kCudaSuccess;
    stream_of(stream).enqueue([memory] { emulated_free(memory); });
    return kCudaSuccess;
  };
  api.copy_async = [](void* to, const void* from, std::size_t bytes, NativeStream stream) {
    put(stream, [to, from, bytes] { std::memcpy(to, from, bytes); });
    return error_of("copy_async");
  };
  api.set_async = [](void* to, int value, std::size_t bytes, NativeStream stream) {
    put(stream, [to, value, bytes] { std::memset(to, value, bytes); });
    return error_of("set_async");
  };
}

void fill_streams(RuntimeApi& api) {
  api.create_stream = [](NativeStream* stream) {
    if (const int error = error_of("create_stream"); error != kCudaSuccess) return error;
    *stream = make_cpu_stream(state().streams, "emulated").release();
    count(1);
    return kCudaSuccess;
  };
  api.destroy_stream = [](NativeStream stream) {
    delete static_cast<Stream*>(stream);
    count(-1);
    return kCudaSuccess;
  };
  api.wait_event = [](NativeStream stream, NativeEvent event) {
    auto* awaited = static_cast<EmulatedEvent*>(event);
    if (awaited->captured != nullptr) return join_capture(stream, *awaited);
    if (graph_of(stream)) return kCaptureUnsupported;
    if (awaited->stream != nullptr) stream_of(stream).wait(awaited->event);
    return error_of("wait_event");
  };
  api.host_function = [](NativeStream stream, void (*function)(void*), void* argument) {
    put(stream, [function, argument] { function(argument); });
    return error_of("host_function");
  };
  api.create_event = [](NativeEvent* event) {
    *event = new EmulatedEvent;
    count(1);
    return error_of("create_event");
  };
  api.destroy_event = [](NativeEvent event) {
    delete static_cast<EmulatedEvent*>(event);
    count(-1);
    return kCudaSuccess;
  };
  api.record_event = [](NativeEvent event, NativeStream stream) {
    auto* recorded = static_cast<EmulatedEvent*>(event);
    if (const SharedGraph graph = graph_of(stream)) {
      graph->record(stream, graph, *recorded);
      return error_of("record_event");
    }
    record_on(stream_of(stream), *recorded);
    return error_of("record_event");
  };
  api.record_event_outside = [](NativeEvent event, NativeStream stream) {
    const SharedGraph graph = graph_of(stream);
    if (graph == nullptr) return kCaptureUnsupported;
    graph->add_outside(stream, *static_cast<EmulatedEvent*>(event));
    return error_of("record_event_outside");
  };
  api.query_event = [](NativeEvent) { return kCudaSuccess; };
  api.synchronize_event = [](NativeEvent event) {
    auto* recorded = static_cast<EmulatedEvent*>(event);
    if (recorded->stream != nullptr) recorded->stream->synchronize(recorded->event);
    return outside_error_of("synchronize_event");
  };
  api.elapsed_ms = [](float* ms, NativeEvent begin, NativeEvent end) {
    const std::int64_t ns =
        static_cast<EmulatedEvent*>(end)->ns - static_cast<EmulatedEvent*>(begin)->ns;
    *ms = static_cast<float>(static_cast<double>(ns) * 1e-6);
    return error_of("elapsed_ms");
  };
}

void fill_graphs(RuntimeApi& api) {
  api.begin_capture = [](NativeStream stream) {
    if (const int error = error_of("begin_capture"); error != kCudaSuccess) return error;
    const std::lock_guard lock(state().mutex);
    state().captured[stream] = std::make_shared<EmulatedGraph>(stream);
    ++captures;
    return kCudaSuccess;
  };
  api.end_capture = [](NativeStream stream, NativeGraph* graph) {
    const SharedGraph captured = graph_of(stream);
    if (captured == nullptr) return kCaptureUnsupported;
    --captures;
    {
      const std::lock_guard lock(state().mutex);
      std::erase_if(state().captured, [&](const auto& one) { return one.second == captured; });
    }
    if (!captured->end(stream)) return kCaptureUnjoined;
    *graph = new SharedGraph(captured);
    count(1);
    return error_of("end_capture");
  };
  api.instantiate_graph = [](NativeGraph* executable, NativeGraph graph) {
    if (const int error = error_of("instantiate_graph"); error != kCudaSuccess) return error;
    *executable = new SharedGraph(*static_cast<SharedGraph*>(graph));
    count(1);
    return kCudaSuccess;
  };
  api.launch_graph = [](NativeGraph executable, NativeStream stream) {
    (*static_cast<SharedGraph*>(executable))->launch(stream_of(stream));
    return error_of("launch_graph");
  };
  api.destroy_graph = api.destroy_executable = [](NativeGraph graph) {
    delete static_cast<SharedGraph*>(graph);
    count(-1);
    return kCudaSuccess;
  };
}

}  // namespace

void set_emulated_streams(StreamMode mode) {
  state().streams = mode;
}

void set_emulated_error(const char* function, int error) {
  const std::lock_guard lock(state().mutex);
  state().errors[function] = error;
}

void enqueue_emulated(NativeStream stream, const Task& task) {
  put(stream, task);
}

void enqueue_in_order(NativeStream stream, const Task& task) {
  graph_of(stream)->add_in_order(stream, task);
}

bool is_captured(NativeStream stream) {
  return graph_of(stream) != nullptr;
}

void set_emulated_memory(std::int64_t bytes) {
  state().memory_bytes = bytes;
}

bool is_emulated_memory(const void* memory, std::int64_t bytes) {
  const auto* at = static_cast<const std::byte*>(memory);
  const std::lock_guard lock(state().mutex);
  const auto found = state().memory.lower_bound(at);
  return found != state().memory.end() && at + bytes <= found->first + found->second;
}

std::int64_t emulated_temporary_peak() {
  const std::lock_guard lock(state().mutex);
  const std::int64_t peak = state().temporary_peak;
  state().temporary_peak = state().temporary_bytes;
  return peak;
}

int emulated_open() {
  const std::lock_guard lock(state().mutex);
  return state().open;
}

const PluginTable& emulated_plugin() {
  static const PluginTable table = [] {
    PluginTable made;
    made.build_id = "emulated";
    made.architectures = "none";
    fill_device(made.runtime);
    fill_memory(made.runtime);
    fill_streams(made.runtime);
    fill_graphs(made.runtime);
    made.make_ops = make_address_checked_ops;
    made.make_dense_math = make_dense_math;
    return made;
  }();
  return table;
}

std::shared_ptr<CudaDevice> make_emulated_device(int gpus, bool graphs) {
  CudaDeviceConfig config;
  config.gpus.resize(static_cast<std::size_t>(gpus));
  std::iota(config.gpus.begin(), config.gpus.end(), 0);
  config.graphs = graphs;
  config.nccl = [] { return Result<const NcclApi*>(&fake_nccl_api()); };
  config.cublas = [] { return Result<const CublasApi*>(&fake_cublas_api()); };
  auto device = CudaDevice::create(emulated_plugin(), std::move(config));
  return device ? *device : nullptr;
}

}  // namespace shardscope::engine::cuda
