#pragma once
// What one table adds to the memory of ranks, and staging buffers that tables share.

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "layout/layout.hpp"

namespace shardscope {

/// Buffers that serve one table after another: as large as the largest table needs.
enum StagingBuffer : std::size_t {
  kDpLists,       ///< ids, positions and sort scratch of a list
  kDpWeights,     ///< its weights
  kDpGradients,   ///< reduced gradients
  kDpSquareSums,  ///< of g^2
  kRbLists,       ///< as DP's, of the ids an owner receives
  kRbWeights,     ///< likewise
  kRbPartials,    ///< fp32 sums on the way to a 16-bit wire
  kUbIds,         ///< received rows of UB: the keys
  kUbLists,       ///< positions and sort scratch, at owner and consumer
  kUbWeights,     ///< likewise
  kUbJoined,      ///< a consumer's ids and the table that finds distinct ones
  kUbGradients,   ///< a consumer's reduced gradients
  kStagingBuffers
};

/// A table's share of one staging buffer: of one rank, or (rank -1) of every rank.
struct StagingNeed {
  std::int32_t rank = -1;
  StagingBuffer buffer = kDpLists;
  double bytes = 0;
};

struct TableMemory {
  double everywhere = 0;                                 ///< on every rank
  std::vector<std::pair<std::int32_t, double>> ranks;    ///< (rank, bytes), may repeat a rank
  std::vector<std::pair<std::int32_t, double>> domains;  ///< (domain, bytes of each of its ranks)
  std::vector<StagingNeed> staging;
};

/// Share of a table's rows in row shard j; of a table without rows an equal one.
[[nodiscard]] double row_share(const TablePlacement& placement, std::int32_t j, double rows);

/// Bytes of weights and optimizer state of so many rows and columns of a table.
[[nodiscard]] double stored_bytes(const Table& table, double rows, double width);
/// Of the whole table.
[[nodiscard]] double stored_bytes(const Table& table);

/// The largest of a changing set of sizes.
class LargestOf {
 public:
  void add(double bytes);
  /// `bytes` was added before.
  void remove(double bytes);
  [[nodiscard]] double most() const { return most_; }

 private:
  std::vector<double> all_;
  double most_ = 0;
};

using StagingSizes = std::array<LargestOf, kStagingBuffers>;

}  // namespace shardscope
