#include <algorithm>
#include <cstddef>

#include "engine/cpu/kernels.hpp"

namespace shardscope::engine {
void reduce_update(const ReduceUpdate& call) {
  SegmentReduce reduce = call.reduce;
  OptimizerUpdate update = call.update;
  const std::int64_t width = reduce.width;
  const std::int64_t block_rows = reduce_update_rows(width);
  float* squares = call.scratch + block_rows * width;
  const std::int64_t unique = *call.reduce.unique_count;
  std::int64_t rows = 0;
  reduce.out = call.scratch;
  reduce.unique_count = update.unique_count = &rows;
  update.gradients = call.scratch;
  update.row_square_sum = squares;
  for (std::int64_t first = 0; first < unique; first += rows) {
    rows = std::min(block_rows, unique - first);
    reduce.offsets = call.reduce.offsets + first;
    update.unique_rows = call.update.unique_rows + first;
    segment_reduce(reduce);
    if (update.optimizer.kind == OptimizerKind::rowwise_adagrad) {
      square_sum({&rows, call.scratch, reduce.width, squares});
    }
    optimizer_update(update);
  }
}

}  // namespace shardscope::engine
