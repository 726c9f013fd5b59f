#pragma once
// Gradient reduction, robust to hot rows. A run is a distinct row's occurrences. Short runs are
// summed in order by a group of lanes. Longer ones are cut into pieces, each summed by a block
// whose warps take consecutive parts; the pieces of a run are then added in order. The cuts depend
// on the run's length only, so the result does not depend on the order of the blocks.

#include "engine/cuda/kernels/sum_rows.cuh"

namespace shardscope::engine::cuda {

inline constexpr std::int64_t kShortRun = 128;
inline constexpr std::int64_t kPieceOccurrences = 512;

struct ReduceCall {
  SegmentReduce call;
  bool vector = false;
};

/// Part of a long run. The pieces of a run follow each other.
struct RunPiece {
  std::int64_t unique = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int32_t call = 0;
  std::int32_t number = 0;
  std::int32_t pieces = 0;
};

/// Pieces of all calls. If more are wanted than fit, none counts and every long run is summed by
/// one block.
struct PieceList {
  RunPiece* pieces = nullptr;
  float* sums = nullptr;  ///< capacity x width
  std::int32_t* wanted = nullptr;
  std::int32_t capacity = 0;
  std::int32_t width = 0;  ///< of the widest call
};

template <class Row>
SHARDSCOPE_DEVICE ScatteredRows<Row> gradients_of(const SegmentReduce& call) {
  ScatteredRows<Row> source;
  source.rows = static_cast<const Row*>(call.gradients);
  source.stride = call.stride;
  source.index = call.gradient_row;
  source.offsets = call.row_offset;
  source.weights = call.weights;
  return source;
}

SHARDSCOPE_DEVICE void list_pieces(const PieceList& list, std::int32_t call, std::int64_t unique,
                                   std::int64_t begin, std::int64_t end) {
  const auto pieces =
      static_cast<std::int32_t>((end - begin + kPieceOccurrences - 1) / kPieceOccurrences);
  const std::int32_t at = atomic_add(list.wanted, pieces);
  if (at > list.capacity - pieces) return;
  for (std::int32_t p = 0; p < pieces; ++p) {
    const std::int64_t from = begin + p * kPieceOccurrences;
    const std::int64_t to = from + kPieceOccurrences;
    list.pieces[at + p] = {unique, from, to < end ? to : end, call, p, pieces};
  }
}

template <int V, class Row>
SHARDSCOPE_DEVICE void reduce_short_runs(const SegmentReduce& call, const PieceList& list) {
  const ScatteredRows<Row> source = gradients_of<Row>(call);
  const std::int64_t unique_count = *call.unique_count;
  const RowGroup group = row_group(call.width, V);
  for (std::int64_t u = group.first; u < unique_count; u += group.step) {
    const std::int64_t begin = call.offsets[u];
    const std::int64_t end = call.offsets[u + 1];
    if (end - begin > kShortRun) {
      if (group.lane == 0) {
        list_pieces(list, static_cast<std::int32_t>(block_y()), u, begin, end);
      }
      continue;
    }
    for (std::int64_t column = group.lane * V; column < call.width; column += group.lanes * V) {
      Lane<V> sum = sum_rows<V>(source, begin, end, column);
      for (int k = 0; k < V; ++k) sum.v[k] = call.factor * sum.v[k];
      // The output is packed: its rows are aligned when the width is.
      store_lane<V>(call.out + u * call.width + column, sum);
    }
  }
}

SHARDSCOPE_KERNEL void reduce_runs_kernel(const ReduceCall* calls, PieceList list) {
  const ReduceCall& reduce = calls[block_y()];
  with_row_type(reduce.call.gradient_type, [&](auto row) SHARDSCOPE_INLINE {
    if (reduce.vector) {
      reduce_short_runs<kVector, decltype(row)>(reduce.call, list);
    } else {
      reduce_short_runs<1, decltype(row)>(reduce.call, list);
    }
  });
}

/// The block's warps sum consecutive parts of [begin, end), 32 columns at a time; the parts are
/// added in order. Writes factor * sum.
template <class Row>
SHARDSCOPE_DEVICE void reduce_by_block(const SegmentReduce& call, std::int64_t begin,
                                       std::int64_t end, float factor, float* out) {
  SHARDSCOPE_SHARED(float, parts, kReduceWarps * 32);
  const ScatteredRows<Row> source = gradients_of<Row>(call);
  const std::uint32_t warp = thread_x() / 32;
  const std::int64_t part = (end - begin + kReduceWarps - 1) / kReduceWarps;
  const std::int64_t wanted_from = begin + warp * part;
  const std::int64_t from = wanted_from < end ? wanted_from : end;
  const std::int64_t to = from + part < end ? from + part : end;
  for (std::int64_t first = 0; first < call.width; first += 32) {
    const std::int64_t column = first + thread_x() % 32;
    const bool mine = column < call.width;
    parts[thread_x()] = mine ? sum_rows<1>(source, from, to, column).v[0] : 0.0F;
    sync_block();
    if (warp == 0 && mine) {
      float sum = parts[thread_x()];
      for (std::uint32_t w = 1; w < kReduceWarps; ++w) sum += parts[w * 32 + thread_x()];
      out[column] = factor * sum;
    }
    sync_block();
  }
}

/// One row of blocks for all calls.
SHARDSCOPE_KERNEL void reduce_pieces_kernel(const ReduceCall* calls, PieceList list) {
  const std::int32_t wanted = *list.wanted;
  if (wanted > list.capacity) return;
  for (auto p = static_cast<std::int32_t>(block_x()); p < wanted;
       p += static_cast<std::int32_t>(grid_x())) {
    const RunPiece& piece = list.pieces[p];
    const SegmentReduce& call = calls[piece.call].call;
    const bool whole = piece.pieces == 1;
    float* out = whole ? call.out + piece.unique * call.width
                       : list.sums + static_cast<std::int64_t>(p) * list.width;
    with_row_type(call.gradient_type, [&](auto row) SHARDSCOPE_INLINE {
      reduce_by_block<decltype(row)>(call, piece.begin, piece.end, whole ? call.factor : 1.0F, out);
    });
  }
}

/// Adds the pieces of each run.
SHARDSCOPE_KERNEL void reduce_combine_kernel(const ReduceCall* calls, PieceList list) {
  const std::int32_t wanted = *list.wanted;
  if (wanted > list.capacity) return;
  for (auto p = static_cast<std::int32_t>(block_x()); p < wanted;
       p += static_cast<std::int32_t>(grid_x())) {
    const RunPiece& piece = list.pieces[p];
    if (piece.number != 0 || piece.pieces == 1) continue;
    const SegmentReduce& call = calls[piece.call].call;
    for (std::int64_t column = thread_x(); column < call.width; column += block_threads()) {
      float sum = 0;
      for (std::int32_t n = 0; n < piece.pieces; ++n) {
        sum += list.sums[static_cast<std::int64_t>(p + n) * list.width + column];
      }
      call.out[piece.unique * call.width + column] = call.factor * sum;
    }
  }
}

/// Every long run by a block of its own, when there are too many pieces to list.
SHARDSCOPE_KERNEL void reduce_unlisted_kernel(const ReduceCall* calls, PieceList list) {
  if (*list.wanted <= list.capacity) return;
  const SegmentReduce& call = calls[block_y()].call;
  const std::int64_t unique_count = *call.unique_count;
  for (std::int64_t u = block_x(); u < unique_count; u += grid_x()) {
    const std::int64_t begin = call.offsets[u];
    const std::int64_t end = call.offsets[u + 1];
    if (end - begin <= kShortRun) continue;
    with_row_type(call.gradient_type, [&](auto row) SHARDSCOPE_INLINE {
      reduce_by_block<decltype(row)>(call, begin, end, call.factor, call.out + u * call.width);
    });
  }
}

/// Sixteen lanes a row: column c goes to lane c mod 16 and the lanes are added in halves, the order
/// of the cpu kernels.
SHARDSCOPE_KERNEL void square_sum_kernel(const SquareSum* calls) {
  constexpr std::uint32_t kSums = 16;
  const SquareSum& call = calls[block_y()];
  const std::int64_t unique_count = *call.unique_count;
  const std::uint32_t lane = thread_x() % kSums;
  // Both rows of a warp take part in its shuffles as long as one of them is left.
  for (std::int64_t pair = thread_index() / 32; 2 * pair < unique_count;
       pair += thread_count() / 32) {
    const std::int64_t u = 2 * pair + thread_x() % 32 / kSums;
    float sum = 0;
    if (u < unique_count) {
      const float* gradient = call.gradients + u * call.width;
      for (std::int64_t c = lane; c < call.width; c += kSums) sum += gradient[c] * gradient[c];
    }
    for (std::uint32_t half = kSums / 2; half > 0; half /= 2) {
      sum += shuffle_down(sum, half, kSums);
    }
    if (lane == 0 && u < unique_count) call.out[u] = sum;
  }
}

}  // namespace shardscope::engine::cuda
