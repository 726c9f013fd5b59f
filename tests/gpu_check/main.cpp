// The packed check: the tests of the cuda device on a GPU instead of in the harness, and its speed.
//   gpu_check --list             the checks
//   gpu_check CHECK              runs one; exit code 0: passed, 1: failed, 2: no GPU
//   gpu_check --rehearse CHECK   the same in the harness, without a GPU
//   gpu_check --step [--cupti]   milliseconds of a step, for the check of what tracing costs

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "engine/cuda/cublas_api.hpp"
#include "engine/cuda/cuda_device.hpp"
#include "engine/cuda/host/block.hpp"
#include "engine/cuda/host/ops.hpp"
#include "engine/cuda/plugin.hpp"
#include "tests/engine/cuda/device_under_test.hpp"
#include "tests/engine/cuda/emulated_gpu.hpp"
#include "tests/engine/cuda/fake_cublas.hpp"
#include "tests/gpu_check/benchmarks/benchmarks.hpp"
#include "tests/gpu_check/gpu_heap.hpp"
#include "tests/gpu_check/tracing.hpp"

namespace shardscope::engine::testing {
namespace {

constexpr std::size_t kHeapBytes = std::size_t{1} << 30;
constexpr std::size_t kStackBytes = std::size_t{16} << 20;
constexpr int kNoGpu = 2;

struct Check {
  const char* name;
  const char* filter;       ///< of the tests; null: not a test
  bool whole_runs = false;  ///< the engine's own memory: kernels reach nothing of the host's
};

constexpr const char* kTracing = "tracing";

constexpr Check kChecks[] = {
    {"assembly", "CudaAssembly.*"},
    {"lookups", "CudaGather*:CudaCopyColumns.*:CudaSumColumns.*"},
    {"indices", "CudaBucketize.*:CudaGroupIds.*:CudaDedup.*:CudaSortIndex.*"},
    {"gradients", "CudaSegmentReduce.*:CudaSquareSum.*:CudaOptimizerUpdate.*"},
    {"codecs", "CudaCodec.*"},
    {"dense", "CudaDense.*", true},
    {"invariance", "CudaInvariance.*", true},
    {"benchmarks", nullptr},
    {kTracing, nullptr},
};

std::shared_ptr<Device> chosen_device;
std::shared_ptr<Device> device_with_graphs;
DenseUnderTest chosen_dense;
cuda::CodecOps* (*chosen_codecs)() = cuda::make_codec_ops;

/// Whole runs are held to the device's memory, kernels are called on the tests' vectors.
std::shared_ptr<Device> emulated_device(bool whole_runs) {
  chosen_dense = {&cuda::emulated_plugin(), &cuda::fake_cublas_api()};
  if (whole_runs) device_with_graphs = cuda::make_emulated_device(1, /*graphs=*/true);
  static const cuda::PluginTable unchecked = [] {
    cuda::PluginTable plugin = cuda::emulated_plugin();
    plugin.make_ops = cuda::make_host_cuda_ops;
    return plugin;
  }();
  return *cuda::CudaDevice::create(whole_runs ? cuda::emulated_plugin() : unchecked);
}

struct TestRun {
  std::vector<char*> arguments;
  int result = 1;
};

void* run_tests(void* given) {
  auto& run = *static_cast<TestRun*>(given);
  int count = static_cast<int>(run.arguments.size());
  ::testing::InitGoogleTest(&count, run.arguments.data());
  run.result = RUN_ALL_TESTS();
  return nullptr;
}

/// The tests on a thread whose stack the GPU reaches.
int run_filtered(std::string filter) {
  filter = "--gtest_filter=" + filter;
  std::string program = "gpu_check";
  TestRun run{{program.data(), filter.data()}};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  std::byte* stack = take_stack(kStackBytes);  // null without the GPU's heap
  if (stack != nullptr) pthread_attr_setstack(&attributes, stack, kStackBytes);
  pthread_t thread{};
  if (pthread_create(&thread, &attributes, run_tests, &run) != 0) return 1;
  pthread_join(thread, nullptr);
  return run.result;
}

int no_gpu(const Error& error) {
  fmt::print("  no GPU: {}\n", to_string(error));
  return kNoGpu;
}

int run_check(const Check& check, bool rehearse) {
  if (rehearse) {
    if (check.filter == nullptr) {
      fmt::print("  speed needs a GPU\n");
      return kNoGpu;
    }
    if (check.whole_runs) {
      chosen_device = emulated_device(true);
      return run_filtered(check.filter);
    }
    auto* heap = static_cast<std::byte*>(std::malloc(kHeapBytes));
    if (heap == nullptr) return 1;
    set_heap(heap, kHeapBytes);
    chosen_device = emulated_device(false);
    return run_filtered(check.filter);
  }
  const Result<const cuda::PluginTable*> plugin = cuda::cuda_plugin();
  if (!plugin) return no_gpu(plugin.error());
  auto device = cuda::CudaDevice::create(**plugin);
  if (!device) return no_gpu(device.error());
  if (std::string_view(check.name) == kTracing) return compare_tracing() ? 0 : 1;
  if (check.filter == nullptr) return run_benchmarks(**plugin) ? 0 : 1;
  if (check.whole_runs) {
    chosen_device = std::move(*device);
    cuda::CudaDeviceConfig with_graphs;
    with_graphs.graphs = true;
    device_with_graphs = *cuda::CudaDevice::create(**plugin, std::move(with_graphs));
    const Result<const cuda::CublasApi*> cublas = cuda::cublas_api();
    if (!cublas) fmt::print("  {}\n", to_string(cublas.error()));
    chosen_dense = {*plugin, cublas ? *cublas : nullptr};
    return run_filtered(check.filter);
  }
  void* heap = nullptr;
  if (const int error = (*plugin)->runtime.allocate_pinned(&heap, kHeapBytes); error != 0) {
    return no_gpu(cuda::runtime_error((*plugin)->runtime, error, "cudaMallocHost", ""));
  }
  set_heap(static_cast<std::byte*>(heap), kHeapBytes);
  chosen_device = std::move(*device);
  chosen_codecs = (*plugin)->make_codec_ops;
  return run_filtered(check.filter);
}

int run(const std::vector<std::string>& arguments) {
  const bool rehearse = !arguments.empty() && arguments[0] == "--rehearse";
  const std::string name = arguments.size() > (rehearse ? 1U : 0U) ? arguments.back() : "";
  if (name == "--list") {
    for (const Check& check : kChecks) fmt::print("{}\n", check.name);
    return 0;
  }
  if (!arguments.empty() && arguments[0] == "--step") return print_step(arguments.size() > 1);
  for (const Check& check : kChecks) {
    if (name == check.name) return run_check(check, rehearse);
  }
  fmt::print(stderr, "usage: gpu_check --list | [--rehearse] CHECK\n");
  return 1;
}

}  // namespace

std::shared_ptr<Device> device_under_test() {
  return chosen_device;
}

std::shared_ptr<Device> pipeline_device(CommKind comm, bool graphs) {
  if (comm != CommKind::loopback) return nullptr;
  return graphs ? device_with_graphs : chosen_device;
}

DenseUnderTest dense_under_test() {
  return chosen_dense;
}

void defer_streams(bool /*deferred*/) {}

std::shared_ptr<cuda::CodecOps> codec_ops_under_test() {
  return std::shared_ptr<cuda::CodecOps>(chosen_codecs());
}

void vary_order(std::uint64_t seed) {
  cuda::host::set_order_seed(seed);
}

}  // namespace shardscope::engine::testing

int main(int argc, char** argv) {
  const int result = shardscope::engine::testing::run({argv + 1, argv + argc});
  // No destructor runs: they would free memory of the GPU's heap that is gone by then.
  std::fflush(stdout);
  std::_Exit(result);
}
