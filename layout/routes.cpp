#include "layout/routes.hpp"

#include <algorithm>

namespace shardscope {

namespace {

void sort_unique(std::vector<std::int32_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

std::vector<std::int32_t> owners_of_column(const TablePlacement& placement, std::int32_t column) {
  std::vector<std::int32_t> owners;
  for (std::int32_t row = 0; row < placement.row_shards; ++row) {
    owners.push_back(placement.owner(row, column));
  }
  sort_unique(owners);
  return owners;
}

void add_rb_feature(Routes& routes, const Topology& topology, const Layout& layout,
                    std::int32_t feature, std::int32_t table) {
  const TablePlacement& placement = layout.tables[static_cast<std::size_t>(table)];
  for (std::int32_t row = 0; row < placement.row_shards; ++row) {
    for (const std::int32_t owner : owners_of_row(placement, row)) {
      routes.rb_ids[static_cast<std::size_t>(owner)].push_back({feature, table, row});
    }
  }
  const bool flat = layout.exchange_of(static_cast<std::size_t>(table)) == Exchange::flat;
  for (std::int32_t column = 0; column < placement.column_shards(); ++column) {
    const PartialUnit partial{feature, table, column};
    std::vector<std::int32_t> domains;
    for (const std::int32_t owner : owners_of_column(placement, column)) {
      auto& lists = flat ? routes.rb_flat : routes.rb_hierarchical;
      lists[static_cast<std::size_t>(owner)].push_back(partial);
      domains.push_back(topology.domain_of(owner));
    }
    if (flat) continue;
    sort_unique(domains);
    for (const std::int32_t domain : domains) {
      routes.rb_domain[static_cast<std::size_t>(domain)].push_back(partial);
    }
  }
}

template <class Unit>
std::int32_t longest(const std::vector<std::vector<Unit>>& lists) {
  std::size_t most = 0;
  for (const auto& list : lists) most = std::max(most, list.size());
  return static_cast<std::int32_t>(most);
}

}  // namespace

std::vector<std::int32_t> owners_of_row(const TablePlacement& placement, std::int32_t row) {
  std::vector<std::int32_t> owners;
  for (std::int32_t column = 0; column < placement.column_shards(); ++column) {
    owners.push_back(placement.owner(row, column));
  }
  sort_unique(owners);
  return owners;
}

std::vector<std::int32_t> columns_on(const TablePlacement& placement, std::int32_t row,
                                     std::int32_t owner) {
  std::vector<std::int32_t> columns;
  for (std::int32_t column = 0; column < placement.column_shards(); ++column) {
    if (placement.owner(row, column) == owner) columns.push_back(column);
  }
  return columns;
}

bool shares_square_sums(const Table& table, const TablePlacement& placement, std::int32_t row) {
  return table.optimizer.kind == OptimizerKind::rowwise_adagrad && !table.optimizer.per_shard &&
         placement.cluster != ClusterType::DP && owners_of_row(placement, row).size() > 1;
}

std::int64_t bags_of_rank(const Workload& workload, std::size_t feature, std::int32_t rank,
                          std::int32_t ranks) {
  return samples_of_rank(workload.global_batch, rank, ranks) *
         workload.features[feature].num_poolings;
}

Routes routes_of(const Workload& workload, const Topology& topology, const Layout& layout) {
  Routes routes;
  const auto ranks = static_cast<std::size_t>(topology.ranks());
  routes.rb_ids.resize(ranks);
  routes.rb_flat.resize(ranks);
  routes.rb_hierarchical.resize(ranks);
  routes.rb_domain.resize(static_cast<std::size_t>(topology.domains()));
  routes.ub_rows.resize(ranks);
  for (std::size_t f = 0; f < workload.features.size(); ++f) {
    const std::int32_t table = workload.features[f].table;
    if (layout.tables[static_cast<std::size_t>(table)].cluster != ClusterType::RB) continue;
    add_rb_feature(routes, topology, layout, static_cast<std::int32_t>(f), table);
  }
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    const TablePlacement& placement = layout.tables[t];
    if (placement.cluster != ClusterType::UB) continue;
    for (std::int32_t row = 0; row < placement.row_shards; ++row) {
      for (const std::int32_t owner : owners_of_row(placement, row)) {
        std::int32_t width = 0;
        for (const std::int32_t column : columns_on(placement, row, owner)) {
          width += placement.width(column);
        }
        routes.ub_rows[static_cast<std::size_t>(owner)].push_back(
            {static_cast<std::int32_t>(t), row, width});
      }
    }
  }
  routes.rb_count_slots = longest(routes.rb_ids);
  routes.ub_count_slots = longest(routes.ub_rows);
  return routes;
}

}  // namespace shardscope
