#pragma once
// Moving whole buffers and lists: copies, zeros, touched rows, sums that travel.

#include "engine/cuda/kernels/rows.cuh"

namespace shardscope::engine::cuda {

struct CompactCall {
  CompactRows call;
  std::int64_t* touched = nullptr;      ///< 1 for a touched row
  const std::int64_t* place = nullptr;  ///< touched summed up; one more at the end
  float* staged = nullptr;              ///< row_count x width
};
/// Pointers of the lists' pieces stand in device memory.
struct PackCall {
  std::int32_t lists = 0;
  const std::int64_t* const* unique_counts = nullptr;
  const float* const* sums = nullptr;
  float* message = nullptr;
  std::int64_t* bytes = nullptr;
};
struct UnpackCall {
  std::int32_t lists = 0;
  const std::int64_t* const* unique_counts = nullptr;
  const float* message = nullptr;
  float* const* sums = nullptr;
  const std::uint8_t* starts = nullptr;
};

SHARDSCOPE_DEVICE bool is_aligned16(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
}

SHARDSCOPE_KERNEL void copy_bytes_kernel(const CopyBytes* calls) {
  const CopyBytes& call = calls[block_y()];
  const auto* from = static_cast<const std::uint8_t*>(call.from);
  auto* to = static_cast<std::uint8_t*>(call.to);
  std::int64_t whole = 0;
  if (is_aligned16(from) && is_aligned16(to)) {
    whole = call.bytes / 16;
    for (std::int64_t n = thread_index(); n < whole; n += thread_count()) {
      store_words(to + 16 * n, load_words<Words4>(from + 16 * n));
    }
  }
  for (std::int64_t n = 16 * whole + thread_index(); n < call.bytes; n += thread_count()) {
    to[n] = from[n];
  }
}

SHARDSCOPE_KERNEL void fill_zero_kernel(const FillZero* calls) {
  const FillZero& call = calls[block_y()];
  auto* to = static_cast<std::uint8_t*>(call.to);
  std::int64_t whole = 0;
  if (is_aligned16(to)) {
    whole = call.bytes / 16;
    for (std::int64_t n = thread_index(); n < whole; n += thread_count()) {
      store_words(to + 16 * n, Words4{});
    }
  }
  for (std::int64_t n = 16 * whole + thread_index(); n < call.bytes; n += thread_count()) to[n] = 0;
}

SHARDSCOPE_KERNEL void scatter_rows_kernel(const ScatterRows* calls) {
  const ScatterRows& call = calls[block_y()];
  const std::int64_t unique_count = *call.unique_count;
  const RowGroup group = row_group(call.width, 1);
  for (std::int64_t u = group.first; u < unique_count; u += group.step) {
    const std::int64_t row = call.rows[u];
    for (std::int64_t c = group.lane; c < call.width; c += group.lanes) {
      call.to[row * call.width + c] = call.from[u * call.width + c];
    }
    if (group.lane == 0) call.touched[row] = 1;
  }
}

SHARDSCOPE_KERNEL void mark_touched_kernel(const CompactCall* calls) {
  const CompactCall& compact = calls[block_y()];
  for (std::int64_t row = thread_index(); row < compact.call.row_count; row += thread_count()) {
    compact.touched[row] = compact.call.touched[row] > 0 ? 1 : 0;
  }
}

SHARDSCOPE_KERNEL void stage_touched_kernel(const CompactCall* calls) {
  const CompactCall& compact = calls[block_y()];
  const CompactRows& call = compact.call;
  const RowGroup group = row_group(call.width, 1);
  for (std::int64_t row = group.first; row < call.row_count; row += group.step) {
    if (!(call.touched[row] > 0)) continue;
    const std::int64_t kept = compact.place[row] - compact.place[0];
    for (std::int64_t c = group.lane; c < call.width; c += group.lanes) {
      compact.staged[kept * call.width + c] = call.values[row * call.width + c];
    }
    if (group.lane == 0) call.rows[kept] = row;
  }
}

SHARDSCOPE_KERNEL void unstage_touched_kernel(const CompactCall* calls) {
  const CompactCall& compact = calls[block_y()];
  const CompactRows& call = compact.call;
  const std::int64_t kept = compact.place[call.row_count] - compact.place[0];
  for (std::int64_t n = thread_index(); n < kept * call.width; n += thread_count()) {
    call.values[n] = compact.staged[n];
  }
  if (thread_index() == 0) *call.count = kept;
}

SHARDSCOPE_KERNEL void add_sums_kernel(const AddSums* calls) {
  const AddSums& call = calls[block_y()];
  const std::int64_t unique_count = *call.unique_count;
  for (std::int64_t u = thread_index(); u < unique_count; u += thread_count()) {
    call.sum[u] += call.add[u];
  }
}

SHARDSCOPE_KERNEL void pack_sums_kernel(const PackCall* calls) {
  const PackCall& call = calls[block_y()];
  std::int64_t first = 0;
  for (std::int32_t i = 0; i < call.lists; ++i) {
    const std::int64_t count = *call.unique_counts[i];
    for (std::int64_t u = thread_index(); u < count; u += thread_count()) {
      call.message[first + u] = call.sums[i][u];
    }
    first += count;
  }
  if (thread_index() == 0) *call.bytes = first * static_cast<std::int64_t>(sizeof(float));
}

SHARDSCOPE_KERNEL void unpack_sums_kernel(const UnpackCall* calls) {
  const UnpackCall& call = calls[block_y()];
  std::int64_t first = 0;
  for (std::int32_t i = 0; i < call.lists; ++i) {
    const std::int64_t count = *call.unique_counts[i];
    for (std::int64_t u = thread_index(); u < count; u += thread_count()) {
      const float value = call.message[first + u];
      call.sums[i][u] = call.starts[i] != 0 ? value : call.sums[i][u] + value;
    }
    first += count;
  }
}

}  // namespace shardscope::engine::cuda
