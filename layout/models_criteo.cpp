// Workloads on the Criteo data sets.

#include <iterator>
#include <vector>

#include "layout/models_facts.hpp"

namespace shardscope {

namespace {

constexpr std::int32_t kCriteoDenseFeatures = 13;

// MLPerf recommendation_v2: multi-hot Criteo Terabyte, {tables, rows, dim, hotness}.
constexpr TableGroupFact kDcnv2Tables[] = {
    {1, 40000000, 128, 3},   {1, 39060, 128, 2},     {1, 17295, 128, 1},   {1, 7424, 128, 2},
    {1, 20265, 128, 6},      {1, 3, 128, 1},         {1, 7122, 128, 1},    {1, 1543, 128, 1},
    {1, 63, 128, 1},         {1, 40000000, 128, 7},  {1, 3067956, 128, 3}, {1, 405282, 128, 8},
    {1, 10, 128, 1},         {1, 2209, 128, 6},      {1, 11938, 128, 9},   {1, 155, 128, 5},
    {1, 4, 128, 1},          {1, 976, 128, 1},       {1, 14, 128, 1},      {1, 40000000, 128, 12},
    {1, 40000000, 128, 100}, {1, 40000000, 128, 27}, {1, 590152, 128, 10}, {1, 12973, 128, 3},
    {1, 108, 128, 1},        {1, 36, 128, 1},
};

// Cardinalities after DLRM's preprocessing; one id a feature.
constexpr std::int64_t kKaggleRows[] = {
    1460, 583,   10131227, 2202608, 305,  24,   12517, 633,     3,  93145, 5683,   8351593, 3194,
    27,   14992, 5461306,  10,      5652, 2173, 4,     7046547, 18, 15,    286181, 105,     142572};

// The same with at most 40M rows a table.
constexpr std::int64_t kTerabyteRows[] = {
    39884406, 39043,    17289,    7420,     20263,  3,     7120, 1543, 63,
    38532951, 2953546,  403346,   10,       2208,   11938, 155,  4,    976,
    14,       39979771, 25641295, 39664984, 585935, 12972, 108,  36};

std::vector<TableGroupFact> one_hot(std::span<const std::int64_t> rows, std::int32_t dim) {
  std::vector<TableGroupFact> groups;
  for (const std::int64_t count : rows) groups.push_back({1, count, dim, 1});
  return groups;
}

}  // namespace

Workload make_dcnv2() {
  Workload workload = workload_of(
      {.name = "dcnv2",
       .source = "MLPerf DLRM-DCNv2: mlcommons/training_results_v5.0 NVIDIA hugectr/train.py "
                 "(0fdc28f0) and mlcommons/training recommendation_v2 (aa344c7f), read 2026-09",
       .table_prefix = "cat_",
       .optimizer = OptimizerKind::adagrad,
       .learning_rate = 0.004,
       .global_batch = 55296},
      kDcnv2Tables);
  DensePart& dense = workload.dense;
  dense.dense_features = kCriteoDenseFeatures;
  dense.bottom_mlp = {512, 256, 128};
  dense.interaction = Interaction::dcnv2;
  dense.cross_layers = 3;
  dense.cross_rank = 512;
  dense.top_mlp = {1024, 1024, 512, 256, 1};
  return workload;
}

Workload make_criteo_kaggle() {
  constexpr std::int32_t kDim = 16;
  Workload workload = workload_of(
      {.name = "criteo-kaggle",
       .source = "Criteo Kaggle cardinalities: mlcommons/inference quickgen.py (b66003e1); dense "
                 "part: facebookresearch/dlrm bench/dlrm_s_criteo_kaggle.sh; read 2026-09. Batch: "
                 "chosen here",
       .table_prefix = "cat_",
       .learning_rate = 0.1,
       .global_batch = 16384},
      one_hot(kKaggleRows, kDim));
  workload.dense.dense_features = kCriteoDenseFeatures;
  workload.dense.bottom_mlp = {512, 256, 64, kDim};
  workload.dense.interaction = Interaction::dot;
  workload.dense.top_mlp = {512, 256, 1};
  return workload;
}

Workload make_criteo_terabyte() {
  constexpr std::int32_t kDim = 128;
  Workload workload = workload_of(
      {.name = "criteo-terabyte",
       .source = "Criteo Terabyte cardinalities at most 40M: mlcommons/inference quickgen.py "
                 "(b66003e1); dense part: MLPerf recommendation (DLRM); read 2026-09. Batch: "
                 "chosen here",
       .table_prefix = "cat_",
       .learning_rate = 0.1,
       .global_batch = 65536},
      one_hot(kTerabyteRows, kDim));
  workload.dense.dense_features = kCriteoDenseFeatures;
  workload.dense.bottom_mlp = {512, 256, kDim};
  workload.dense.interaction = Interaction::dot;
  workload.dense.top_mlp = {1024, 1024, 512, 256, 1};
  return workload;
}

}  // namespace shardscope
