// The small models that a calibration runs.

#include <fmt/format.h>

#include <utility>

#include "layout/names.hpp"
#include "planner/calibration.hpp"

namespace shardscope {

namespace {

constexpr std::int64_t kTableBytes = std::int64_t{48} << 20;  // well beyond a core's share of cache

/// One kind of table, read by one feature; every rank owns as many whole tables.
struct EmbeddingProbe {
  std::int32_t dim = 64;
  DType dtype = DType::fp32;
  double alpha = 1.05;
  std::int32_t hotness = 10;
  OptimizerKind optimizer = OptimizerKind::sgd;
  std::int64_t samples = 1024;  ///< of a rank
  std::int32_t tables = 1;      ///< of a rank
  std::int64_t rows = 0;        ///< 0: as many as make a large table
  ClusterType cluster = ClusterType::RB;
};

std::string name_of_probe(const EmbeddingProbe& probe) {
  return fmt::format("{} x {}, zipf {:g}, hotness {}, {}{}{}", to_string(probe.dtype), probe.dim,
                     probe.alpha, probe.hotness, to_string(probe.optimizer),
                     probe.tables > 1 ? fmt::format(", {} tables", probe.tables) : "",
                     probe.cluster == ClusterType::UB ? ", UB" : "");
}

Probe embedding_probe(const EmbeddingProbe& one, std::int32_t ranks) {
  Probe probe;
  probe.name = name_of_probe(one);
  Workload& workload = probe.workload;
  workload.name = "calibrate";
  workload.global_batch = one.samples * ranks;
  probe.layout.name = "probe";
  probe.layout.ranks = ranks;
  const std::int32_t tables = one.tables * ranks;
  for (std::int32_t t = 0; t < tables; ++t) {
    Table table;
    table.name = fmt::format("t{}", t);
    table.dim = one.dim;
    table.dtype = one.dtype;
    table.rows = one.rows > 0 ? one.rows : kTableBytes / (one.dim * bytes_of(one.dtype));
    table.optimizer = make_optimizer(one.optimizer);
    probe.layout.table_names.push_back(table.name);
    workload.tables.push_back(std::move(table));
    Feature feature;
    feature.name = fmt::format("f{}", t);
    feature.table = t;
    feature.hotness = Hotness::fixed(one.hotness);
    feature.ids.alpha = one.alpha;
    workload.features.push_back(std::move(feature));
    TablePlacement placement;
    placement.cluster = one.cluster;
    placement.column_cuts = {0, one.dim};
    placement.owners = {t % ranks};
    probe.layout.tables.push_back(std::move(placement));
  }
  return probe;
}

/// A dense part over one small table: layers of one width.
Probe dense_probe(std::int32_t width, std::int64_t samples, std::int32_t ranks) {
  Probe probe = embedding_probe({.dim = 16, .hotness = 1, .samples = samples, .rows = 1000}, ranks);
  probe.name = fmt::format("{} samples, layers of {}", samples, width);
  probe.dense = true;
  DensePart& dense = probe.workload.dense;
  dense.dense_features = width;
  dense.bottom_mlp = {width, width};
  dense.interaction = Interaction::concat;
  dense.top_mlp = {width, width, 1};
  return probe;
}

}  // namespace

std::vector<Probe> calibration_probes(std::int32_t ranks) {
  using enum OptimizerKind;
  const EmbeddingProbe embeddings[] = {
      {.dim = 16},
      {.dim = 32},
      {.dim = 64},
      {.dim = 128},
      {.dim = 64, .dtype = DType::fp16},
      {.dim = 64, .dtype = DType::bf16},
      {.dim = 32, .alpha = 0},
      {.dim = 64, .alpha = 1.3},
      {.dim = 32, .hotness = 1, .samples = 4096},
      {.dim = 128, .hotness = 1, .samples = 2048},
      {.dim = 16, .hotness = 40, .samples = 512},
      {.dim = 32, .optimizer = adagrad},
      {.dim = 128, .optimizer = adagrad},
      {.dim = 32, .optimizer = rowwise_adagrad},
      {.dim = 128, .optimizer = rowwise_adagrad},
      {.dim = 64, .optimizer = adam},
      {.dim = 16, .hotness = 1, .samples = 128, .tables = 16, .rows = 1000},
      {.dim = 64, .hotness = 4, .cluster = ClusterType::UB},
  };
  std::vector<Probe> probes;
  for (const EmbeddingProbe& one : embeddings) probes.push_back(embedding_probe(one, ranks));
  for (const auto& [width, samples] :
       {std::pair{64, 256}, {64, 2048}, {256, 256}, {256, 1024}, {512, 512}, {1024, 128}})
    probes.push_back(dense_probe(width, samples, ranks));
  return probes;
}

}  // namespace shardscope
