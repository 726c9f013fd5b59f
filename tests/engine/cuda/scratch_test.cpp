#include "engine/cuda/scratch_bytes.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "engine/cuda/cublas_api.hpp"
#include "engine/cuda/cuda_stream.hpp"
#include "engine/cuda/host/ops.hpp"
#include "tests/engine/cuda/emulated_gpu.hpp"

namespace shardscope::engine::cuda {
namespace {

/// Scratch of a rank that sorts so many occurrences.
std::int64_t bytes_for(std::int64_t occurrences) {
  const std::vector<BufferSpec> buffers = {
      {"rb.index.sorted_gradient_row[0]", BufferPurpose::sort, 0, occurrences},
      {"rb.index.sorted_gradient_row[1]", BufferPurpose::sort, 0, 3 * occurrences},
      {"ub.index.sorted_gradient_row[0]", BufferPurpose::sort, 1, 3 * occurrences},
      {"rb.wgrad[0,0]", BufferPurpose::wgrad, 0, 1 << 20}};
  return device_scratch_bytes({}, buffers, false, false);
}

TEST(DeviceScratch, HoldsWhatASortTakesAndNotTwiceThat) {
  constexpr std::int64_t kCount = 60000;
  std::vector<std::int64_t> rows(kCount), unique(kCount);
  for (std::int64_t n = 0; n < kCount; ++n) rows[static_cast<std::size_t>(n)] = n * 7919 % kCount;
  std::vector<std::uint32_t> offsets(kCount + 1), sorted(kCount);
  std::int64_t found = 0;
  SortIndex call;
  call.count = kCount;
  call.rows = rows.data();
  call.key = KeyType::i64;
  call.row_limit = std::int64_t{1} << 40;
  call.unique_rows = unique.data();
  call.offsets = offsets.data();
  call.sorted_gradient_row = sorted.data();
  call.unique_count = &found;
  const auto stream = *CudaStream::create(emulated_plugin().runtime, 0, "test", HostTasks::queued);
  const std::unique_ptr<Ops> ops(make_host_cuda_ops());
  static_cast<void>(emulated_temporary_peak());
  ops->sort_index(*stream, {&call, 1});
  stream->synchronize(stream->record());
  const std::int64_t peak = emulated_temporary_peak();
  EXPECT_EQ(found, kCount);
  const std::int64_t counted = bytes_for(kCount) - bytes_for(0);
  EXPECT_GE(counted, peak);
  EXPECT_LE(counted, 2 * peak);
}

TEST(DeviceScratch, HasAWorkspaceWhereADensePartIsComputedThere) {
  Workload workload;
  workload.dense.interaction = Interaction::dot;
  const std::int64_t without = device_scratch_bytes(workload, {}, false, false);
  EXPECT_GE(device_scratch_bytes(workload, {}, true, false), without + kCublasWorkspaceBytes);
  EXPECT_GT(device_scratch_bytes(workload, {}, false, true), without);
  workload.dense.interaction = Interaction::none;
  EXPECT_EQ(device_scratch_bytes(workload, {}, true, false), without);
}

}  // namespace
}  // namespace shardscope::engine::cuda
