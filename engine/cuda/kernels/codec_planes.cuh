#pragma once
// Codes as bit planes and back (engine/codec/planes.hpp has the form): a warp a group of 32 codes,
// a ballot a plane.

#include "engine/cuda/kernels/codec_quantize.cuh"

namespace shardscope::engine::cuda {

/// What packing needs beside the call.
struct PackWork {
  PackPlanesCall call;
  std::int64_t* words = nullptr;  ///< groups + 1: planes of each group, 0 for the end
  std::int64_t* place = nullptr;  ///< groups + 1: planes before each group
};

SHARDSCOPE_DEVICE std::int64_t packed_values(const PackPlanesCall& call) {
  return (call.distinct != nullptr ? *call.distinct : call.rows) * call.dim;
}

/// The zigzag code of a value among the rows that are packed; 0 behind the last.
SHARDSCOPE_DEVICE std::uint32_t packed_code(const PackPlanesCall& call, std::int64_t n,
                                            std::int64_t count) {
  if (n >= count) return 0;
  std::int64_t from = n;
  if (call.first != nullptr) {
    // Fewer than 2^31 values: dividing 32 bits is several times as fast as 64.
    const auto at = static_cast<std::uint32_t>(n);
    const auto dim = static_cast<std::uint32_t>(call.dim);
    const std::uint32_t row = at / dim;
    from = static_cast<std::int64_t>(call.first[row]) * call.dim + (at - row * dim);
  }
  return zigzag_of(call.codes[from]);
}

SHARDSCOPE_KERNEL void codec_widths_kernel(const PackWork* works) {
  const PackWork& work = works[block_y()];
  const PackPlanesCall& call = work.call;
  const std::uint32_t lane = thread_x() % 32;
  const std::int64_t count = packed_values(call);
  const std::int64_t groups = (call.rows * call.dim + 31) / 32;
  for (std::int64_t g = thread_index() / 32; g < groups; g += thread_count() / 32) {
    const std::uint32_t zigzag = packed_code(call, 32 * g + lane, count);
    std::int32_t width = 0;
    for (std::int32_t b = 0; b < kMostPlanes; ++b) {
      if (ballot(((zigzag >> b) & 1U) != 0) != 0) width = b + 1;
    }
    if (lane != 0) continue;
    call.widths[g] = static_cast<std::uint8_t>(width);
    work.words[g] = width;
  }
  if (thread_index() == 0) work.words[groups] = 0;
}

SHARDSCOPE_KERNEL void codec_pack_kernel(const PackWork* works) {
  const PackWork& work = works[block_y()];
  const PackPlanesCall& call = work.call;
  const std::uint32_t lane = thread_x() % 32;
  const std::int64_t count = packed_values(call);
  const std::int64_t groups = (call.rows * call.dim + 31) / 32;
  const std::int64_t base = work.place[0];
  for (std::int64_t g = thread_index() / 32; g < groups; g += thread_count() / 32) {
    const std::uint32_t zigzag = packed_code(call, 32 * g + lane, count);
    const std::int32_t width = call.widths[g];
    std::uint32_t mine = 0;
    for (std::int32_t b = 0; b < width; ++b) {
      const std::uint32_t plane = ballot(((zigzag >> b) & 1U) != 0);
      if (static_cast<std::uint32_t>(b) == lane) mine = plane;
    }
    if (static_cast<std::int32_t>(lane) < width) call.planes[work.place[g] - base + lane] = mine;
  }
  if (thread_index() == 0) *call.plane_words = work.place[groups] - base;
}

struct UnpackWork {
  UnpackPlanesCall call;
  std::int64_t* words = nullptr;
  std::int64_t* place = nullptr;
};

SHARDSCOPE_KERNEL void codec_plane_counts_kernel(const UnpackWork* works) {
  const UnpackWork& work = works[block_y()];
  const std::int64_t groups = (work.call.count + 31) / 32;
  for (std::int64_t g = thread_index(); g < groups; g += thread_count()) {
    work.words[g] = work.call.widths[g];
  }
  if (thread_index() == 0) work.words[groups] = 0;
}

SHARDSCOPE_KERNEL void codec_unpack_kernel(const UnpackWork* works) {
  const UnpackWork& work = works[block_y()];
  const UnpackPlanesCall& call = work.call;
  const std::uint32_t lane = thread_x() % 32;
  const std::int64_t groups = (call.count + 31) / 32;
  const std::int64_t base = work.place[0];
  for (std::int64_t g = thread_index() / 32; g < groups; g += thread_count() / 32) {
    const std::int32_t width = call.widths[g];
    const bool mine = static_cast<std::int32_t>(lane) < width;
    const std::uint32_t plane = mine ? call.planes[work.place[g] - base + lane] : 0;
    std::uint32_t zigzag = 0;
    for (std::int32_t b = 0; b < width; ++b) {
      zigzag |= ((shuffle(plane, static_cast<std::uint32_t>(b)) >> lane) & 1U) << b;
    }
    call.codes[32 * g + lane] = code_of(zigzag);
  }
}

/// Row r of the values from row index[r] of the codes, or row r without an index.
SHARDSCOPE_KERNEL void codec_expand_kernel(const ExpandCodesCall* calls) {
  const ExpandCodesCall& call = calls[block_y()];
  const RowGroup group = row_group(static_cast<std::int32_t>(call.dim), 1);
  for (std::int64_t r = group.first; r < call.rows; r += group.step) {
    const std::int64_t from = call.index != nullptr ? call.index[r] : r;
    for (std::int64_t c = group.lane; c < call.dim; c += group.lanes) {
      call.out[r * call.dim + c] = static_cast<float>(call.codes[from * call.dim + c]) * call.step;
    }
  }
}

}  // namespace shardscope::engine::cuda
