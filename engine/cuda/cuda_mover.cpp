#include "engine/cuda/cuda_mover.hpp"

#include <utility>

#include "engine/cuda/chunk_sum.hpp"

namespace shardscope::engine::cuda {

Status CudaMover::open() {
  if (stream_ != nullptr) return {};
  auto sums = DeviceMemory::allocate(runtime_, gpu_, kSumScratchBytes, "sums of an exchange");
  if (!sums) return fail(sums.error());
  sums_ = std::move(*sums);
  auto stream = CudaStream::create(runtime_, gpu_, "exchanges on one GPU", HostTasks::inline_);
  if (!stream) return fail(stream.error());
  stream_ = std::move(*stream);
  return {};
}

Status CudaMover::copy(std::byte* to, const std::byte* from, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (Status status = open(); !status) return status;
  stream_->check(runtime_.copy_async(to, from, static_cast<std::size_t>(bytes), stream_->native()),
                 "cudaMemcpyAsync");
  stream_->synchronize(stream_->record());
  return stream_->status();
}

Status CudaMover::sum(std::byte* out, const std::byte* const* parts, std::int32_t parts_count,
                      std::int64_t elements, DType dtype) {
  const std::lock_guard lock(mutex_);
  if (Status status = open(); !status) return status;
  ChunkSum work;
  work.fill(out, {parts, parts + parts_count}, elements, dtype,
            reinterpret_cast<float*>(sums_.data()));
  ops_.sum_columns(*stream_, work.calls);
  stream_->synchronize(stream_->record());
  return stream_->status();
}

}  // namespace shardscope::engine::cuda
