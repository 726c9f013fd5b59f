// Synthetic workloads: HugeCTR's embedding collection benchmarks, DeepRecSys,
// distributed-embeddings.

#include "layout/models_facts.hpp"

namespace shardscope {

namespace {

// {tables, rows, dim, hotness}
constexpr TableGroupFact kT180Tables[] = {
    {5, 10000, 128, 100},   {5, 4000000, 64, 50},    {5, 4000000, 64, 30},
    {5, 50000000, 32, 50},  {20, 1000, 128, 50},     {30, 10000, 128, 30},
    {10, 5000000, 256, 20}, {20, 4000000, 128, 20},  {10, 10, 128, 100},
    {10, 1000, 64, 10},     {10, 10000, 128, 100},   {5, 100000, 64, 100},
    {40, 4000000, 64, 200}, {1, 50000000, 128, 100}, {1, 500000000, 32, 100},
};

constexpr TableGroupFact kT200Tables[] = {
    {10, 100, 128, 1},      {10, 1000, 128, 1},       {10, 1000, 128, 5},
    {10, 10000, 128, 20},   {20, 10000, 128, 100},    {10, 10000, 128, 1},
    {10, 100000, 128, 1},   {10, 1000000, 128, 1},    {10, 2000000, 128, 1},
    {10, 2000000, 128, 1},  {10, 4000000, 128, 1},    {20, 4000000, 128, 1},
    {20, 2000000, 64, 10},  {10, 4000000, 128, 20},   {10, 4000000, 128, 30},
    {10, 4000000, 128, 50}, {10, 50000000, 128, 100},
};

constexpr TableGroupFact kT510Tables[] = {
    {100, 1000, 128, 1},    {150, 100000, 128, 1},  {20, 1000000, 128, 1},   {50, 2000000, 128, 1},
    {150, 4000000, 128, 1}, {20, 4000000, 128, 10}, {20, 4000000, 128, 100},
};

constexpr TableGroupFact kMerlinTinyTables[] = {
    {1, 10000, 8, 1, 10}, {1, 1000000, 16, 1, 10}, {1, 25000000, 16, 1, 10},
    {1, 25000000, 16, 1}, {16, 10, 8, 1},          {10, 1000, 8, 1},
    {4, 10000, 8, 1},     {2, 100000, 16, 1},      {19, 1000000, 16, 1},
};

constexpr TableGroupFact kMerlinSmallTables[] = {
    {5, 10000, 16, 1, 30}, {3, 4000000, 32, 1, 30}, {1, 50000000, 32, 1, 30},
    {1, 50000000, 32, 1},  {30, 10, 16, 1},         {30, 1000, 16, 1},
    {5, 10000, 16, 1},     {5, 100000, 32, 1},      {27, 4000000, 32, 1},
};

constexpr TableGroupFact kRm1Tables[] = {{8, 4000000, 32, 80}};
constexpr TableGroupFact kRm2Tables[] = {{32, 500000, 64, 120}};
constexpr TableGroupFact kRm3Tables[] = {{10, 2000000, 32, 20}};

/// The models of HugeCTR's benchmark differ in their tables alone.
Workload embedding_collection(const char* name, std::span<const TableGroupFact> tables) {
  Workload workload = workload_of(
      {.name = name,
       .source = "NVIDIA-Merlin/HugeCTR benchmarks/embedding_collection/benchmark.sh (2f2016fa), "
                 "read 2026-09. Batch: one file of its data generator",
       .table_prefix = "t",
       .global_batch = 65536},
      tables);
  DensePart& dense = workload.dense;
  dense.dense_features = 13;
  dense.bottom_mlp = {512, 256, 128};
  dense.interaction = Interaction::dcnv2;
  dense.cross_layers = 3;
  dense.cross_rank = 512;
  dense.top_mlp = {1024, 1024, 512, 256, 1};
  return workload;
}

/// DeepRecSys' models concatenate (arch_interaction_op "cat").
Workload deeprecsys(const char* name, std::span<const TableGroupFact> tables, DensePart dense) {
  Workload workload = workload_of(
      {.name = name,
       .source =
           "harvard-acc/DeepRecSys models/configs (1383176a), read 2026-09. Batch: chosen here",
       .table_prefix = "cat_",
       .global_batch = 4096},
      tables);
  dense.optimizer = workload.dense.optimizer;
  dense.interaction = Interaction::concat;
  workload.dense = std::move(dense);
  return workload;
}

/// distributed-embeddings: everything side by side into one MLP.
Workload merlin(const char* name, std::span<const TableGroupFact> tables,
                std::vector<std::int32_t> mlp) {
  Workload workload = workload_of(
      {.name = name,
       .source = "NVIDIA-Merlin/distributed-embeddings examples/benchmarks/synthetic_models/"
                 "config_v3.py (4cb42d4a), read 2026-09",
       .table_prefix = "t",
       .optimizer = OptimizerKind::adagrad,
       .zipf_alpha = 1.05,
       .global_batch = 65536},
      tables);
  workload.dense.dense_features = 10;
  workload.dense.interaction = Interaction::concat;
  workload.dense.top_mlp = std::move(mlp);
  return workload;
}

}  // namespace

Workload make_t180() {
  return embedding_collection("t180", kT180Tables);
}
Workload make_t200() {
  return embedding_collection("t200", kT200Tables);
}
Workload make_t510() {
  return embedding_collection("t510", kT510Tables);
}

Workload make_rm1() {
  return deeprecsys("rm1", kRm1Tables,
                    {.dense_features = 128, .bottom_mlp = {64, 32}, .top_mlp = {256, 64, 1}});
}
Workload make_rm2() {
  return deeprecsys("rm2", kRm2Tables,
                    {.dense_features = 256, .bottom_mlp = {128, 64}, .top_mlp = {128, 64, 1}});
}
Workload make_rm3() {
  return deeprecsys(
      "rm3", kRm3Tables,
      {.dense_features = 2560, .bottom_mlp = {1024, 256, 32}, .top_mlp = {512, 256, 1}});
}

Workload make_merlin_tiny() {
  return merlin("merlin-tiny", kMerlinTinyTables, {256, 128, 1});
}
Workload make_merlin_small() {
  return merlin("merlin-small", kMerlinSmallTables, {512, 256, 128, 1});
}

}  // namespace shardscope
