#include "tests/engine/cuda/command_cases.hpp"

#include <utility>
#include "tests/engine/cuda/emulated_gpu.hpp"
#include "tests/engine/cuda/fake_cublas.hpp"
#include "tests/engine/cuda/fake_nccl.hpp"
#include "tests/profiler/fake_cupti.hpp"

namespace shardscope::app {
namespace {

Optimizer rowwise() {
  Optimizer optimizer;
  optimizer.kind = OptimizerKind::rowwise_adagrad;
  optimizer.words_per_row = 1;
  return optimizer;
}

Feature feature_of(std::string name, std::int32_t table, Pooling pooling) {
  Feature feature;
  feature.name = std::move(name);
  feature.table = table;
  feature.pooling = pooling;
  feature.hotness = Hotness::uniform(0, 4);
  return feature;
}

}  // namespace

Inputs small_inputs(std::int32_t ranks) {
  Inputs inputs{{}, load_topology("host-cpu:1x" + std::to_string(ranks)).value()};
  Workload& workload = inputs.workload;
  workload.name = "small";
  workload.tables = {{"users", 40, 8, DType::fp32, rowwise(), ""},
                     {"items", 60, 8, DType::fp32, rowwise(), ""},
                     {"words", 50, 8, DType::fp32, rowwise(), ""}};
  workload.features = {feature_of("user", 0, Pooling::mean), feature_of("item", 1, Pooling::sum),
                       feature_of("text", 2, Pooling::sequence)};
  workload.global_batch = 16;
  workload.dense.dense_features = 3;
  workload.dense.bottom_mlp = {8};
  workload.dense.interaction = Interaction::dot;
  workload.dense.top_mlp = {8, 1};
  return inputs;
}

Layout mixed_layout(const Inputs& inputs) {
  Layout layout = load_layout("table_row_wise", inputs).value();
  layout.name = "mixed";
  const std::int32_t last = inputs.topology.ranks() - 1;
  TablePlacement dp;
  dp.cluster = ClusterType::DP;
  dp.column_cuts = {0, 8};
  TablePlacement rb = layout.tables[1];
  rb.cluster = ClusterType::RB;
  rb.row_shards = 1;
  rb.column_cuts = {0, 4, 8};
  rb.owners = {0, last};
  TablePlacement ub = layout.tables[2];
  ub.cluster = ClusterType::UB;
  ub.row_shards = 2;
  ub.column_cuts = {0, 8};
  ub.owners = {last, 0};
  layout.tables = {dp, rb, ub};
  return layout;
}

std::shared_ptr<const GpuAccess> emulated_access() {
  static const cupti::CuptiApi cupti = cupti::fake_cupti_api();
  auto access = std::make_shared<GpuAccess>();
  access->plugin = [] {
    return Result<const engine::cuda::PluginTable*>(&engine::cuda::emulated_plugin());
  };
  access->nccl = [] {
    return Result<const engine::cuda::NcclApi*>(&engine::cuda::fake_nccl_api());
  };
  access->cublas = [] {
    return Result<const engine::cuda::CublasApi*>(&engine::cuda::fake_cublas_api());
  };
  access->cupti = [] { return Result<const cupti::CuptiApi*>(&cupti); };
  return access;
}

RunOptions cuda_options(const std::string& comm) {
  RunOptions options;
  options.backend = "cuda";
  options.comm = comm;
  options.iterations = 6;
  options.gpu = emulated_access();
  return options;
}

}  // namespace shardscope::app
