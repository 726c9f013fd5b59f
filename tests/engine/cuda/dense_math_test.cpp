// The dense part's network on a GPU against the same network on the CPU. In test_cuda cuBLAS is a
// fake.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "engine/cuda/cuda_stream.hpp"
#include "tests/engine/cuda/device_under_test.hpp"
#include "tests/engine/dense/dense_cases.hpp"

namespace shardscope::engine::cuda {
namespace {

/// CUBLAS_COMPUTE_32F: every bit of the factors counts.
constexpr int kComputeFp32 = 68;

const PluginTable& plugin() {
  return *testing::dense_under_test().plugin;
}

/// A network in a GPU's memory, and the stream it computes on.
class GpuNetwork {
 public:
  GpuNetwork(const Workload& workload, std::int64_t samples, int compute)
      : workload_(workload), sizes_(dense_sizes(workload, samples)) {
    stream_ = *CudaStream::create(plugin().runtime, 0, "test", HostTasks::queued);
    workspace_ = take(kCublasWorkspaceBytes);
    const CublasApi& api = *testing::dense_under_test().cublas;
    use_ = {&api, nullptr, compute};
    EXPECT_EQ(api.create(&use_.handle), kCublasSuccess);
    api.set_stream(use_.handle, stream_->native());
    api.set_workspace(use_.handle, workspace_, kCublasWorkspaceBytes);
    math_.reset(plugin().make_dense_math(*stream_, use_));
    network_ = *DenseNetwork::create(
        workload, samples,
        {take(sizes_.parameter_bytes), take(sizes_.gradient_bytes), take(sizes_.state_bytes),
         take(sizes_.activation_bytes), take(sizes_.scratch_bytes)});
    network_.initialise(1);
    loss_ = reinterpret_cast<double*>(take(sizeof(double)));
  }
  ~GpuNetwork() {
    math_.reset();
    use_.api->destroy(use_.handle);
    stream_.reset();
    for (void* memory : memory_) plugin().runtime.free(memory);
  }
  GpuNetwork(const GpuNetwork&) = delete;
  GpuNetwork& operator=(const GpuNetwork&) = delete;

  /// Forward, backward and update of a batch.
  void run(const testing::DenseBatch& batch, std::int64_t step) {
    const std::int64_t width = interaction_width(workload_);
    for (std::int64_t s = 0; s < batch.samples; ++s) {
      std::copy_n(batch.embeddings.data() + s * width, width,
                  network_.embeddings() + s * network_.input_stride());
    }
    const float* dense = on_gpu(batch.dense);
    const float* labels = on_gpu(batch.labels);
    network_.forward_bottom(*math_, dense, batch.samples);
    network_.forward_top(*math_, batch.samples);
    network_.loss_sum(*math_, labels, batch.samples, loss_);
    network_.backward_top(*math_, labels, batch.samples, workload_.global_batch);
    network_.backward_bottom(*math_, dense, batch.samples);
    network_.update(*math_, step);
    stream_->synchronize(stream_->record());
    const Status status = stream_->status();
    EXPECT_TRUE(status) << to_string(status.error());
  }

  [[nodiscard]] const DenseNetwork& network() const { return network_; }
  [[nodiscard]] double loss() const { return *loss_; }

 private:
  float* take(std::int64_t bytes) {
    void* memory = nullptr;
    EXPECT_EQ(plugin().runtime.allocate(&memory, static_cast<std::size_t>(bytes), 0), 0);
    memory_.push_back(memory);
    return static_cast<float*>(memory);
  }
  const float* on_gpu(const std::vector<float>& values) {
    float* at = take(static_cast<std::int64_t>(values.size()) * 4);
    std::copy(values.begin(), values.end(), at);
    return at;
  }

