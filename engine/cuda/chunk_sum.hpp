#pragma once
// The sum of equal pieces of memory, of any number of elements, as calls of Ops::sum_columns.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/assembly.hpp"

namespace shardscope::engine::cuda {

/// fp32 rows that sums are added up in on devices that need them (SumColumns).
inline constexpr std::int64_t kSumScratchBytes = 64 * 1024;

/// The lists of one sum: they last until the stream has run them. Not movable: calls point inside.
struct ChunkSum {
  ChunkSum() = default;
  ChunkSum(const ChunkSum&) = delete;
  ChunkSum& operator=(const ChunkSum&) = delete;

  /// out[i] = ((parts[0][i] + parts[1][i]) + ...) for `elements` elements, in fp32, rounded once.
  /// `out` may be one of the parts. `scratch` holds kSumScratchBytes.
  void fill(std::byte* out, const std::vector<const std::byte*>& parts, std::int64_t elements,
            DType dtype, float* scratch);

  std::vector<SumColumns> calls;

 private:
  std::vector<CopyColumns> terms_[2];  ///< whole rows, and the rest
  CopyColumns stores_[2];
};

}  // namespace shardscope::engine::cuda
