#include "ui/model/map_blocks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace shardscope::ui {
namespace {

double value_of(const Document& document, const Layout& layout, const ShardId& shard,
                MapWidth width) {
  switch (width) {
    case MapWidth::time:
      return load_seconds(document.costs().of(layout, shard));
    case MapWidth::memory:
      return shard_bytes(document.workload(), layout, shard);
    case MapWidth::bytes:
      return document.costs().wire_bytes(layout, shard);
    case MapWidth::rows: {
      const auto table = static_cast<std::size_t>(shard.table);
      return static_cast<double>(
          layout.tables[table].rows_in(shard.row, document.workload().tables[table].rows));
    }
  }
  return 0;
}

double replicated_value(const Document& document, std::int32_t table, MapWidth width) {
  const auto index = static_cast<std::size_t>(table);
  switch (width) {
    case MapWidth::time:
      return load_seconds(document.costs().replicated(index));
    case MapWidth::memory:
      return table_bytes(document.workload().tables[index]);
    case MapWidth::bytes:
      return 0;
    case MapWidth::rows:
      return static_cast<double>(document.workload().tables[index].rows);
  }
  return 0;
}

}  // namespace

void MapModel::update(std::shared_ptr<const Layout> shown, MapWidth width) {
  if (layout_ == shown && width_ == width) return;
  gpus_.clear();
  width_ = width;
  if (layout_ == shown) return;
  layout_ = std::move(shown);
  const Layout& layout = *layout_;
  shards_.assign(static_cast<std::size_t>(layout.ranks), {});
  replicated_.clear();
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    const TablePlacement& placement = layout.tables[t];
    const auto table = static_cast<std::int32_t>(t);
    if (placement.cluster == ClusterType::DP) {
      replicated_.push_back(table);
      continue;
    }
    for (std::int32_t row = 0; row < placement.row_shards; ++row) {
      for (std::int32_t column = 0; column < placement.column_shards(); ++column) {
        const auto owner = static_cast<std::size_t>(placement.owner(row, column));
        if (owner < shards_.size()) shards_[owner].push_back({table, row, column});
      }
    }
  }
}

const GpuBlocks& MapModel::gpu(const Document& document, std::int32_t rank) {
  const auto [entry, fresh] = gpus_.try_emplace(rank);
  GpuBlocks& gpu = entry->second;
  if (!fresh) return gpu;
  const Layout& layout = *layout_;
  if (!replicated_.empty()) {
    MapBlock block{ClusterType::DP, {replicated_.front(), 0, 0}, 0, 0, 0};
    for (const std::int32_t table : replicated_) {
      ++block.count;
      block.value += replicated_value(document, table, width_);
      block.memory_bytes +=
          table_bytes(document.workload().tables[static_cast<std::size_t>(table)]);
    }
    gpu.blocks.push_back(block);
  }
  const auto first = static_cast<std::ptrdiff_t>(gpu.blocks.size());
  for (const ShardId& shard : shards_[static_cast<std::size_t>(rank)]) {
    gpu.blocks.push_back({layout.tables[static_cast<std::size_t>(shard.table)].cluster, shard, 1,
                          value_of(document, layout, shard, width_),
                          shard_bytes(document.workload(), layout, shard)});
  }
  // UB first: its many small shards stand together; then by falling value.
  std::stable_sort(gpu.blocks.begin() + first, gpu.blocks.end(),
                   [](const MapBlock& a, const MapBlock& b) {
                     if (a.cluster != b.cluster) return a.cluster == ClusterType::UB;
                     return a.value > b.value;
                   });
  for (const MapBlock& block : gpu.blocks) gpu.total += block.value;
  return gpu;
}

double MapModel::largest(const Document& document) {
  // In time the evaluation knows it without every GPU's blocks.
  if (width_ == MapWidth::time && layout_ == document.shown().layout) {
    return document.shown().max_load_s;
  }
  double most = 0;
  for (std::int32_t rank = 0; rank < document.topology().ranks(); ++rank) {
    most = std::max(most, gpu(document, rank).total);
  }
  return most;
}

std::vector<MapBlock> fold_narrow_blocks(const std::vector<MapBlock>& blocks, double least) {
  std::vector<MapBlock> folded;
  bool open = false;
  for (const MapBlock& block : blocks) {
    const bool narrow = block.value < least && block.cluster != ClusterType::DP;
    if (narrow && open && folded.back().cluster == block.cluster) {
      MapBlock& into = folded.back();
      into.count += block.count;
      into.value += block.value;
      into.memory_bytes += block.memory_bytes;
    } else {
      folded.push_back(block);
    }
    open = narrow;
  }
  return folded;
}

double nice_step(double top, int ticks) {
  if (!(top > 0)) return 1;
  const double raw = top / std::max(1, ticks);
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (raw <= factor * power * 1.0001) return factor * power;
  }
  return 10 * power;
}

}  // namespace shardscope::ui
