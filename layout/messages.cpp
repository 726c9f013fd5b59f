#include "layout/messages.hpp"

#include <algorithm>

#include "layout/memory.hpp"

namespace shardscope {

namespace {

std::int64_t bytes_a_sample(const Workload& workload, const Layout& layout,
                            const std::vector<PartialUnit>& partials) {
  std::int64_t elements = 0;
  for (const PartialUnit& partial : partials) {
    const std::int64_t width =
        layout.tables[static_cast<std::size_t>(partial.table)].width(partial.column);
    elements += width * workload.features[static_cast<std::size_t>(partial.feature)].num_poolings;
  }
  return elements * bytes_of(workload.wire);
}

std::vector<std::int64_t> bytes_a_sample(const Workload& workload, const Layout& layout,
                                         const std::vector<std::vector<PartialUnit>>& lists) {
  std::vector<std::int64_t> bytes;
  for (const auto& list : lists) bytes.push_back(bytes_a_sample(workload, layout, list));
  return bytes;
}

}  // namespace

Messages::Messages(const Workload& workload, const Topology& topology, const Layout& layout,
                   const Routes& routes, const BatchCounts& counts)
    : workload_(workload),
      topology_(topology),
      layout_(layout),
      routes_(routes),
      counts_(counts),
      flat_bytes_(bytes_a_sample(workload, layout, routes.rb_flat)),
      hierarchical_bytes_(bytes_a_sample(workload, layout, routes.rb_hierarchical)),
      domain_bytes_(bytes_a_sample(workload, layout, routes.rb_domain)),
      rail_samples_(static_cast<std::size_t>(topology.fast_domain)) {
  for (std::int32_t rank = 0; rank < topology.ranks(); ++rank) {
    rail_samples_[static_cast<std::size_t>(topology.rail_of(rank))] += samples(rank);
  }
  list_square_units();
}

/// Once: asking every table for every pair of ranks takes seconds in large worlds.
void Messages::list_square_units() {
  square_units_.resize(static_cast<std::size_t>(topology_.ranks()));
  for (std::size_t t = 0; t < layout_.tables.size(); ++t) {
    const TablePlacement& placement = layout_.tables[t];
    if (workload_.tables[t].optimizer.kind != OptimizerKind::rowwise_adagrad) continue;
    for (std::int32_t row = 0; row < placement.row_shards; ++row) {
      if (!shares_square_sums(workload_.tables[t], placement, row)) continue;
      for (const std::int32_t owner : owners_of_row(placement, row))
        square_units_[static_cast<std::size_t>(owner)].push_back({t, row});
    }
  }
}

std::int64_t Messages::samples(std::int32_t rank) const {
  return samples_of_rank(workload_.global_batch, rank, topology_.ranks());
}

std::int64_t Messages::rb_ids(std::int32_t from, std::int32_t owner) const {
  std::int64_t bytes = 0;
  for (const IdUnit& unit : routes_.rb_ids[static_cast<std::size_t>(owner)]) {
    const auto f = static_cast<std::size_t>(unit.feature);
    const Feature& feature = workload_.features[f];
    const std::int32_t row_shards = layout_.tables[static_cast<std::size_t>(unit.table)].row_shards;
    const std::int64_t id_bytes = bytes_of(workload_.key) + (feature.weighted ? 4 : 0);
    const std::int64_t ids = counts_.ids[f][static_cast<std::size_t>(from * row_shards + unit.row)];
    bytes += 4 * samples(from) * feature.num_poolings;
    bytes = saturating_add(bytes, saturating_multiply(ids, id_bytes));
  }
  return bytes;
}

std::int64_t Messages::rb_flat(std::int32_t consumer, std::int32_t owner) const {
  return saturating_multiply(samples(consumer), flat_bytes_[static_cast<std::size_t>(owner)]);
}

std::int64_t Messages::rb_domain(std::int32_t owner, std::int32_t rail) const {
  return saturating_multiply(rail_samples_[static_cast<std::size_t>(rail)],
                             hierarchical_bytes_[static_cast<std::size_t>(owner)]);
}

std::int64_t Messages::rb_rail(std::int32_t consumer, std::int32_t domain) const {
  return saturating_multiply(samples(consumer), domain_bytes_[static_cast<std::size_t>(domain)]);
}

std::int64_t Messages::ub_ids(std::int32_t from, std::int32_t owner) const {
  std::int64_t ids = 0;
  for (const RowUnit& unit : routes_.ub_rows[static_cast<std::size_t>(owner)]) {
    const auto t = static_cast<std::size_t>(unit.table);
    const auto at = static_cast<std::size_t>(from * layout_.tables[t].row_shards + unit.row);
    ids = saturating_add(ids, counts_.requests[t][at]);
  }
  return saturating_multiply(ids, bytes_of(workload_.key));
}

std::int64_t Messages::ub_rows(std::int32_t consumer, std::int32_t owner) const {
  std::int64_t elements = 0;
  for (const RowUnit& unit : routes_.ub_rows[static_cast<std::size_t>(owner)]) {
    const auto t = static_cast<std::size_t>(unit.table);
    const auto at = static_cast<std::size_t>(consumer * layout_.tables[t].row_shards + unit.row);
    elements = saturating_add(elements, saturating_multiply(counts_.requests[t][at], unit.width));
  }
  return saturating_multiply(elements, bytes_of(workload_.wire));
}

std::int64_t Messages::square_sums(ClusterType cluster, std::int32_t from, std::int32_t to) const {
  std::int64_t rows = 0;
  for (const auto& [table, row] : square_units_[static_cast<std::size_t>(from)]) {
    const TablePlacement& placement = layout_.tables[table];
    if (placement.cluster != cluster || columns_on(placement, row, to).empty()) continue;
    rows = saturating_add(rows, counts_.unique[table][static_cast<std::size_t>(row)]);
  }
  return saturating_multiply(rows, 4);
}

}  // namespace shardscope
