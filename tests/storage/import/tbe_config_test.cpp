#include "storage/import/tbe_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "layout/check.hpp"
#include "storage/import/hugectr/mlperf_log.hpp"
#include "storage/import/trace/kernel_map.hpp"
#include "tests/shared_data.hpp"

namespace shardscope::storage {
namespace {

TEST(TbeConfig, ReadsMixedDimsBatchesSkewAndHeavyHitters) {
  ImportNotes notes("tbe.json");
  const auto workloads = read_tbe_configs(R"({"T": 2, "E": 100, "D": 64, "mixed_dim": true,
    "weighted": true, "Es": [1000, 50], "Ds": [128, 32], "max_indices": 1049,
    "batch_params": {"B": 512, "Bs": [512, 256]},
    "indices_params": {"heavy_hitters": [0.25, 0.1], "zipf_q": 2.5, "zipf_s": 1.2,
                       "index_dtype": "torch.int64", "offset_dtype": "torch.int64"},
    "pooling_params": {"L": 10, "Ls": [20.5, 4]}})",
                                          notes);
  ASSERT_TRUE(workloads) << to_string(workloads.error());
  const Workload& workload = workloads->front();
  EXPECT_EQ(workload.global_batch, 512);
  EXPECT_EQ(workload.key, KeyType::i64);
  EXPECT_EQ(workload.tables[0].rows, 1000);
  EXPECT_EQ(workload.tables[1].dim, 32);
  EXPECT_DOUBLE_EQ(workload.features[0].hotness.mean(), 20.5);
  EXPECT_DOUBLE_EQ(workload.features[1].hotness.mean(), 2) << "half as many bags";
  EXPECT_EQ(workload.features[0].ids.kind, IdDistributionKind::heavy_hitters);
  EXPECT_DOUBLE_EQ(workload.features[0].ids.alpha, 1.2);
  EXPECT_TRUE(workload.features[0].weighted);
  EXPECT_GE(notes.warning_count(), 3) << "precision, batches and the shift are assumptions";
  EXPECT_FALSE(has_errors(check_workload(workload)));
}

TEST(TbeConfig, ReadsSpecsAndSharedTables) {
  ImportNotes notes("tbe.json");
  const auto workloads = read_tbe_configs(
      R"({"T": 2, "embedding_specs": [[10, 4], [20, 8]], "feature_table_map": [0, 1, 1],
          "batch_params": {"B": 16}, "pooling_params": {"L": 3}, "indices_params": {}})",
      notes);
  ASSERT_TRUE(workloads) << to_string(workloads.error());
  ASSERT_EQ(workloads->front().features.size(), 3U);
  EXPECT_EQ(workloads->front().features[2].table, 1);
}

TEST(TbeConfig, TakesSizesByFeatureWhereFeaturesShareTables) {
  ImportNotes notes("tbe.json");
  const auto workloads = read_tbe_configs(
      R"({"T": 3, "E": 683, "D": 64, "mixed_dim": true, "weighted": false, "Es": [1000, 1000, 50],
          "Ds": [128, 128, 32], "feature_table_map": [0, 0, 1], "embedding_specs": null,
          "batch_params": {"B": 16}, "pooling_params": {"L": 3, "sigma_L": 2},
          "indices_params": {"heavy_hitters": []}})",
      notes);
  ASSERT_TRUE(workloads) << to_string(workloads.error());
  const Workload& workload = workloads->front();
  ASSERT_EQ(workload.tables.size(), 2U);
  EXPECT_EQ(workload.tables[1].rows, 50);
  EXPECT_EQ(workload.tables[1].dim, 32);
  ASSERT_EQ(workload.features.size(), 3U);
  EXPECT_EQ(workload.features[2].table, 1);
  EXPECT_THAT(notes.warnings(), testing::Contains(testing::Field(
                                    &ImportNote::message, testing::HasSubstr("sigma_L = 2"))));
}

TEST(TbeConfig, SaysThatMixedDimsAreNotListed) {
  ImportNotes notes("tbe.json");
  ASSERT_TRUE(read_tbe_configs(
      R"({"T": 3, "E": 683, "D": 64, "mixed_dim": true, "batch_params": {"B": 16},
          "pooling_params": {"L": 3}, "indices_params": {}})",
      notes));
  EXPECT_THAT(notes.warnings(),
              testing::Contains(testing::Field(&ImportNote::expected, testing::HasSubstr("Ds"))));
}

