// The commands with --backend cuda on emulated GPUs, from options to the session's tables: what
// runs, what is traced, and what becomes of it when the world fails.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <thread>

#include "app/gpu_trace.hpp"
#include "app/jobs/compare_job.hpp"
#include "app/jobs/profile_job.hpp"
#include "app/jobs/train_job.hpp"
#include "app/run_setup.hpp"
#include "engine/cuda/capabilities.hpp"
#include "storage/nsys/export.hpp"
#include "storage/session_state.hpp"
#include "tests/engine/cuda/command_cases.hpp"
#include "tests/engine/cuda/emulated_gpu.hpp"
#include "tests/engine/cuda/fake_nccl.hpp"
#include "tests/engine/cuda/nsys_reports.hpp"
#include "tests/profiler/fake_cupti.hpp"
#include "tests/temp_directory.hpp"

namespace shardscope::app {
namespace {

using ::testing::HasSubstr;

class GpuCommand : public ::testing::Test {
 protected:
  GpuCommand() { cupti::fake_cupti() = &cupti_; }
  ~GpuCommand() override {
    for (const char* call : {"allocate", "device_count"}) {
      engine::cuda::set_emulated_error(call, engine::cuda::kCudaSuccess);
    }
    engine::cuda::set_emulated_memory(std::int64_t{64} << 30);
    engine::cuda::fake_nccl_faults().failing_rank = -1;
    engine::cuda::fake_nccl_faults().hanging_rank = -1;
    cupti::fake_cupti() = nullptr;
  }

  std::unique_ptr<OpenSession> open_session() {
    return OpenSession::open(directory_.file("a.shardscope"), "profile").value();
  }

  /// `profile` as the command runs it; with a trace as its second process does.
  Result<Profiled> profile(const RunOptions& options, OpenSession& session, bool traced = false) {
    std::unique_ptr<GpuTrace> trace;
    if (traced) trace = GpuTrace::start(options, inputs_.topology);
    if (trace != nullptr && trace->refusal()) refusal_ = to_string(*trace->refusal());
    const bool records = trace != nullptr && !trace->refusal();
    auto engine =
        make_engine(options, inputs_, mixed_layout(inputs_), records ? trace->tracer() : nullptr);
    if (!engine) return fail(engine.error());
    return run_profile(**engine, options, inputs_, mixed_layout(inputs_), session, watch_,
                       records ? trace.get() : nullptr);
  }

  test::TempDirectory directory_;
  cupti::FakeCupti cupti_;
  Inputs inputs_ = small_inputs(2);
  PatientWatch watch_;
  std::string refusal_;
};

TEST_F(GpuCommand, ProfilesOnOneGpuAndOnSeveral) {
  const auto session = open_session();
  for (const char* comm : {"loopback", "nccl"}) {
    const Result<Profiled> done = profile(cuda_options(comm), *session);
    ASSERT_TRUE(done) << comm << ": " << to_string(done.error());
    EXPECT_EQ(done->mode, std::string(comm) == "nccl" ? Mode::measured : Mode::emulated);
    EXPECT_GT(done->outcome.iteration_ms, 0);
    EXPECT_GT(done->outcome.traced_iterations, 0);
    EXPECT_EQ(done->memory_bytes.size(), 2U);
  }
}

TEST_F(GpuCommand, GivesTheGpuBackWithTheEngine) {
  const int open = engine::cuda::emulated_open();
  {
    const auto engine = make_engine(cuda_options("nccl"), inputs_, mixed_layout(inputs_));
    ASSERT_TRUE(engine) << to_string(engine.error());
    ASSERT_TRUE((*engine)->run(3, nullptr));
  }
  EXPECT_EQ(engine::cuda::emulated_open(), open);
}

TEST_F(GpuCommand, ComparesTrainsAndMovesToAnotherLayout) {
  const auto session = open_session();
  const Layout a = mixed_layout(inputs_);
  const Layout b = load_layout("table_row_wise", inputs_).value();
  for (const char* comm : {"loopback", "nccl"}) {
    RunOptions options = cuda_options(comm);
    const TrainJob train{options, inputs_, a, 3, 1};
    const Result<Trained> trained = run_training(train, *session, watch_);
    ASSERT_TRUE(trained) << comm << ": " << to_string(trained.error());
    EXPECT_EQ(trained->curve.size(), 2U);
    const auto engine = make_engine(options, inputs_, a);
    ASSERT_TRUE(engine);
    ASSERT_TRUE((*engine)->run(2, nullptr));
    const std::vector<float> before = (*engine)->weights(1);
    ASSERT_TRUE((*engine)->apply(b));
    EXPECT_EQ((*engine)->weights(1), before);
    ASSERT_TRUE((*engine)->run(1, nullptr));
    EXPECT_NE((*engine)->weights(1), before);
  }
  RunOptions options = cuda_options("loopback");
  options.iterations = 16;
  options.budget_s = 60;  // the iterations end it, however slow the machine
  const Result<Compared> compared = run_comparison({options, 0.5, inputs_, a, b}, *session, watch_);
  ASSERT_TRUE(compared) << to_string(compared.error());
  EXPECT_EQ(compared->mode, Mode::emulated);
}

TEST_F(GpuCommand, ATraceHasWhatEveryStageLaunchedAndNoThroughput) {
  cupti_.records_work = true;
  const auto session = open_session();
  const Result<Profiled> done = profile(cuda_options("loopback"), *session, /*traced=*/true);
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_TRUE(done->gpu_traced);
  EXPECT_TRUE(cupti_.enabled.empty());
  const std::string path = directory_.file("run.sqlite");
  ASSERT_TRUE(storage::nsys::export_run(session->session(), done->run, path));
  const NsysReports reports(path);
  const std::int64_t kernels = reports.number("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL");
  EXPECT_GT(kernels, 0);
  EXPECT_EQ(reports.number("SELECT count(*) FROM TARGET_INFO_GPU WHERE name = 'emulated 0'"), 1);
  // The reports users know: kernels by time, memory by direction, calls, ranges.
  EXPECT_THAT(reports.top_kernels(),
              ::testing::ElementsAre(HasSubstr("gather|100.0|" + std::to_string(kernels * 1000))));
  EXPECT_THAT(
      reports.memory_by_direction(),
      ::testing::ElementsAre("Host-to-Device|" + std::to_string(kernels) + "|" +
                             std::to_string(kernels * 100) + "|" + std::to_string(kernels * 4096)));
  EXPECT_THAT(reports.calls(), ::testing::ElementsAre("cudaLaunchKernel_v7000|" +
                                                      std::to_string(kernels) + "|500.0"));
  EXPECT_THAT(reports.ranges(), ::testing::IsSupersetOf({"input_dist RB", "update UB",
                                                         "model_forward DP", "allreduce dense"}));
  // A traced run's record says that it is no measurement.
  EXPECT_EQ(
      NsysReports(session->path()).number("SELECT count(*) FROM runs WHERE samples_per_s > 0"), 0);
}

TEST_F(GpuCommand, RunsUntracedAndSaysSoWhereAnotherProfilerIsAttached) {
  cupti_.enable_error = cupti::kSubscriberTaken;
  cupti_.failing_kind = static_cast<std::uint32_t>(cupti::RecordKind::concurrent_kernel);
  const auto session = open_session();
  const Result<Profiled> done = profile(cuda_options("loopback"), *session, /*traced=*/true);
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_THAT(refusal_, HasSubstr("another profiler is attached"));
  EXPECT_FALSE(done->gpu_traced);
  EXPECT_GT(done->outcome.samples_per_s, 0);
}

TEST_F(GpuCommand, ADiskThatFillsUpWhileTracingEndsTheRunWithThatError) {
  cupti_.records_work = true;
  const auto session = open_session();
  {
    storage::SessionState& state = session->session().state();
    const std::lock_guard lock(state.mutex);
    ASSERT_TRUE(state.database.integer("PRAGMA max_page_count = 90"));
  }
  RunOptions options = cuda_options("loopback");
  options.iterations = 2000;
  const Result<Profiled> done = profile(options, *session, /*traced=*/true);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().what, HasSubstr("the disk is full"));
}

TEST_F(GpuCommand, OutOfDeviceMemorySaysWhatWasAskedWhatIsFreeAndWhatFor) {
  engine::cuda::set_emulated_error("allocate", engine::cuda::kCudaOutOfMemory);
  const auto engine = make_engine(cuda_options("loopback"), inputs_, mixed_layout(inputs_));
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().kind, ErrorKind::infeasible);
  EXPECT_THAT(engine.error().what, HasSubstr("GiB asked, 64.000 GiB free on GPU 0"));
  EXPECT_THAT(engine.error().place, HasSubstr("arena of rank 0: "));
  EXPECT_THAT(engine.error().place, HasSubstr("weights 0.000 GiB"));
}

