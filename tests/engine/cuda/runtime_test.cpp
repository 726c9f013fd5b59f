// Streams, memory and capabilities on CUDA runtimes of the tests' own making: what a machine
// without a GPU, with too old a driver or with too little memory is told.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/cuda/capabilities.hpp"
#include "engine/cuda/cuda_stream.hpp"
#include "engine/cuda/device_memory.hpp"
#include "profiler/clock.hpp"
#include "tests/engine/cuda/fake_runtime.hpp"

namespace shardscope::engine::cuda {
namespace {

using ::testing::HasSubstr;

TEST(CudaStream, RunsTasksInOrderAndGivesEverythingBack) {
  FakeMachine machine;
  const RuntimeApi runtime = fake_runtime(machine);
  std::vector<int> order;
  {
    auto stream = CudaStream::create(runtime, 0, "rank 0", HostTasks::queued);
    ASSERT_TRUE(stream) << to_string(stream.error());
    for (int n = 0; n < 3000; ++n) (*stream)->enqueue([&order, n] { order.push_back(n); });
    (*stream)->synchronize((*stream)->record());
    EXPECT_TRUE((*stream)->status());
  }
  EXPECT_EQ(order.size(), 3000U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(machine.open, 0);
}

TEST(CudaStream, RunsTasksOnTheCallingThreadOnceItIsIdle) {
  FakeMachine machine;
  const RuntimeApi runtime = fake_runtime(machine);
  auto stream = CudaStream::create(runtime, 0, "rank 0", HostTasks::inline_);
  ASSERT_TRUE(stream);
  const int waits = machine.calls["synchronize_event"];
  bool ran = false;
  (*stream)->enqueue([&ran] { ran = true; });
  EXPECT_TRUE(ran);
  EXPECT_EQ(machine.calls["host_function"], 0);
  EXPECT_EQ(machine.calls["synchronize_event"], waits + 1);
}

TEST(CudaStream, MarksMomentsByItsEventsAndGivesThemBack) {
  FakeMachine machine;
  machine.elapsed_ms = 2.5F;
  const RuntimeApi runtime = fake_runtime(machine);
  {
    const std::int64_t before_ns = steady_ns();
    auto stream = CudaStream::create(runtime, 0, "rank 0", HostTasks::queued);
    ASSERT_TRUE(stream);
    Moment first;
    Moment second;
    (*stream)->mark(&first);
    (*stream)->mark(&second);
    EXPECT_EQ(first.ns, 0) << "the clock is read behind the block";
    (*stream)->resolve_marks();
    EXPECT_GE(first.ns, before_ns + 2'500'000);
    EXPECT_LE(first.ns, steady_ns() + 2'500'000);
    EXPECT_EQ(first.busy_ns, first.ns);
    EXPECT_EQ(second.ns, first.ns);
    const int made = machine.calls["create_event"];
    (*stream)->mark(&first);
    EXPECT_EQ(machine.calls["create_event"], made) << "events are used again";
  }
  EXPECT_EQ(machine.open, 0);
}

TEST(CudaStream, UploadsMoreThanItsPinnedMemoryHolds) {
  FakeMachine machine;
  const RuntimeApi runtime = fake_runtime(machine);
  auto stream = CudaStream::create(runtime, 0, "rank 0", HostTasks::queued);
  ASSERT_TRUE(stream);
  std::vector<std::uint8_t> from(static_cast<std::size_t>(kUploadBytes) + 12345);
  for (std::size_t n = 0; n < from.size(); ++n) from[n] = static_cast<std::uint8_t>(n * 7 / 3);
  std::vector<std::uint8_t> to(from.size());
  for (int round = 0; round < 3; ++round) {
    std::fill(to.begin(), to.end(), std::uint8_t{0});
    (*stream)->upload(to.data(), from.data(), static_cast<std::int64_t>(from.size()));
    EXPECT_TRUE(from == to);
  }
  EXPECT_GT(machine.calls["synchronize_event"], 0) << "pinned memory was reused without a wait";
}

TEST(CudaStream, WaitsForAnotherStreamsEvents) {
  FakeMachine machine;
  const RuntimeApi runtime = fake_runtime(machine);
  auto first = CudaStream::create(runtime, 0, "rank 0", HostTasks::queued);
  auto second = CudaStream::create(runtime, 0, "rank 0", HostTasks::queued);
  ASSERT_TRUE(first && second);
  (*second)->wait((*first)->record());
  EXPECT_EQ(machine.calls["wait_event"], 1);
  (*second)->wait((*second)->record());
  (*second)->wait(Event{});
  EXPECT_EQ(machine.calls["wait_event"], 1) << "order within a stream needs no event";
}

TEST(CudaStream, KeepsTheFirstFailureWithTheCallAndThePlace) {
  FakeMachine machine;
  const RuntimeApi runtime = fake_runtime(machine);
  auto stream = CudaStream::create(runtime, 0, "rank 3, GPU 0", HostTasks::queued);
  ASSERT_TRUE(stream);
  machine.errors["allocate_async"] = kCudaOutOfMemory;
  EXPECT_EQ((*stream)->temporary(100), nullptr);
  machine.errors["record_event"] = 700;
  static_cast<void>((*stream)->record());
  const Status status = (*stream)->status();
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().what, HasSubstr("cudaMallocAsync failed with cudaErrorMemory"));
  EXPECT_EQ(status.error().place, "rank 3, GPU 0");
}

TEST(CudaStream, CannotBeMadeWithoutADriver) {
  FakeMachine machine;
  machine.errors["set_device"] = kCudaDriverTooOld;
  const RuntimeApi runtime = fake_runtime(machine);
  const auto stream = CudaStream::create(runtime, 0, "rank 0", HostTasks::queued);
  ASSERT_FALSE(stream);
  EXPECT_THAT(stream.error().what, HasSubstr("cudaSetDevice"));
  EXPECT_THAT(stream.error().cure, HasSubstr("--backend cpu"));
  EXPECT_EQ(machine.open, 0);
}

TEST(CudaMemory, SaysWhatWasAskedAndWhatIsFree) {
  FakeMachine machine;
  const RuntimeApi runtime = fake_runtime(machine);
  const auto refused =
      DeviceMemory::allocate(runtime, 0, std::int64_t{3} << 30, "arena of rank 2: weights 2.9 GiB");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::infeasible);
  EXPECT_THAT(refused.error().what, HasSubstr("3.000 GiB asked, 1.000 GiB free on GPU 0"));
  EXPECT_THAT(refused.error().place, HasSubstr("arena of rank 2: weights 2.9 GiB"));

