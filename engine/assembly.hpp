#pragma once
// Small operations that assemble the lists and buffers around those of engine/ops.hpp. The same
// rules: device memory that stays valid until the stream has run the call; strides and widths in
// elements. The cpu versions run at once on the calling thread and allocate nothing.

#include <cstddef>
#include <cstdint>

#include "engine/ops.hpp"
#include "layout/workload.hpp"

namespace shardscope::engine {

/// Copies bytes; 0 bytes need no addresses.
struct CopyBytes {
  const void* from = nullptr;
  void* to = nullptr;
  std::int64_t bytes = 0;
};

/// Sets bytes to zero.
struct FillZero {
  void* to = nullptr;
  std::int64_t bytes = 0;
};

/// The sum of several terms, in order: each copies or accumulates into the same fp32 rows, the
/// first does not accumulate. Some rows at a time, so that they stay in cache between the terms.
/// With `store` the sum goes on to its target from there, and only the sum's first rows are used as
/// scratch: a 16-bit wire's sums are added up in fp32.
struct SumColumns {
  const CopyColumns* terms = nullptr;
  std::int32_t count = 0;
  const CopyColumns* store = nullptr;  ///< or null
};

/// scale[b] = 1 / lengths[b]; 0 for an empty bag.
struct BagScale {
  std::int64_t bags = 0;
  const std::int32_t* lengths = nullptr;
  float* scale = nullptr;
};

/// rows[r][0..width) *= scale[r], in place.
struct ScaleRows {
  float* rows = nullptr;
  std::int64_t stride = 0;
  std::int64_t count = 0;
  std::int32_t width = 0;
  const float* scale = nullptr;
};

/// Means of jagged rows for the dense part: bag b holds the next lengths[b] rows; the mean of bag i
/// of sample s goes to out + s * out_stride + i * width. 0 for an empty bag.
struct MeanBags {
  std::int64_t bags = 0;
  const std::int32_t* lengths = nullptr;
  const float* rows = nullptr;  ///< width apart
  std::int32_t width = 0;
  std::int32_t bags_a_sample = 1;
  float* out = nullptr;
  std::int64_t out_stride = 0;
};

/// The way back of MeanBags: every row gets its bag's gradient / the bag's length.
struct SpreadBags {
  std::int64_t bags = 0;
  const std::int32_t* lengths = nullptr;
  const float* gradients = nullptr;  ///< as MeanBags::out
  std::int64_t gradient_stride = 0;
  std::int32_t bags_a_sample = 1;
  std::int32_t width = 0;
  float* rows = nullptr;
};

/// The gradient row of each id: first_row + its bag, or first_row + its position where lengths is
/// null (`bags` then counts ids). Weights, where asked for: (id weight or 1) * (bag scale or 1).
struct ExpandBags {
  std::int64_t bags = 0;
  const std::int32_t* lengths = nullptr;
  std::uint32_t first_row = 0;
  const float* weights = nullptr;  ///< as ids, or null
  const float* scale = nullptr;    ///< as bags, or null
  std::uint32_t* gradient_row = nullptr;
  float* weights_out = nullptr;  ///< or null
};

/// offsets[n] = first + n * step.
struct FillOffsets {
  std::int64_t count = 0;
  std::int64_t first = 0;
  std::int64_t step = 0;
  std::int64_t* offsets = nullptr;
};

/// Groups ids by row shard without removing duplicates: local rows of shard j in input order to
/// out[j]; slot[n] is the position of ids[n] in the concatenation of all shards' lists.
struct GroupIds {
  std::int64_t count = 0;
  const void* ids = nullptr;
  KeyType key = KeyType::i32;
  std::int32_t row_shards = 1;
  const std::int64_t* row_cuts = nullptr;  ///< row_shards + 1 bounds, or null: modulo
  void* const* out = nullptr;
  std::int64_t* counts = nullptr;
  std::uint32_t* slot = nullptr;
};

/// to[rows[u]] = from[u] (width elements) and touched[rows[u]] = 1, for u below *unique_count.
struct ScatterRows {
  const std::int64_t* unique_count = nullptr;
  const std::int64_t* rows = nullptr;
  const float* from = nullptr;
  std::int32_t width = 0;
  float* to = nullptr;
  float* touched = nullptr;
};

/// Moves the touched rows (touched[r] > 0) of `values` to its front, in ascending order, and lists
/// them. In place.
struct CompactRows {
  std::int64_t row_count = 0;
  std::int32_t width = 0;
  const float* touched = nullptr;
  float* values = nullptr;
  std::int64_t* rows = nullptr;
  std::int64_t* count = nullptr;
};

/// sum[u] += add[u] for u below *unique_count.
struct AddSums {
  const std::int64_t* unique_count = nullptr;
  const float* add = nullptr;
  float* sum = nullptr;
};

/// The lists of several row shards one after the other: list[i] has *unique_counts[i] values.
/// Writes the message and its length.
struct PackSums {
  std::int32_t lists = 0;
  const std::int64_t* const* unique_counts = nullptr;
  const float* const* sums = nullptr;
  float* message = nullptr;
  std::int64_t* bytes = nullptr;
};

/// Inverse of PackSums: adds each list of the message to its sum, or starts the sum with it.
struct UnpackSums {
  std::int32_t lists = 0;
  const std::int64_t* const* unique_counts = nullptr;
  const float* message = nullptr;
  float* const* sums = nullptr;
  const bool* starts = nullptr;
};

void copy_bytes(const CopyBytes& call);
void fill_zero(const FillZero& call);
void sum_columns(const SumColumns& call);
void bag_scale(const BagScale& call);
void scale_rows(const ScaleRows& call);
void mean_bags(const MeanBags& call);
void spread_bags(const SpreadBags& call);
void expand_bags(const ExpandBags& call);
void fill_offsets(const FillOffsets& call);
void group_ids(const GroupIds& call);
void scatter_rows(const ScatterRows& call);
void compact_rows(const CompactRows& call);
void add_sums(const AddSums& call);
void pack_sums(const PackSums& call);
void unpack_sums(const UnpackSums& call);

}  // namespace shardscope::engine
