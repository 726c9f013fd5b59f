#include "cases.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include <fmt/format.h>

#include "engine/cpu/rounding.hpp"
#include "layout/json.hpp"

namespace shardscope::engine {

namespace {

/// Random choices of one case.
class CaseDice {
 public:
  explicit CaseDice(std::uint64_t seed) : engine_(seed) {}

  std::int64_t in(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool one_in(std::int64_t n) { return in(1, n) == 1; }
  template <class T>
  const T& of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(in(0, static_cast<std::int64_t>(choices.size()) - 1))];
  }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) {
      std::swap(values[i - 1],
                values[static_cast<std::size_t>(in(0, static_cast<std::int64_t>(i) - 1))]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

Topology case_topology(CaseDice& dice, std::int64_t n) {
  Topology topology;
  topology.name = "case";
  constexpr std::pair<std::int32_t, std::int32_t> kShapes[] = {{2, 2}, {2, 4}, {3, 2}, {1, 0}};
  const auto [hosts, gpus] = kShapes[n % 4];
  topology.hosts = hosts;
  topology.gpus_per_host = gpus > 0 ? gpus : static_cast<std::int32_t>(dice.in(1, 5));
  topology.fast_domain = topology.gpus_per_host;
  if (dice.one_in(8)) topology.fast_domain = topology.ranks();  // several hosts, one fast domain
  for (LinkModel* link : {&topology.intra, &topology.inter}) {
    link->bytes_per_s.value = 1e9;
    link->efficiency.value = 1;
    link->latency_s.value = 1e-5;
  }
  return topology;
}

/// The optimizers take turns over cases; further tables of a case draw one.
Optimizer case_optimizer(CaseDice& dice, bool exact, std::int64_t turn) {
  if (exact) return make_optimizer(OptimizerKind::sgd, 0x1p-3);
  constexpr OptimizerKind kKinds[] = {OptimizerKind::sgd, OptimizerKind::adagrad,
                                      OptimizerKind::rowwise_adagrad, OptimizerKind::adam};
  return make_optimizer(kKinds[turn % 4], dice.one_in(2) ? 0.05 : 0.3);
}

Table case_table(CaseDice& dice, const PipelineCase& value, std::size_t index, std::int64_t turn) {
  Table table;
  table.name = fmt::format("t{}", index);
  table.rows = dice.one_in(3) ? dice.in(1, 12) : dice.in(8, 150);
  table.dim = static_cast<std::int32_t>(dice.one_in(4) ? dice.in(1, 21) : 4 * dice.in(1, 8));
  if (dice.one_in(4)) table.dtype = dice.one_in(2) ? DType::fp16 : DType::bf16;
  table.optimizer = case_optimizer(dice, value.exact, index == 0 ? turn : dice.in(0, 3));
  return table;
}

Hotness case_hotness(CaseDice& dice, Pooling pooling) {
  if (pooling == Pooling::concat) return Hotness::fixed(static_cast<std::int32_t>(dice.in(1, 3)));
  switch (dice.in(0, 2)) {
    case 0:
      return Hotness::fixed(static_cast<std::int32_t>(dice.in(0, 4)));
    case 1:
      return Hotness::uniform(0, static_cast<std::int32_t>(dice.in(1, 8)));
    default: {
      Hotness hotness{HotnessKind::histogram, 0, 4, {0.4, 0.2, 0.2, 0, 0.2}};
      return hotness;
    }
  }
}

Feature case_feature(CaseDice& dice, std::int32_t table, std::size_t index, ClusterType cluster) {
  Feature feature;
  feature.name = fmt::format("f{}", index);
  feature.table = table;
  constexpr Pooling kPoolings[] = {Pooling::sum, Pooling::mean, Pooling::concat, Pooling::sequence};
  feature.pooling = kPoolings[dice.in(0, cluster == ClusterType::RB ? 1 : 3)];
  feature.hotness = case_hotness(dice, feature.pooling);
  feature.num_poolings = dice.one_in(4) ? static_cast<std::int32_t>(dice.in(2, 3)) : 1;
  feature.weighted = is_pooled(feature.pooling) && dice.one_in(3);
  return feature;
}

/// Distinct sorted bounds from 0 to `end`.
template <class T>
std::vector<T> case_cuts(CaseDice& dice, std::int64_t end, std::int64_t parts) {
  std::vector<std::int64_t> inner(static_cast<std::size_t>(end - 1));
  std::iota(inner.begin(), inner.end(), 1);
  dice.shuffle(inner);
  inner.resize(static_cast<std::size_t>(parts - 1));
  std::sort(inner.begin(), inner.end());
  std::vector<T> cuts{0};
  for (const std::int64_t cut : inner) cuts.push_back(static_cast<T>(cut));
  cuts.push_back(static_cast<T>(end));
  return cuts;
}

/// Bounds of rows; some shards may be empty.
std::vector<std::int64_t> case_row_cuts(CaseDice& dice, std::int64_t rows, std::int32_t shards) {
  if (shards <= rows && !dice.one_in(4)) return case_cuts<std::int64_t>(dice, rows, shards);
  std::vector<std::int64_t> cuts;
  for (std::int32_t j = 1; j < shards; ++j) cuts.push_back(dice.in(0, rows));
  std::sort(cuts.begin(), cuts.end());
  cuts.insert(cuts.begin(), 0);
  cuts.push_back(rows);
  return cuts;
}

TablePlacement case_placement(CaseDice& dice, const Table& table, ClusterType cluster,
                              const std::vector<std::int32_t>& owners) {
  if (cluster == ClusterType::DP) return data_parallel(table);
  TablePlacement placement;
  placement.cluster = cluster;
  placement.row_shards = static_cast<std::int32_t>(dice.one_in(4) ? 1 : dice.in(1, 6));
  placement.mapping = dice.one_in(2) ? RowMapping::block : RowMapping::modulo;
  if (placement.mapping == RowMapping::block) {
    placement.row_cuts = case_row_cuts(dice, table.rows, placement.row_shards);
  }
  const std::int64_t columns = dice.one_in(3) ? 1 : dice.in(1, std::min(table.dim, 4));
  placement.column_cuts = case_cuts<std::int32_t>(dice, table.dim, columns);
  for (std::int64_t i = 0; i < placement.row_shards * columns; ++i) {
    placement.owners.push_back(dice.of(owners));
  }
  return placement;
}

void place_case_tables(CaseDice& dice, PipelineCase& value, std::int64_t n) {
  const std::int32_t ranks = value.topology.ranks();
  value.layout.name = "case";
  value.layout.ranks = ranks;
  value.layout.clusters[static_cast<std::size_t>(ClusterType::RB)].exchange =
      n / 4 % 2 == 0 ? Exchange::hierarchical : Exchange::flat;
  value.layout.clusters[static_cast<std::size_t>(ClusterType::UB)].dedup = !dice.one_in(4);
  std::vector<std::int32_t> owners(static_cast<std::size_t>(ranks));
  std::iota(owners.begin(), owners.end(), 0);
  dice.shuffle(owners);
  if (ranks > 1 && dice.one_in(2)) {  // some ranks own nothing
    owners.resize(static_cast<std::size_t>(dice.in(1, ranks - 1)));
  }
  const std::int64_t tables = dice.in(1, 4);
  for (std::int64_t t = 0; t < tables; ++t) {
    const auto cluster = static_cast<ClusterType>((n + t) % 3);
    value.workload.tables.push_back(case_table(dice, value, static_cast<std::size_t>(t), n));
    const Table& table = value.workload.tables.back();
    value.layout.table_names.push_back(table.name);
    TablePlacement placement = case_placement(dice, table, cluster, owners);
    if (cluster == ClusterType::RB && dice.one_in(5)) {
      placement.exchange = dice.one_in(2) ? Exchange::flat : Exchange::hierarchical;
    }
    value.layout.tables.push_back(std::move(placement));
    const std::int64_t features = dice.one_in(3) ? 2 : 1;
    for (std::int64_t f = 0; f < features; ++f) {
      value.workload.features.push_back(case_feature(dice, static_cast<std::int32_t>(t),
                                                     value.workload.features.size(), cluster));
    }
  }
}

/// Bits of (seed, iteration, feature, sample, position, purpose): everything drawn is a function
/// of these.
std::uint64_t case_bits(std::uint64_t seed, std::int64_t iteration, std::size_t feature,
                        std::int64_t sample, std::int64_t position) {
  std::uint64_t key = mix_bits(seed + 0x5eedU);
  for (const auto part :
       {static_cast<std::uint64_t>(iteration), static_cast<std::uint64_t>(feature),
        static_cast<std::uint64_t>(sample), static_cast<std::uint64_t>(position)}) {
    key = mix_bits(key ^ (part + 0x9e3779b97f4a7c15U));
  }
  return key;
}

class CaseSource final : public BatchSource {
 public:
  explicit CaseSource(const PipelineCase& value) : case_(value) {}

  Result<RankBatch> make(std::int64_t iteration, std::int32_t rank,
                         std::int32_t ranks) const override {
    const Workload& workload = case_.workload;
    RankBatch batch;
    batch.iteration = iteration;
    batch.samples = samples_of_rank(workload.global_batch, rank, ranks);
    const std::int64_t first = first_sample_of_rank(workload.global_batch, rank, ranks);
    for (std::size_t f = 0; f < workload.features.size(); ++f) {
      FeatureBatch& feature = batch.features.emplace_back();
      feature.ids.type = workload.key;
      for (std::int64_t s = first; s < first + batch.samples; ++s) {
        for (std::int32_t n = 0; n < workload.features[f].num_poolings; ++n) {
          add_bag(feature, iteration, f, s, n);
        }
      }
    }
    return batch;
  }

 private:
  std::int32_t length(const Feature& feature, std::uint64_t bits) const {
    const Hotness& hotness = feature.hotness;
    const auto span = static_cast<std::uint64_t>(hotness.maximum - hotness.minimum + 1);
    auto length = hotness.minimum + static_cast<std::int32_t>(bits % span);
    if (hotness.kind == HotnessKind::histogram &&
        hotness.weights[static_cast<std::size_t>(length - hotness.minimum)] == 0) {
      length = hotness.minimum;
    }
    if (case_.exact && feature.pooling == Pooling::mean && length > 0) {
      length = static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(length)));
    }
    return length;
  }

  void add_bag(FeatureBatch& to, std::int64_t iteration, std::size_t f, std::int64_t sample,
               std::int32_t bag) const {
    const Feature& feature = case_.workload.features[f];
    const std::int64_t rows = case_.workload.tables[static_cast<std::size_t>(feature.table)].rows;
    const std::int64_t place = sample * feature.num_poolings + bag;
    const std::int32_t count = length(feature, case_bits(case_.seed, iteration, f, place, -1));
    to.lengths.push_back(count);
    for (std::int32_t n = 0; n < count; ++n) {
      const std::uint64_t bits = case_bits(case_.seed, iteration, f, place, n);
      // Half of the ids fall into few rows, so that rows repeat in bags, ranks and batches.
      const std::int64_t range = bits % 2 == 0 ? rows : std::min<std::int64_t>(rows, 5);
      const auto id = static_cast<std::int64_t>((bits >> 8) % static_cast<std::uint64_t>(range));
      if (to.ids.type == KeyType::i32) {
        to.ids.i32.push_back(static_cast<std::int32_t>(id));
      } else {
        to.ids.i64.push_back(id);
      }
      if (!feature.weighted) continue;
      const std::uint64_t weight = mix_bits(bits);
      to.weights.push_back(case_.exact ? (weight % 2 == 0 ? 0.5F : 1.0F)
                                       : static_cast<float>(weight % 1000) * 0.002F - 0.5F);
    }
  }

  PipelineCase case_;
};

}  // namespace

