// The small operations around the others.

#include "engine/cuda/bag_offsets.hpp"
#include "engine/cuda/cuda_ops.hpp"
#include "engine/cuda/kernels/bags.cuh"
#include "engine/cuda/kernels/buffers.cuh"
#include "engine/cuda/lists.hpp"

namespace shardscope::engine::cuda {
namespace {

constexpr std::int64_t kCopyThreadBytes = 16;

template <class Call>
std::vector<const std::int64_t*> offsets_of(Work& work, std::span<const Call> calls) {
  std::vector<BagLengths> lengths;
  for (const Call& call : calls) {
    lengths.push_back({call.lengths, call.lengths == nullptr ? 0 : call.bags});
  }
  return bag_offsets(work, lengths);
}

}  // namespace

void CudaOps::copy_bytes(Stream& stream, std::span<const CopyBytes> calls) {
  launch_list(stream, calls, copy_bytes_kernel,
              [](const CopyBytes& call) { return call.bytes / kCopyThreadBytes + 1; });
}

void CudaOps::fill_zero(Stream& stream, std::span<const FillZero> calls) {
  launch_list(stream, calls, fill_zero_kernel,
              [](const FillZero& call) { return call.bytes / kCopyThreadBytes + 1; });
}

void CudaOps::bag_scale(Stream& stream, std::span<const BagScale> calls) {
  launch_list(stream, calls, bag_scale_kernel, [](const BagScale& call) { return call.bags; });
}

void CudaOps::scale_rows(Stream& stream, std::span<const ScaleRows> calls) {
  launch_list(stream, calls, scale_rows_kernel,
              [](const ScaleRows& call) { return row_threads(call.count, call.width, 1); });
}

void CudaOps::mean_bags(Stream& stream, std::span<const MeanBags> calls) {
  if (calls.empty()) return;
  Work work(stream);
  const std::vector<const std::int64_t*> offsets = offsets_of(work, calls);
  std::vector<MeanCall> list;
  std::int64_t threads = 0;
  for (const MeanBags& call : calls) {
    list.push_back({call, offsets[list.size()]});
    threads = std::max(threads, row_threads(call.bags, call.width, 1));
  }
  work.launch(list_grid(threads, list.size()), mean_bags_kernel, work.upload(list));
}

void CudaOps::spread_bags(Stream& stream, std::span<const SpreadBags> calls) {
  if (calls.empty()) return;
  Work work(stream);
  const std::vector<const std::int64_t*> offsets = offsets_of(work, calls);
  std::vector<SpreadCall> list;
  std::int64_t threads = 0;
  for (const SpreadBags& call : calls) {
    list.push_back({call, offsets[list.size()]});
    threads = std::max(threads, row_threads(call.bags, call.width, 1));
  }
  work.launch(list_grid(threads, list.size()), spread_bags_kernel, work.upload(list));
}

void CudaOps::expand_bags(Stream& stream, std::span<const ExpandBags> calls) {
  if (calls.empty()) return;
  Work work(stream);
  const std::vector<const std::int64_t*> offsets = offsets_of(work, calls);
  std::vector<ExpandCall> list;
  std::int64_t threads = 0;
  for (const ExpandBags& call : calls) {
    list.push_back({call, call.lengths == nullptr ? nullptr : offsets[list.size()]});
    threads = std::max(threads, row_threads(call.bags, kBagLanes, 1));
  }
  work.launch(list_grid(threads, list.size()), expand_bags_kernel, work.upload(list));
}

void CudaOps::fill_offsets(Stream& stream, std::span<const FillOffsets> calls) {
  launch_list(stream, calls, fill_offsets_kernel,
              [](const FillOffsets& call) { return call.count; });
}

void CudaOps::scatter_rows(Stream& stream, std::span<const ScatterRows> calls) {
  launch_list(stream, calls, scatter_rows_kernel, [](const ScatterRows&) { return kManyThreads; });
}

void CudaOps::compact_rows(Stream& stream, std::span<const CompactRows> calls) {
  if (calls.empty()) return;
  Work work(stream);
  std::int64_t rows = 0;
  std::int64_t threads = 1;
  for (const CompactRows& call : calls) {
    rows += call.row_count;
    threads = std::max(threads, row_threads(call.row_count, call.width, 1));
  }
  auto* touched = work.scratch<std::int64_t>(rows + 1);
  auto* place = work.scratch<std::int64_t>(rows + 1);
  std::vector<CompactCall> list;
  std::int64_t base = 0;
  for (const CompactRows& call : calls) {
    list.push_back(
        {call, touched + base, place + base, work.scratch<float>(call.row_count * call.width)});
    base += call.row_count;
  }
  work.clear(touched + rows, sizeof(std::int64_t));
  const CompactCall* uploaded = work.upload(list);
  const Grid grid = list_grid(threads, list.size());
  work.launch(grid, mark_touched_kernel, uploaded);
  work.exclusive_sum(touched, place, rows + 1);
  work.launch(grid, stage_touched_kernel, uploaded);
  work.launch(grid, unstage_touched_kernel, uploaded);
}

void CudaOps::add_sums(Stream& stream, std::span<const AddSums> calls) {
  launch_list(stream, calls, add_sums_kernel, [](const AddSums&) { return kManyThreads; });
}

void CudaOps::pack_sums(Stream& stream, std::span<const PackSums> calls) {
  if (calls.empty()) return;
  Work work(stream);
  std::vector<PackCall> list;
  for (const PackSums& call : calls) {
    using Counts = std::vector<const std::int64_t*>;
    using Sums = std::vector<const float*>;
    list.push_back(
        {call.lists, work.upload(Counts(call.unique_counts, call.unique_counts + call.lists)),
         work.upload(Sums(call.sums, call.sums + call.lists)), call.message, call.bytes});
  }
  work.launch(list_grid(kManyThreads, list.size()), pack_sums_kernel, work.upload(list));
}

void CudaOps::unpack_sums(Stream& stream, std::span<const UnpackSums> calls) {
  if (calls.empty()) return;
  Work work(stream);
  std::vector<UnpackCall> list;
  for (const UnpackSums& call : calls) {
    using Counts = std::vector<const std::int64_t*>;
    using Sums = std::vector<float*>;
    using Starts = std::vector<std::uint8_t>;
    list.push_back({call.lists,
                    work.upload(Counts(call.unique_counts, call.unique_counts + call.lists)),
                    call.message, work.upload(Sums(call.sums, call.sums + call.lists)),
                    work.upload(Starts(call.starts, call.starts + call.lists))});
  }
  work.launch(list_grid(kManyThreads, list.size()), unpack_sums_kernel, work.upload(list));
}

}  // namespace shardscope::engine::cuda
