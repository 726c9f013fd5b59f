#pragma once
// What the shard map draws: every GPU's shards as blocks in one unit, narrow ones folded.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ui/model/document.hpp"

namespace shardscope::ui {

/// What a block's width means.
enum class MapWidth : std::uint8_t { time, memory, bytes, rows };

/// A shard, or several that are too narrow (or replicated) as one.
struct MapBlock {
  ClusterType cluster = ClusterType::RB;
  ShardId shard;           ///< the first, where several
  std::int32_t count = 1;  ///< shards; DP: tables
  double value = 0;        ///< in the unit of the width: seconds, bytes, rows
  double memory_bytes = 0;
};

/// Blocks of one GPU: DP as one, then by falling value. Unfolded but for DP.
struct GpuBlocks {
  std::vector<MapBlock> blocks;
  double total = 0;
};

class MapModel {
 public:
  /// Sets the layout to show; nothing happens where it is shown already.
  void update(std::shared_ptr<const Layout> layout, MapWidth width);
  /// Computed on first demand: rows that are not on screen cost nothing.
  [[nodiscard]] const GpuBlocks& gpu(const Document& document, std::int32_t rank);
  /// Largest total over all GPUs.
  [[nodiscard]] double largest(const Document& document);

 private:
  std::vector<std::vector<ShardId>> shards_;  ///< by owner
  std::vector<std::int32_t> replicated_;      ///< DP tables
  std::unordered_map<std::int32_t, GpuBlocks> gpus_;
  MapWidth width_ = MapWidth::time;
  std::shared_ptr<const Layout> layout_;
};

/// Neighbours of one cluster narrower than `least` become one block. Order is kept.
[[nodiscard]] std::vector<MapBlock> fold_narrow_blocks(const std::vector<MapBlock>& blocks,
                                                       double least);

/// A round step for `ticks` or so marks up to `top`: 1, 2, 2.5 or 5 times a power of ten.
[[nodiscard]] double nice_step(double top, int ticks);

}  // namespace shardscope::ui
