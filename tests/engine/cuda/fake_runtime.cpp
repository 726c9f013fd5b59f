#include "tests/engine/cuda/fake_runtime.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace shardscope::engine::cuda {
namespace {

// Plain functions carry no state of their own.
FakeMachine* the_machine = nullptr;

int call_of(const char* function) {
  ++the_machine->calls[function];
  const auto error = the_machine->errors.find(function);
  return error == the_machine->errors.end() ? kCudaSuccess : error->second;
}

int give(const char* function, void** what, std::size_t bytes) {
  const int error = call_of(function);
  if (error != kCudaSuccess) return error;
  *what = std::malloc(bytes);
  ++the_machine->open;
  return kCudaSuccess;
}

int take_back(const char* function, void* what) {
  std::free(what);
  --the_machine->open;
  return call_of(function);
}

void fill_device_functions(RuntimeApi& api) {
  api.device_count = [](int* count) {
    if (the_machine->device_count_error != kCudaSuccess) return the_machine->device_count_error;
    *count = the_machine->devices;
    return kCudaSuccess;
  };
  api.driver_version = [](int* version) {
    *version = the_machine->driver;
    return kCudaSuccess;
  };
  api.runtime_version = [](int* version) {
    *version = 13000;
    return kCudaSuccess;
  };
  api.set_device = [](int) { return call_of("set_device"); };
  api.device_info = [](int, DeviceInfo* info) {
    std::snprintf(info->name, sizeof(info->name), "Fake");
    return kCudaSuccess;
  };
  api.memory = [](std::size_t* free_bytes, std::size_t* total) {
    *free_bytes = *total = the_machine->free_bytes;
    return call_of("memory");
  };
  api.can_access_peer = [](int* can, int, int) {
    *can = the_machine->peers ? 1 : 0;
    return kCudaSuccess;
  };
}

void fill_memory_functions(RuntimeApi& api) {
  api.allocate = [](void** memory, std::size_t bytes, int) {
    return give("allocate", memory, bytes);
  };
  api.free = [](void* memory) { return take_back("free", memory); };
  api.allocate_pinned = [](void** memory, std::size_t bytes) {
    return give("allocate_pinned", memory, bytes);
  };
  api.free_pinned = [](void* memory) { return take_back("free_pinned", memory); };
  api.copy = [](void* to, const void* from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
    return call_of("copy");
  };
  api.set = [](void* to, int value, std::size_t bytes) {
    std::memset(to, value, bytes);
    return call_of("set");
  };
  api.allocate_async = [](void** memory, std::size_t bytes, NativeStream) {
    return give("allocate_async", memory, bytes);
  };
  api.free_async = [](void* memory, NativeStream) { return take_back("free_async", memory); };
  api.copy_async = [](void* to, const void* from, std::size_t bytes, NativeStream) {
    std::memcpy(to, from, bytes);
    return call_of("copy_async");
  };
  api.set_async = [](void* to, int value, std::size_t bytes, NativeStream) {
    std::memset(to, value, bytes);
    return call_of("set_async");
  };
}

void fill_stream_functions(RuntimeApi& api) {
  api.create_stream = [](NativeStream* stream) { return give("create_stream", stream, 1); };
  api.destroy_stream = [](NativeStream stream) { return take_back("destroy_stream", stream); };
  api.wait_event = [](NativeStream, NativeEvent) { return call_of("wait_event"); };
  api.host_function = [](NativeStream, void (*function)(void*), void* argument) {
    function(argument);
    return call_of("host_function");
  };
  api.create_event = [](NativeEvent* event) { return give("create_event", event, 1); };
  api.destroy_event = [](NativeEvent event) { return take_back("destroy_event", event); };
  api.record_event = [](NativeEvent, NativeStream) { return call_of("record_event"); };
  api.query_event = [](NativeEvent) { return call_of("query_event"); };
  api.synchronize_event = [](NativeEvent) { return call_of("synchronize_event"); };
  api.elapsed_ms = [](float* ms, NativeEvent, NativeEvent) {
    *ms = the_machine->elapsed_ms;
    return call_of("elapsed_ms");
  };
}

}  // namespace

RuntimeApi fake_runtime(FakeMachine& machine) {
  the_machine = &machine;
  RuntimeApi api;
  fill_device_functions(api);
  fill_memory_functions(api);
  fill_stream_functions(api);
  api.error_name = [](int error) {
    return error == kCudaOutOfMemory ? "cudaErrorMemoryAllocation" : "cudaErrorOther";
  };
  api.error_text = [](int) { return "made by the test"; };
  return api;
}

}  // namespace shardscope::engine::cuda
