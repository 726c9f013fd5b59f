#include "layout/torchrec_form.hpp"

#include <algorithm>

namespace shardscope {

namespace {

/// Row shards of column shard k stand on consecutive ranks of one group of `size` ranks.
bool fills_group(const TablePlacement& placement, std::int32_t k, std::int32_t size) {
  if (placement.row_shards != size || placement.owner(0, k) % size != 0) return false;
  for (std::int32_t j = 0; j < placement.row_shards; ++j) {
    if (placement.owner(j, k) != placement.owner(0, k) + j) return false;
  }
  return true;
}

/// A host, or a whole fast domain where that is several hosts (TorchRec's pods).
bool fills_host(const TablePlacement& placement, std::int32_t k, const Topology& topology) {
  return fills_group(placement, k, topology.gpus_per_host) ||
         (topology.fast_domain > topology.gpus_per_host &&
          fills_group(placement, k, topology.fast_domain));
}

bool on_one_host(const TablePlacement& placement, const Topology& topology) {
  const std::int32_t host = topology.host_of(placement.owners.front());
  return std::all_of(placement.owners.begin(), placement.owners.end(),
                     [&](std::int32_t owner) { return topology.host_of(owner) == host; });
}

}  // namespace

std::optional<TorchrecForm> torchrec_form(const TablePlacement& placement,
                                          const Topology& topology) {
  if (placement.cluster == ClusterType::DP) return TorchrecForm::data_parallel;
  const bool one_column = placement.column_shards() == 1;
  if (placement.row_shards == 1) {
    if (one_column) return TorchrecForm::table_wise;
    return on_one_host(placement, topology) ? TorchrecForm::table_column_wise
                                            : TorchrecForm::column_wise;
  }
  if (one_column && fills_group(placement, 0, topology.ranks())) return TorchrecForm::row_wise;
  for (std::int32_t k = 0; k < placement.column_shards(); ++k) {
    if (!fills_host(placement, k, topology)) return std::nullopt;
  }
  return one_column ? TorchrecForm::table_row_wise : TorchrecForm::grid_shard;
}

bool has_ceil_blocks(const TablePlacement& placement, std::int64_t rows) {
  if (placement.mapping != RowMapping::block) return false;
  const std::int64_t block = (rows + placement.row_shards - 1) / placement.row_shards;
  for (std::int32_t j = 0; j < placement.row_shards; ++j) {
    if (placement.row_cuts[static_cast<std::size_t>(j)] != std::min(rows, j * block)) return false;
  }
  return true;
}

const char* to_string(TorchrecForm value) {
  constexpr const char* kForms[] = {"data_parallel",     "table_wise", "column_wise",
                                    "table_column_wise", "row_wise",   "table_row_wise",
                                    "grid_shard"};
  return kForms[static_cast<std::size_t>(value)];
}

}  // namespace shardscope