  Workload workload_;
  DenseSizes sizes_;
  std::vector<void*> memory_;
  std::unique_ptr<CudaStream> stream_;
  void* workspace_ = nullptr;
  CublasUse use_;
  std::unique_ptr<DenseMath> math_;
  DenseNetwork network_;
  double* loss_ = nullptr;
};

/// Largest difference as a share of the largest value.
double difference(const float* a, const float* b, std::int64_t count) {
  double most = 0;
  double scale = 1e-30;
  for (std::int64_t n = 0; n < count; ++n) {
    most = std::max(most, static_cast<double>(std::abs(a[n] - b[n])));
    scale = std::max(scale, static_cast<double>(std::abs(b[n])));
  }
  return std::isfinite(most) ? most / scale : 1;
}

std::vector<Workload> dense_shapes() {
  std::vector<Workload> all;
  for (const Interaction interaction :
       {Interaction::concat, Interaction::dot, Interaction::dcnv2}) {
    Workload workload = testing::dense_workload(interaction);
    workload.dense.optimizer = make_optimizer(OptimizerKind::sgd, 0.1);
    all.push_back(workload);
    workload.dense.bottom_mlp = {};
    workload.dense.dense_features = interaction == Interaction::dot ? 6 : 4;
    all.push_back(workload);
    workload.dense.dense_features = 0;
    all.push_back(workload);
  }
  return all;
}

std::string describe(const Workload& workload, std::int64_t samples) {
  return std::string(to_string(workload.dense.interaction)) + ", " +
         std::to_string(workload.dense.bottom_mlp.size()) + " bottom layers, " +
         std::to_string(workload.dense.dense_features) + " dense features, " +
         std::to_string(samples) + " samples";
}

/// Logits and loss of a batch that both networks have seen.
void expect_outputs_close(const GpuNetwork& gpu, DenseNetwork& cpu,
                          const testing::DenseBatch& batch, double bound) {
  double loss = 0;
  cpu.loss_sum(cpu_dense_math(), batch.labels.data(), batch.samples, &loss);
  EXPECT_NEAR(gpu.loss(), loss, bound * std::max(loss, 1.0));
  EXPECT_LE(difference(gpu.network().logits(), cpu.logits(), batch.samples), bound);
}

/// Every value that leaves the dense part, and its parameters after two steps.
void expect_close(const Workload& workload, std::int64_t samples, double bound) {
  SCOPED_TRACE(describe(workload, samples));
  testing::OwnedNetwork cpu(workload, samples);
  GpuNetwork gpu(workload, samples, kComputeFp32);
  const std::int64_t parameters = cpu->parameter_count();
  for (std::int64_t step = 1; step <= 2; ++step) {
    const testing::DenseBatch batch(workload, samples, static_cast<std::uint64_t>(step));
    testing::run_step(*cpu, batch, workload.global_batch);
    gpu.run(batch, step);
    expect_outputs_close(gpu, *cpu, batch, bound);
    for (std::int64_t s = 0; s < samples; ++s) {
      const std::int64_t at = s * cpu->input_stride();
      ASSERT_LE(difference(gpu.network().embedding_gradients() + at,
                           cpu->embedding_gradients() + at, interaction_width(workload)),
                2 * bound);
    }
    EXPECT_LE(difference(gpu.network().gradients(), cpu->gradients(), parameters), 2 * bound);
    cpu->update(cpu_dense_math(), step);
  }
  EXPECT_LE(difference(gpu.network().parameters(), cpu->parameters(), parameters), 4 * bound);
}

TEST(CudaDense, IsTheCpusNetworkWhereProductsAreExact) {
  if (testing::dense_under_test().cublas == nullptr) GTEST_SKIP() << "no cuBLAS here";
  for (const Workload& workload : dense_shapes()) {
    expect_close(workload, 70, 1e-5);
    expect_close(workload, 0, 0);
  }
}

TEST(CudaDense, RoundsNoMoreThanItsPrecision) {
  if (testing::dense_under_test().cublas == nullptr) GTEST_SKIP() << "no cuBLAS here";
  // A logit comes through at most ten products, each of two factors that are rounded by half a unit
  // in the last place (2^-12 tf32, 2^-9 bf16); twice that for what cancels in their sums.
  constexpr std::int64_t kSamples = 9;
  for (const auto& [compute, unit] :
       {std::pair(kCublasComputeTf32, 0x1p-12), std::pair(kCublasComputeBf16, 0x1p-9)}) {
    for (const Workload& workload : dense_shapes()) {
      SCOPED_TRACE(describe(workload, kSamples));
      testing::OwnedNetwork cpu(workload, kSamples);
      GpuNetwork gpu(workload, kSamples, compute);
      const testing::DenseBatch batch(workload, kSamples, 3);
      testing::run_step(*cpu, batch, workload.global_batch);
      gpu.run(batch, 1);
      expect_outputs_close(gpu, *cpu, batch, 2 * 10 * 2 * unit);
    }
  }
}

}  // namespace
}  // namespace shardscope::engine::cuda
