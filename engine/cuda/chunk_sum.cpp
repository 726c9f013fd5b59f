#include "engine/cuda/chunk_sum.hpp"

namespace shardscope::engine::cuda {
namespace {

/// Columns of the rows that a piece is summed as.
constexpr std::int32_t kSumWidth = 1024;

}  // namespace

void ChunkSum::fill(std::byte* out, const std::vector<const std::byte*>& parts,
                    std::int64_t elements, DType dtype, float* scratch) {
  const std::int64_t bytes = bytes_of(dtype);
  const std::int64_t rows = elements / kSumWidth;
  const auto rest = static_cast<std::int32_t>(elements % kSumWidth);
  for (const int half : {0, 1}) {
    CopyColumns term;
    term.from_type = dtype;
    term.from_stride = kSumWidth;
    term.to = scratch;
    term.to_stride = kSumWidth;
    term.rows = half == 0 ? rows : 1;
    term.width = half == 0 ? kSumWidth : rest;
    if (term.rows == 0 || term.width == 0) continue;
    const std::int64_t first = half == 0 ? 0 : rows * kSumWidth * bytes;
    for (const std::byte* part : parts) {
      term.from = part + first;
      term.accumulate = !terms_[half].empty();
      terms_[half].push_back(term);
    }
    CopyColumns& store = stores_[half];
    store = term;
    store.accumulate = false;
    store.from = scratch;
    store.from_type = DType::fp32;
    store.to = out + first;
    store.to_type = dtype;
    calls.push_back({terms_[half].data(), static_cast<std::int32_t>(parts.size()), &store});
  }
}

}  // namespace shardscope::engine::cuda