PipelineCase make_case(std::uint64_t seed, std::int64_t n) {
  CaseDice dice(mix_bits(seed * 1'000'003 + static_cast<std::uint64_t>(n)));
  PipelineCase value;
  value.seed = seed * 1'000'003 + static_cast<std::uint64_t>(n);
  value.exact = n % 2 == 0;
  value.schedule = static_cast<ScheduleKind>(n % 3);
  value.topology = case_topology(dice, n / 2);
  value.workload.name = "case";
  value.workload.key = dice.one_in(2) ? KeyType::i64 : KeyType::i32;
  value.workload.global_batch = dice.one_in(5) ? dice.in(1, 4) : dice.in(3, 24);
  if (!value.exact && dice.one_in(2)) {
    value.workload.wire = dice.one_in(2) ? DType::fp16 : DType::bf16;
    value.loss_scale = dice.one_in(2) ? 1 : 1024;
  }
  value.deferred = dice.one_in(4);
  value.comm = dice.one_in(4) ? CommKind::loopback : CommKind::threads;
  value.iterations = static_cast<std::int32_t>(dice.in(1, 3));
  place_case_tables(dice, value, n / 2);
  return value;
}

Layout other_layout(const PipelineCase& value, std::uint64_t salt) {
  CaseDice dice(mix_bits(value.seed ^ mix_bits(salt)));
  Layout layout = value.layout;
  std::vector<std::int32_t> owners(static_cast<std::size_t>(layout.ranks));
  std::iota(owners.begin(), owners.end(), 0);
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    const bool pooled = std::all_of(value.workload.features.begin(), value.workload.features.end(),
                                    [&](const Feature& feature) {
                                      return feature.table != static_cast<std::int32_t>(t) ||
                                             is_pooled(feature.pooling);
                                    });
    const std::vector<ClusterType> clusters =
        pooled ? std::vector{ClusterType::DP, ClusterType::RB, ClusterType::UB}
               : std::vector{ClusterType::DP, ClusterType::UB};
    layout.tables[t] = case_placement(dice, value.workload.tables[t], dice.of(clusters), owners);
  }
  for (ClusterOptions& options : layout.clusters) {
    options.dedup = !dice.one_in(4);
    options.exchange = dice.one_in(2) ? Exchange::flat : Exchange::hierarchical;
  }
  return layout;
}

