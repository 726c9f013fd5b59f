// Reducing gradients and updating rows.

#include <cmath>

#include "engine/cuda/cuda_ops.hpp"
#include "engine/cuda/kernels/reduce.cuh"
#include "engine/cuda/kernels/update.cuh"
#include "engine/cuda/lists.hpp"

namespace shardscope::engine::cuda {
namespace {

/// The constants of one call, computed in double once, as the cpu kernels do.
UpdateCall update_of(const OptimizerUpdate& call, std::int64_t step) {
  UpdateCall update;
  update.call = call;
  update.call.step = step;
  const Optimizer& optimizer = call.optimizer;
  update.rate = static_cast<float>(optimizer.learning_rate);
  update.epsilon = static_cast<float>(optimizer.epsilon);
  update.beta1 = static_cast<float>(optimizer.beta1);
  update.beta2 = static_cast<float>(optimizer.beta2);
  update.gain1 = 1 - update.beta1;
  update.gain2 = 1 - update.beta2;
  update.full_width = static_cast<float>(call.full_width);
  if (optimizer.kind == OptimizerKind::adam) {
    const auto steps = static_cast<double>(step);
    update.correction1 = static_cast<float>(1 / (1 - std::pow(optimizer.beta1, steps)));
    update.correction2 = static_cast<float>(1 / (1 - std::pow(optimizer.beta2, steps)));
  }
  return update;
}

}  // namespace

void CudaOps::segment_reduce(Stream& stream, std::span<const SegmentReduce> calls) {
  if (calls.empty()) return;
  reduce_runs(stream, calls);
  std::vector<SquareSum> squares;
  for (const SegmentReduce& call : calls) {
    if (call.square_sum == nullptr) continue;
    squares.push_back({call.unique_count, call.out, call.width, call.square_sum});
  }
  square_sum(stream, squares);
}

void CudaOps::reduce_runs(Stream& stream, std::span<const SegmentReduce> calls) {
  Work work(stream);
  PieceList list;
  list.capacity = kPieceCapacity;
  std::vector<ReduceCall> reductions;
  for (const SegmentReduce& call : calls) {
    // Rows that start where row_offset says are aligned only if the caller's layout is; a wire
    // message packs rows of many widths, so they are read element by element.
    const bool vector =
        call.row_offset == nullptr && call.width % kVector == 0 &&
        is_vector_aligned(call.gradients, call.stride, bytes_of(call.gradient_type)) &&
        is_vector_aligned(call.out, call.width, sizeof(float));
    reductions.push_back({call, vector});
    list.width = std::max(list.width, call.width);
  }
  list.pieces = work.scratch<RunPiece>(list.capacity);
  list.sums = work.scratch<float>(std::int64_t{list.capacity} * list.width);
  list.wanted = work.scratch<std::int32_t>(1);
  work.clear(list.wanted, sizeof(std::int32_t));
  const ReduceCall* uploaded = work.upload(reductions);
  work.launch(list_grid(kManyThreads, reductions.size()), reduce_runs_kernel, uploaded, list);
  Grid blocks;
  blocks.x = kMostBlocks;
  blocks.threads = kReduceWarps * 32;
  work.launch(blocks, reduce_pieces_kernel, uploaded, list);
  work.launch(blocks, reduce_combine_kernel, uploaded, list);
  blocks.y = static_cast<std::uint32_t>(reductions.size());
  work.launch(blocks, reduce_unlisted_kernel, uploaded, list);
}

void CudaOps::square_sum(Stream& stream, std::span<const SquareSum> calls) {
  launch_list(stream, calls, square_sum_kernel, [](const SquareSum&) { return kManyThreads; });
}

void CudaOps::optimizer_update(Stream& stream, std::span<const OptimizerUpdate> calls,
                               std::int64_t step) {
  if (calls.empty()) return;
  Work work(stream);
  std::vector<UpdateCall> updates;
  for (const OptimizerUpdate& call : calls) updates.push_back(update_of(call, step));
  work.launch(list_grid(kManyThreads, updates.size()), optimizer_update_kernel,
              work.upload(updates));
}

}  // namespace shardscope::engine::cuda