TEST_F(GpuCommand, RefusesWhatDoesNotFitTheGpuBeforeItIsAskedFor) {
  engine::cuda::set_emulated_memory(1 << 10);
  const auto engine = make_engine(cuda_options("loopback"), inputs_, mixed_layout(inputs_));
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().kind, ErrorKind::infeasible);
  EXPECT_THAT(engine.error().what, HasSubstr("their GPUs have"));
}

TEST_F(GpuCommand, ALostRankEndsTheRunNamingRankAndStage) {
  const auto engine = make_engine(cuda_options("nccl"), inputs_, mixed_layout(inputs_));
  ASSERT_TRUE(engine) << to_string(engine.error());
  ASSERT_TRUE((*engine)->run(1, nullptr));
  engine::cuda::fake_nccl_faults().hanging_rank = 1;
  std::thread network([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    engine::cuda::fake_nccl_faults().failing_rank = 1;
  });
  const auto block = (*engine)->run(3, nullptr);
  network.join();
  ASSERT_FALSE(block);
  EXPECT_THAT(block.error().what, HasSubstr("on rank 1"));
  EXPECT_THAT(block.error().what, HasSubstr("input_dist"));
}

TEST_F(GpuCommand, SaysWhatDoctorSaysWithoutADriver) {
  engine::cuda::set_emulated_error("device_count", engine::cuda::kCudaDriverTooOld);
  const auto engine = make_engine(cuda_options("loopback"), inputs_, mixed_layout(inputs_));
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().kind, ErrorKind::runtime);
  const auto gpu = engine::cuda::gpu_capability_of(&engine::cuda::emulated_plugin());
  EXPECT_FALSE(gpu.available);
  EXPECT_THAT(engine.error().what, HasSubstr(gpu.finding));
  EXPECT_THAT(engine.error().cure, HasSubstr("--backend cpu"));
}

TEST_F(GpuCommand, RefusesMoreRanksThanGpusForNcclAndThreadsForGpus) {
  const Inputs nine = small_inputs(9);
  const auto many = make_engine(cuda_options("nccl"), nine, mixed_layout(nine));
  ASSERT_FALSE(many);
  EXPECT_THAT(many.error().what, HasSubstr("9 ranks need 9 GPUs, this run has 8"));
  const auto threads = make_engine(cuda_options("threads"), inputs_, mixed_layout(inputs_));
  ASSERT_FALSE(threads);
  EXPECT_EQ(threads.error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace shardscope::app