std::string to_json(const PipelineCase& value) {
  return fmt::format(
      R"({{"seed": {}, "schedule": "{}", "exact": {}, "deferred": {}, "loopback": {}, "iterations": {}, )"
      R"("loss_scale": {}, "workload": {}, "topology": {}, "layout": {}}})",
      value.seed, to_string(value.schedule), value.exact, value.deferred,
      value.comm == CommKind::loopback, value.iterations, value.loss_scale,
      shardscope::to_json(value.workload), shardscope::to_json(value.topology),
      shardscope::to_json(value.layout));
}

std::shared_ptr<const BatchSource> source_of(const PipelineCase& value) {
  return std::make_shared<CaseSource>(value);
}

Gradients gradients_of(const PipelineCase& value, std::int64_t iteration, std::int64_t first_sample,
                       const RankBatch& batch) {
  const Workload& workload = value.workload;
  Gradients gradients(workload.features.size());
  for (std::size_t f = 0; f < workload.features.size(); ++f) {
    const Feature& feature = workload.features[f];
    const std::int32_t dim = workload.tables[static_cast<std::size_t>(feature.table)].dim;
    const std::vector<std::int32_t>& lengths = batch.features[f].lengths;
    for (std::size_t bag = 0; bag < lengths.size(); ++bag) {
      const std::int64_t place =
          first_sample * feature.num_poolings + static_cast<std::int64_t>(bag);
      const std::int32_t rows = is_pooled(feature.pooling) ? 1 : lengths[bag];
      for (std::int64_t element = 0; element < std::int64_t{rows} * dim; ++element) {
        const std::uint64_t bits = case_bits(value.seed ^ 0x96adU, iteration, f, place, element);
        const auto step = static_cast<float>(bits % 5) - 2.0F;
        gradients[f].push_back(value.exact ? step * 0.5F
                                           : static_cast<float>(bits % 100'000) * 2e-5F - 1.0F);
      }
    }
  }
  return gradients;
}

}  // namespace shardscope::engine
