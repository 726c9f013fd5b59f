#include "random_case.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace shardscope::testing_planner {

namespace {

template <class T>
T pick(std::mt19937_64& random, std::initializer_list<T> values) {
  return *(values.begin() + static_cast<std::ptrdiff_t>(random() % values.size()));
}

int between(std::mt19937_64& random, int low, int high) {
  return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
}

/// `parts` + 1 bounds from 0 to `size`, multiples of `step` inside.
template <class T>
std::vector<T> random_cuts(std::mt19937_64& random, T size, int parts, T step) {
  std::vector<T> cuts = {0, size};
  const T places = (size - 1) / step;
  for (int tries = 0; static_cast<int>(cuts.size()) < parts + 1 && tries < 50; ++tries) {
    if (places < 1) break;
    const T cut = step * (1 + static_cast<T>(random() % static_cast<std::uint64_t>(places)));
    if (std::find(cuts.begin(), cuts.end(), cut) == cuts.end()) cuts.push_back(cut);
  }
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

}  // namespace

Topology some_topology(std::int32_t hosts, std::int32_t gpus_per_host) {
  Topology topology;
  topology.name = "test";
  topology.hosts = hosts;
  topology.gpus_per_host = gpus_per_host;
  topology.fast_domain = gpus_per_host;
  Gpu& gpu = topology.gpu;
  gpu.memory_bytes.value = 80e9;
  gpu.memory_bytes_per_s.value = 3.35e12;
  gpu.cache_bytes.value = 50e6;
  gpu.gemm_flops_per_s.value = 989e12;
  gpu.gemm_efficiency.value = 0.65;
  gpu.gather_efficiency.value = 0.65;
  gpu.reduce_efficiency.value = 0.45;
  gpu.stream_efficiency.value = 0.75;
  gpu.sort_bytes_per_key.value = 100;
  gpu.launch_s.value = 3e-6;
  gpu.overlap_cost.value = 0.5;
  topology.intra.latency_s.value = 25e-6;
  topology.intra.bytes_per_s.value = 450e9;
  topology.intra.efficiency.value = 0.72;
  topology.inter.latency_s.value = 20e-6;
  topology.inter.latency_per_doubling_s.value = 10e-6;
  topology.inter.bytes_per_s.value = 50e9;
  topology.inter.efficiency.value = 0.78;
  return topology;
}

Workload random_workload(std::mt19937_64& random, const CaseLimits& limits) {
  Workload workload;
  workload.name = "random";
  workload.global_batch = 4800 * between(random, 1, 4);
  workload.wire = pick(random, {DType::fp32, DType::fp16});
  const int tables = between(random, 1, limits.max_tables);
  for (int t = 0; t < tables; ++t) {
    Table& table = workload.tables.emplace_back();
    table.name = fmt::format("t{}", t);
    table.rows = pick<std::int64_t>(random, {40, 1000, 30000, 2000000});
    table.dim = 4 * between(random, 1, 32);
    table.optimizer = make_optimizer(
        pick(random, {OptimizerKind::sgd, OptimizerKind::adagrad, OptimizerKind::rowwise_adagrad}));
    const int features = between(random, 1, 4) == 1 ? 2 : 1;
    const auto id_order = pick(random, {IdOrder::permuted, IdOrder::popularity});
    for (int f = 0; f < features; ++f) {
      Feature& feature = workload.features.emplace_back();
      feature.name = fmt::format("{}f{}", table.name, f);
      feature.table = t;
      feature.pooling = pick(random, {Pooling::sum, Pooling::sum, Pooling::mean});
      feature.hotness = Hotness::fixed(between(random, 1, 20));
      feature.weighted = between(random, 0, 4) == 0;
      feature.num_poolings = between(random, 1, 2);
      feature.ids.alpha = pick(random, {0.0, 0.8, 1.1});
      feature.ids.order = id_order;
    }
  }
  if (limits.dense) {
    workload.dense.dense_features = 13;
    workload.dense.bottom_mlp = {64, 16};
    workload.dense.interaction = Interaction::concat;
    workload.dense.top_mlp = {64, 1};
  }
  return workload;
}

TablePlacement random_placement(const Workload& workload, std::size_t table, std::int32_t ranks,
                                std::mt19937_64& random) {
  const Table& what = workload.tables[table];
  const auto cluster =
      pick(random, {ClusterType::RB, ClusterType::RB, ClusterType::UB, ClusterType::DP});
  if (cluster == ClusterType::DP) return data_parallel(what);
  TablePlacement placement;
  placement.cluster = cluster;
  placement.row_shards = between(random, 1, std::min(ranks, 4));
  placement.column_cuts = random_cuts<std::int32_t>(random, what.dim, between(random, 1, 3), 4);
  if (between(random, 0, 1) == 1) {
    placement.mapping = RowMapping::block;
    placement.row_cuts = random_cuts<std::int64_t>(random, what.rows, placement.row_shards, 1);
    placement.row_shards = static_cast<std::int32_t>(placement.row_cuts.size()) - 1;
  }
  for (std::int32_t n = 0; n < placement.row_shards * placement.column_shards(); ++n)
    placement.owners.push_back(between(random, 0, ranks - 1));
  if (cluster == ClusterType::RB && between(random, 0, 2) == 0)
    placement.exchange = pick(random, {Exchange::flat, Exchange::hierarchical});
  return placement;
}

Layout random_layout(const Workload& workload, const Topology& topology, std::mt19937_64& random) {
  Layout layout;
  layout.name = "random";
  layout.ranks = topology.ranks();
  layout.clusters[static_cast<std::size_t>(ClusterType::RB)].exchange =
      pick(random, {Exchange::flat, Exchange::hierarchical});
  layout.clusters[static_cast<std::size_t>(ClusterType::UB)].dedup = between(random, 0, 3) > 0;
  for (std::size_t t = 0; t < workload.tables.size(); ++t) {
    layout.table_names.push_back(workload.tables[t].name);
    layout.tables.push_back(random_placement(workload, t, layout.ranks, random));
  }
  return layout;
}

RandomCase random_case(std::uint64_t seed, const CaseLimits& limits) {
  std::mt19937_64 random(seed);
  RandomCase made;
  made.topology = some_topology(between(random, 1, limits.max_domains),
                                between(random, 1, limits.max_domain_size));
  made.workload = random_workload(random, limits);
  made.layout = random_layout(made.workload, made.topology, random);
  return made;
}

std::vector<std::pair<std::string, Topology>> better_machines(const Topology& topology) {
  std::vector<std::pair<std::string, Topology>> machines;
  const auto with = [&](const char* what, auto change) {
    machines.emplace_back(what, topology);
    change(machines.back().second);
  };
  with("memory x 2", [](Topology& t) { t.gpu.memory_bytes.value *= 2; });
  with("memory x 1.1", [](Topology& t) { t.gpu.memory_bytes.value *= 1.1; });
  with("memory bandwidth x 1.5", [](Topology& t) { t.gpu.memory_bytes_per_s.value *= 1.5; });
  with("fast links x 2", [](Topology& t) { t.intra.bytes_per_s.value *= 2; });
  with("network x 2", [](Topology& t) { t.inter.bytes_per_s.value *= 2; });
  with("fast links' latency x 0.3", [](Topology& t) { t.intra.latency_s.value *= 0.3; });
  with("network latency x 0.3", [](Topology& t) {
    t.inter.latency_s.value *= 0.3;
    t.inter.latency_per_doubling_s.value *= 0.3;
  });
  return machines;
}

}  // namespace shardscope::testing_planner
