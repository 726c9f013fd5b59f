#include "planner/baselines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <utility>

#include "layout/closest.hpp"
#include "layout/memory.hpp"

namespace shardscope {
namespace {

using Placements = std::vector<TablePlacement>;

/// RB where every reader pools; sequences and concatenations need the rows themselves.
std::vector<ClusterType> clusters_of(const Workload& workload) {
  std::vector<ClusterType> clusters(workload.tables.size(), ClusterType::RB);
  for (const Feature& feature : workload.features) {
    if (!is_pooled(feature.pooling)) {
      clusters[static_cast<std::size_t>(feature.table)] = ClusterType::UB;
    }
  }
  return clusters;
}

std::int64_t bytes_of_table(const Table& table) {
  const std::int64_t elements = saturating_multiply(table.rows, table.dim);
  const std::int64_t state =
      saturating_add(saturating_multiply(elements, table.optimizer.words_per_element),
                     saturating_multiply(table.rows, table.optimizer.words_per_row));
  return saturating_add(saturating_multiply(elements, bytes_of(table.dtype)),
                        saturating_multiply(state, 4));
}

/// Rows over `count` ranks from `first` on; a table with fewer rows uses fewer of them.
TablePlacement rows_over(const Table& table, std::int32_t first, std::int32_t count,
                         ClusterType cluster) {
  const auto shards = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(table.rows, 1, static_cast<std::int64_t>(count)));
  std::vector<std::int32_t> owners(static_cast<std::size_t>(shards));
  std::iota(owners.begin(), owners.end(), first);
  return row_wise(table, std::move(owners), cluster);
}

Placements round_robin(const Workload& workload, const Topology& topology) {
  const std::vector<ClusterType> clusters = clusters_of(workload);
  Placements placements;
  for (std::size_t index = 0; index < workload.tables.size(); ++index) {
    const auto owner =
        static_cast<std::int32_t>(index % static_cast<std::size_t>(topology.ranks()));
    placements.push_back(table_wise(workload.tables[index], owner, clusters[index]));
  }
  return placements;
}

Placements largest_first(const Workload& workload, const Topology& topology) {
  const std::vector<ClusterType> clusters = clusters_of(workload);
  std::vector<std::size_t> order(workload.tables.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return bytes_of_table(workload.tables[a]) > bytes_of_table(workload.tables[b]);
  });
  std::vector<std::int64_t> load(static_cast<std::size_t>(topology.ranks()), 0);
  Placements placements(workload.tables.size());
  for (const std::size_t index : order) {
    const auto emptiest = std::min_element(load.begin(), load.end());
    *emptiest = saturating_add(*emptiest, bytes_of_table(workload.tables[index]));
    placements[index] =
        table_wise(workload.tables[index], static_cast<std::int32_t>(emptiest - load.begin()),
                   clusters[index]);
  }
  return placements;
}

Placements uniform(const Workload& workload, const Topology& topology) {
  const std::vector<ClusterType> clusters = clusters_of(workload);
  Placements placements;
  for (std::size_t index = 0; index < workload.tables.size(); ++index) {
    placements.push_back(rows_over(workload.tables[index], 0, topology.ranks(), clusters[index]));
  }
  return placements;
}

/// EMBark's baseline: a table larger than a host's GPUs together goes over all ranks.
Placements table_row_wise(const Workload& workload, const Topology& topology) {
  const std::vector<ClusterType> clusters = clusters_of(workload);
  const double host_bytes = topology.gpu.memory_bytes.value * topology.gpus_per_host;
  Placements placements;
  for (std::size_t index = 0; index < workload.tables.size(); ++index) {
    const Table& table = workload.tables[index];
    const auto host = static_cast<std::int32_t>(index % static_cast<std::size_t>(topology.hosts));
    const bool fits = host_bytes <= 0 || static_cast<double>(bytes_of_table(table)) <= host_bytes;
    placements.push_back(fits ? rows_over(table, host * topology.gpus_per_host,
                                          topology.gpus_per_host, clusters[index])
                              : rows_over(table, 0, topology.ranks(), clusters[index]));
  }
  return placements;
}

Placements replicated(const Workload& workload, const Topology&) {
  Placements placements;
  for (const Table& table : workload.tables) placements.push_back(data_parallel(table));
  return placements;
}

using Maker = Placements (*)(const Workload&, const Topology&);

constexpr std::array<std::pair<const char*, Maker>, 5> kBaselines = {{
    {"round_robin", round_robin},
    {"table_wise", largest_first},
    {"uniform", uniform},
    {"table_row_wise", table_row_wise},
    {"data_parallel", replicated},
}};

}  // namespace

std::vector<std::string> baseline_names() {
  std::vector<std::string> names;
  for (const auto& [name, maker] : kBaselines) names.emplace_back(name);
  return names;
}

Result<Layout> baseline(std::string_view name, const Workload& workload, const Topology& topology) {
  for (const auto& [known, maker] : kBaselines) {
    if (name != known) continue;
    Layout layout;
    layout.name = known;
    layout.ranks = topology.ranks();
    for (const Table& table : workload.tables) layout.table_names.push_back(table.name);
    layout.tables = maker(workload, topology);
    return layout;
  }
  const std::string meant = closest_name(name, baseline_names());
  return fail({ErrorKind::usage, fmt::format("there is no layout '{}'", name), "--layout",
               fmt::format("{} or a JSON file", fmt::join(baseline_names(), ", ")),
               meant.empty() ? "" : fmt::format("Did you mean {}?", meant)});
}

}  // namespace shardscope
