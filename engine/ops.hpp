#pragma once
// The work a device does for the pipeline: argument structs of every operation, shared by all
// devices. Pointers are device memory that stays valid until the stream has run the call; strides
// and widths are in elements. The cpu kernels that take these structs stand in
// engine/cpu/kernels.hpp.

#include <cstddef>
#include <cstdint>

#include "layout/scratch_bytes.hpp"
#include "layout/workload.hpp"

namespace shardscope::engine {

/// Sums (weighted) rows of each bag: out[b] (+)= sum over the bag of weight * rows[id].
/// Bags' ids follow each other in `ids`. An empty bag gives 0 (or leaves out unchanged when
/// accumulating). Sums are fp32; stored as out_type, accumulate needs fp32.
struct GatherPool {
  const void* rows = nullptr;
  DType row_type = DType::fp32;
  std::int64_t row_stride = 0;
  std::int32_t width = 0;
  std::int64_t bags = 0;
  const std::int32_t* lengths = nullptr;
  const void* ids = nullptr;
  KeyType key = KeyType::i32;
  const float* weights = nullptr;  ///< as ids, or null
  void* out = nullptr;
  DType out_type = DType::fp32;
  std::int64_t out_stride = 0;
  bool accumulate = false;
};

/// out[n] = rows[ids[n]], converted (UB replies, sequences, concat).
struct GatherRows {
  const void* rows = nullptr;
  DType row_type = DType::fp32;
  std::int64_t row_stride = 0;
  std::int32_t width = 0;
  std::int64_t count = 0;
  const void* ids = nullptr;
  KeyType key = KeyType::i32;
  void* out = nullptr;
  DType out_type = DType::fp32;
  std::int64_t out_stride = 0;
};

/// to[r][0..width) (+)= scale[r] * factor * from[r][0..width), converted. Packs gradients into
/// wire buffers and combines received partial sums. Accumulating needs an fp32 target.
struct CopyColumns {
  const void* from = nullptr;
  DType from_type = DType::fp32;
  std::int64_t from_stride = 0;
  void* to = nullptr;
  DType to_type = DType::fp32;
  std::int64_t to_stride = 0;
  std::int64_t rows = 0;
  std::int32_t width = 0;
  const float* scale = nullptr;  ///< one a row, or null: 1
  float factor = 1;
  bool accumulate = false;
};

/// Splits the ids of each bag by row shard. For shard j: lengths_out[j][bag] ids whose local rows
/// (and weights) are written to ids_out[j], in input order. counts[j]: ids of shard j.
struct Bucketize {
  std::int64_t bags = 0;
  const std::int32_t* lengths = nullptr;
  const void* ids = nullptr;
  KeyType key = KeyType::i32;
  const float* weights = nullptr;
  std::int32_t row_shards = 1;
  const std::int64_t* row_cuts = nullptr;  ///< row_shards + 1 bounds, or null: modulo
  std::int32_t* const* lengths_out = nullptr;
  void* const* ids_out = nullptr;
  float* const* weights_out = nullptr;
  std::int64_t* counts = nullptr;
};

/// Distinct ids in order of first appearance, grouped by row shard. Local rows of shard j go to
/// unique_out[j]; slot[n] is the position of ids[n] in the concatenation of all shards' lists.
/// `table` is scratch of at least dedup_table_bytes(count, key), 64-byte aligned. At most 2^32 - 1
/// ids.
struct Dedup {
  std::int64_t count = 0;
  const void* ids = nullptr;
  KeyType key = KeyType::i32;
  std::int32_t row_shards = 1;
  const std::int64_t* row_cuts = nullptr;
  void* const* unique_out = nullptr;
  std::int64_t* counts = nullptr;
  std::uint32_t* slot = nullptr;
  void* table = nullptr;
};

/// Index calculation: sorts occurrences by row (stable) and finds the distinct rows.
/// unique_rows[u], offsets[0..unique_count] into the sorted occurrences (one more than the distinct
/// rows), gradient_row and weight of each sorted occurrence. At most 2^32 - 1 occurrences.
/// `scratch` holds sort_scratch_bytes(count, row_limit), 64-byte aligned.
struct SortIndex {
  std::int64_t count = 0;
  const void* rows = nullptr;  ///< local row of each occurrence
  KeyType key = KeyType::i32;
  std::int64_t row_limit = 0;                   ///< rows are below this: bounds the radix passes
  const std::uint32_t* gradient_row = nullptr;  ///< gradient of each occurrence; null: its index
  const float* weights = nullptr;
  std::int64_t* unique_rows = nullptr;
  std::uint32_t* offsets = nullptr;
  std::uint32_t* sorted_gradient_row = nullptr;
  float* sorted_weights = nullptr;
  std::int64_t* unique_count = nullptr;
  void* scratch = nullptr;
};

/// Sums the gradients of each distinct row: out[u] = factor * sum weight * gradient(i), fp32.
/// Gradient row g starts at gradients + row_offset[g] elements (null: g * stride). The occurrences
/// of a row are added in sorted order.
struct SegmentReduce {
  const std::int64_t* unique_count = nullptr;  ///< read when the call runs
  const std::uint32_t* offsets = nullptr;
  const std::uint32_t* gradient_row = nullptr;
  const float* weights = nullptr;
  const void* gradients = nullptr;
  DType gradient_type = DType::fp32;
  const std::int64_t* row_offset = nullptr;
  std::int64_t stride = 0;
  std::int32_t width = 0;
  float factor = 1;
  float* out = nullptr;  ///< unique rows x width
  /// SquareSum of every row while it is at hand, or null.
  float* square_sum = nullptr;
};

/// square_sum[u] = sum of gradient[u]^2 over the width (rowwise adagrad's share of a column shard).
struct SquareSum {
  const std::int64_t* unique_count = nullptr;
  const float* gradients = nullptr;
  std::int32_t width = 0;
  float* out = nullptr;
};

/// Updates the listed rows. `step` counts iterations from 1 (adam's bias correction; stochastic
/// rounding). fp16 and bf16 rows are rounded stochastically from (seed, table, row, column, step).
/// adagrad: state += g^2; w -= lr * g / (sqrt(state) + eps).
/// rowwise_adagrad: state += row_square_sum / full_width; w as adagrad.
/// adam: m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
///       w -= lr * (m / (1 - beta1^step)) / (sqrt(v / (1 - beta2^step)) + eps).
struct OptimizerUpdate {
  Optimizer optimizer;
  const std::int64_t* unique_count = nullptr;
  const std::int64_t* unique_rows = nullptr;  ///< null: rows 0, 1, 2, ... (dense buffer)
  const float* gradients = nullptr;           ///< unique rows x width
  const float* row_square_sum = nullptr;      ///< rowwise_adagrad: over the whole row
  void* rows = nullptr;
  DType row_type = DType::fp32;
  std::int32_t width = 0;
  std::int32_t full_width = 0;  ///< dim of the table
  float* state = nullptr;       ///< words_per_element x rows x width, word-major; then rows
  std::int64_t row_count = 0;   ///< rows of the shard
  std::int64_t step = 1;
  std::uint64_t seed = 0;
  std::int32_t table = 0;
  std::int32_t first_column = 0;  ///< of the shard in its table
  std::int64_t row_scale = 1;     ///< table row = local * row_scale + row_base (rounding key)
  std::int64_t row_base = 0;
};

}  // namespace shardscope::engine
