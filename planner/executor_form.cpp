#include "planner/executor_form.hpp"

#include <algorithm>
#include <utility>

#include "layout/torchrec_form.hpp"
#include "planner/edits.hpp"

namespace shardscope {

namespace {

TablePlacement in_blocks(TablePlacement placement, const Table& table, const Topology& topology) {
  const std::int64_t shards = placement.row_shards;
  const std::int64_t block = (table.rows + shards - 1) / shards;
  // Fewer rows than ranks: TorchRec has no form that leaves some of them out.
  if ((shards - 1) * block >= table.rows || !torchrec_form(placement, topology))
    return table_wise(table, placement.owners.front(), placement.cluster);
  placement.mapping = RowMapping::block;
  placement.row_cuts.clear();
  for (std::int64_t j = 0; j <= shards; ++j)
    placement.row_cuts.push_back(std::min(table.rows, block * j));
  return placement;
}

}  // namespace

Layout in_executor_form(Layout layout, const Workload& workload, const Topology& topology,
                        Executor executor) {
  if (executor == Executor::engine) return layout;
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    TablePlacement& placement = layout.tables[t];
    if (placement.cluster == ClusterType::DP) continue;
    if (executor == Executor::hugectr) {
      placement = in_hugectr_order(std::move(placement));
      continue;
    }
    if (placement.mapping == RowMapping::modulo && placement.row_shards > 1)
      placement = in_blocks(std::move(placement), workload.tables[t], topology);
    if (placement.cluster != ClusterType::RB || topology.domains() < 2) continue;
    const auto form = torchrec_form(placement, topology);
    if (form == TorchrecForm::table_row_wise || form == TorchrecForm::grid_shard)
      placement.exchange = Exchange::hierarchical;
  }
  return layout;
}

}  // namespace shardscope