  machine.errors["allocate"] = kCudaOutOfMemory;
  const auto failed = DeviceMemory::allocate(runtime, 0, 1 << 20, "arena of rank 2");
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().what, HasSubstr("0.001 GiB asked"));
  EXPECT_EQ(machine.open, 0);
}

TEST(CudaMemory, GoesBackWithItsOwner) {
  FakeMachine machine;
  const RuntimeApi runtime = fake_runtime(machine);
  {
    auto memory = DeviceMemory::allocate(runtime, 0, 1000, "arena");
    ASSERT_TRUE(memory);
    const DeviceMemory moved = std::move(*memory);
    EXPECT_EQ(moved.bytes(), 1000);
    EXPECT_EQ(machine.open, 1);
  }
  EXPECT_EQ(machine.open, 0);
}

GpuCapability capability(FakeMachine& machine, const std::string& name) {
  PluginTable table;
  table.build_id = "1234";
  table.architectures = "sm_90";
  table.runtime = fake_runtime(machine);
  const std::vector<GpuCapability> all = gpu_capabilities_of(&table);
  const auto found = std::find_if(all.begin(), all.end(), [&](const GpuCapability& candidate) {
    return candidate.name == name;
  });
  return found == all.end() ? GpuCapability{"missing"} : *found;
}

TEST(CudaCapabilities, ListGpusWithTheirNames) {
  FakeMachine machine;
  machine.devices = 2;
  EXPECT_TRUE(capability(machine, "GPU").available);
  EXPECT_EQ(capability(machine, "GPU").finding, "2 (Fake, Fake), driver for CUDA 13.0");
  EXPECT_TRUE(capability(machine, "several GPUs").available);
  EXPECT_TRUE(capability(machine, "peer access").available);
  machine.peers = false;
  EXPECT_FALSE(capability(machine, "peer access").available);
}

TEST(CudaCapabilities, SayThatThereIsNoDriver) {
  FakeMachine machine;
  machine.device_count_error = kCudaDriverTooOld;
  machine.driver = 0;
  const GpuCapability gpu = capability(machine, "GPU");
  EXPECT_FALSE(gpu.available);
  EXPECT_EQ(gpu.finding, "no NVIDIA driver is loaded");
  EXPECT_FALSE(capability(machine, "several GPUs").available);
}

TEST(CudaCapabilities, SayThatTheDriverIsOlderThanTheToolkit) {
  FakeMachine machine;
  machine.device_count_error = kCudaDriverTooOld;
  machine.driver = 12040;
  const GpuCapability gpu = capability(machine, "GPU");
  EXPECT_EQ(gpu.finding, "the driver is for CUDA 12.4, the plugin was built with 13.0");
  EXPECT_EQ(gpu.help, "Update the driver to one for CUDA 13.0.");
}

TEST(CudaCapabilities, SayThatNoGpuIsVisible) {
  FakeMachine machine;
  machine.device_count_error = kCudaNoDevice;
  EXPECT_FALSE(capability(machine, "GPU").available);
  EXPECT_THAT(capability(machine, "GPU").help, HasSubstr("CUDA_VISIBLE_DEVICES"));
}

TEST(CudaCapabilities, AreAnsweredWithoutAPlugin) {
  const Error none{ErrorKind::usage, "this build has no CUDA device", "", "", "Build it"};
  const auto all = gpu_capabilities_of(fail(none));
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].finding, none.what);
  EXPECT_EQ(all[1].name, "NCCL");
  EXPECT_EQ(all[2].name, "cuBLAS");
  EXPECT_EQ(all[3].name, "CUPTI");
}

}  // namespace
}  // namespace shardscope::engine::cuda
