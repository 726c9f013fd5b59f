#include "engine/cuda/scratch_bytes.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "engine/cuda/cublas_api.hpp"
#include "layout/memory.hpp"

namespace shardscope::engine::cuda {
namespace {

/// By occurrence (index_ops.cu): keys before and after (8 each), positions (4), heads and ranks
/// (8); CUB keeps keys and positions once more.
constexpr std::int64_t kSortBytes = 2 * (8 + 4 + 8) + (8 + 4);
/// By bag: lengths widened, their sums.
constexpr std::int64_t kBagBytes = 2 * 8;
/// kPieceCapacity of the device, and sizeof(RunPiece) with a wide row's sums.
constexpr std::int64_t kPieces = 8192;
constexpr std::int64_t kPieceBytes = 48;
/// Streams that a schedule computes the dense part on.
constexpr std::int64_t kDenseStreams = 2;
/// Lists of calls, and CUB's tables.
constexpr std::int64_t kListBytes = std::int64_t{16} << 20;

/// Occurrences of the index calculation that sorts the most at once.
std::int64_t most_occurrences(std::span<const BufferSpec> buffers) {
  constexpr std::string_view kSorted = "sorted_gradient_row";
  std::map<std::string, std::int64_t, std::less<>> by_list;
  std::int64_t most = 0;
  for (const BufferSpec& buffer : buffers) {
    const std::size_t at = buffer.name.find(kSorted);
    if (at == std::string::npos) continue;
    std::int64_t& sum = by_list[buffer.name.substr(0, at)];
    sum = saturating_add(sum, buffer.bytes / 4);
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace

std::int64_t device_scratch_bytes(const Workload& workload, std::span<const BufferSpec> buffers,
                                  bool dense, bool graphs) {
  std::int64_t widest = 0;
  for (const Table& table : workload.tables) widest = std::max<std::int64_t>(widest, table.dim);
  std::int64_t bags = 0;
  for (const Feature& feature : workload.features) {
    bags = saturating_add(bags, saturating_multiply(workload.global_batch, feature.num_poolings));
  }
  std::int64_t bytes = saturating_multiply(most_occurrences(buffers), kSortBytes);
  bytes = saturating_add(bytes, saturating_multiply(bags, kBagBytes));
  bytes = saturating_add(bytes, kPieces * (kPieceBytes + 4 * widest) + kListBytes);
  if (graphs) bytes = saturating_multiply(saturating_add(bytes, bytes / 8), 2);
  if (dense && workload.dense.interaction != Interaction::none) {
    bytes = saturating_add(bytes, kDenseStreams * kCublasWorkspaceBytes);
  }
  return bytes;
}

}  // namespace shardscope::engine::cuda