TEST(TbeConfig, ReadsTheOperatorList) {
  SHARDSCOPE_SHARED_DATA(text, "traces/split_table_batched_embeddings_ops.json");
  ImportNotes notes("ops.json");
  const auto workloads = read_tbe_configs(text, notes);
  ASSERT_TRUE(workloads) << to_string(workloads.error());
  ASSERT_EQ(workloads->size(), 1U);
  const Workload& workload = workloads->front();
  EXPECT_EQ(workload.tables[0].rows, 228582);
  EXPECT_EQ(workload.tables[0].dim, 128);
  EXPECT_EQ(workload.tables[0].dtype, DType::fp16);
  EXPECT_EQ(workload.tables[0].optimizer.kind, OptimizerKind::rowwise_adagrad);
  EXPECT_EQ(workload.global_batch, 512);
  EXPECT_DOUBLE_EQ(workload.features[0].hotness.mean(), 50);
}

TEST(MlperfLog, ReadsTimesEventsAndThePlannersMatrix) {
  const std::string log =
      ":::MLLOG {\"namespace\": \"\", \"key\": \"global_batch_size\", \"value\": 55296}\n"
      ":::MLLOG {\"key\": \"submission_platform\", \"value\": \"1xDGXH100\"}\n"
      ":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"throughput\": 15000000.5}}\n"
      "INFO:root:shard_matrix:\nINFO:root:[['20', '0'], ['20', '1']]\n"
      "[HCTR][10:00:00.123][INFO][RK0][main]: Iter: 1000 Time(1000 iters): 3.6s Loss: 0.12\n"
      "[HCTR][10:00:04.123][INFO][RK0][main]: Iter: 2000 Time(1000 iters): 3.8s Loss: 0.12\n"
      ":::MLLOG {broken\n";
  ImportNotes notes("log");
  const auto plan = read_mlperf_log(log, notes);
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_EQ(plan->global_batch, 55296);
  EXPECT_EQ(plan->ranks, 2);
  EXPECT_THAT(plan->facts, testing::Contains(testing::Pair("iter_ms", "3.8000")));
  bool named = false;
  for (const ImportNote& note : notes.warnings()) named = named || note.place == "log:8";
  EXPECT_TRUE(named);
}

TEST(KernelMap, MapsTheKernelsOfTheTraces) {
  const KernelMap& map = built_in_kernel_map();
  const KernelRule* forward =
      map.kernel("void split_embedding_codegen_forward_unweighted_kernel<float>()");
  ASSERT_NE(forward, nullptr);
  EXPECT_EQ(forward->stage, Stage::model_forward);
  const KernelRule* backward = map.kernel(
      "void split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel_cta_per_row_1<>()");
  ASSERT_NE(backward, nullptr);
  EXPECT_TRUE(backward->fused);
  const KernelRule* sequence =
      map.kernel("void split_embedding_nobag_codegen_forward_unweighted_small_kernel<float>()");
  ASSERT_NE(sequence, nullptr);
  EXPECT_EQ(sequence->work, Work::UB);
  const KernelRule* rows_back = map.kernel(
      "split_embedding_nobag_backward_codegen_rowwise_adagrad_unweighted_kernel_cta_per_row_1");
  ASSERT_NE(rows_back, nullptr);
  EXPECT_TRUE(rows_back->fused);
  EXPECT_EQ(rows_back->work, Work::UB);
  EXPECT_EQ(map.kernel("no such kernel"), nullptr);
}

TEST(KernelMap, TakesRulesOfAFileFirstAndNamesBadLines) {
  const auto map = parse_kernel_map(
      "# mine\nkernel my_lookup* model_forward UB\n"
      "range my range name update\n",
      "map.txt");
  ASSERT_TRUE(map) << to_string(map.error());
  EXPECT_EQ(map->kernel("my_lookup_v2")->work, Work::UB);
  EXPECT_EQ(map->range("my range name")->stage, Stage::update);
  const auto wrong = parse_kernel_map("kernel a b\n", "map.txt");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().place, "map.txt:1");
  EXPECT_THAT(wrong.error().expected, testing::HasSubstr("model_forward"));
}

}  // namespace
}  // namespace shardscope::storage
