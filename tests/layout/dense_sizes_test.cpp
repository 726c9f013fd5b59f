#include "layout/dense_sizes.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "layout/scratch_bytes.hpp"

namespace shardscope {
namespace {

/// 26 single-hot features of 128 columns with DLRM-DCNv2's dense part.
Workload dcnv2_like() {
  Workload workload;
  for (std::int32_t t = 0; t < 26; ++t) {
    workload.tables.push_back({.name = "t", .rows = 100, .dim = 128});
    workload.features.push_back({.name = "f", .table = t});
  }
  workload.dense = {.dense_features = 13,
                    .bottom_mlp = {512, 256, 128},
                    .interaction = Interaction::dcnv2,
                    .cross_layers = 3,
                    .cross_rank = 512,
                    .top_mlp = {1024, 1024, 512, 256, 1},
                    .optimizer = make_optimizer(OptimizerKind::adagrad)};
  return workload;
}

TEST(DenseShape, CountsTheParametersOfDcnv2) {
  const auto shape = dense_shape(dcnv2_like());
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->input_width, 27 * 128);
  const std::int64_t bottom = 13 * 512 + 512 + 512 * 256 + 256 + 256 * 128 + 128;
  const std::int64_t cross = 3 * (2 * 3456 * 512 + 3456);
  const std::int64_t top =
      3456 * 1024 + 1024 + 1024 * 1024 + 1024 + 1024 * 512 + 512 + 512 * 256 + 256 + 256 + 1;
  EXPECT_EQ(shape->parameters, bottom + cross + top);
}

TEST(DenseShape, DotReadsTheBottomAndEveryPairOfVectors) {
  Workload workload = dcnv2_like();
  workload.dense.interaction = Interaction::dot;
  const auto shape = dense_shape(workload);
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->vectors, 27);
  EXPECT_EQ(shape->top_input, 128 + 27 * 26 / 2);
}

TEST(DenseShape, DotRefusesUnequalWidthsByName) {
  Workload workload = dcnv2_like();
  workload.dense.interaction = Interaction::dot;
  workload.tables[3].dim = 64;
  workload.features[3].name = "odd one";
  const auto shape = dense_shape(workload);
  ASSERT_FALSE(shape.has_value());
  EXPECT_THAT(to_string(shape.error()), ::testing::HasSubstr("odd one has 64 columns"));
}

TEST(DenseShape, RefusesShapesThatCannotRun) {
  const auto refused = [](auto change) {
    Workload workload = dcnv2_like();
    change(workload.dense);
    return !dense_shape(workload).has_value();
  };
  EXPECT_TRUE(refused([](DensePart& d) { d.top_mlp = {}; }));
  EXPECT_TRUE(refused([](DensePart& d) { d.top_mlp = {16, 2}; }));
  EXPECT_TRUE(refused([](DensePart& d) { d.top_mlp = {0, 1}; }));
  EXPECT_TRUE(refused([](DensePart& d) { d.dense_features = 0; }));
  EXPECT_TRUE(refused([](DensePart& d) { d.dense_features = -1; }));
  EXPECT_TRUE(refused([](DensePart& d) { d.cross_layers = 0; }));
  EXPECT_TRUE(refused([](DensePart& d) { d.cross_rank = 0; }));
  EXPECT_FALSE(refused([](DensePart&) {}));
}

TEST(DenseSizes, AreZeroWithoutADensePart) {
  Workload workload = dcnv2_like();
  workload.dense = {};
  EXPECT_EQ(dense_sizes(workload, 1000), DenseSizes{});
}

TEST(DenseSizes, HoldEveryActivationOfTheSamples) {
  const Workload workload = dcnv2_like();
  const DenseSizes sizes = dense_sizes(workload, 64);
  const std::int64_t row = 3456 + 512 + 256 + 3 * (512 + 2 * 3456) + 1024 + 1024 + 512 + 256 + 1;
  EXPECT_EQ(sizes.activation_bytes, 64 * 4 * row);
  EXPECT_EQ(sizes.state_bytes, sizes.parameter_bytes);
  EXPECT_GE(sizes.parameter_bytes, 4 * sizes.parameters);
  EXPECT_LT(sizes.parameter_bytes, 4 * (sizes.parameters + kDensePadding));
  EXPECT_EQ(sizes.total(),
            sizes.parameter_bytes * 3 + sizes.activation_bytes + sizes.scratch_bytes);
}

TEST(DenseSizes, OfAbsurdBatchesSaturate) {
  const DenseSizes sizes = dense_sizes(dcnv2_like(), std::int64_t{1} << 60);
  EXPECT_EQ(sizes.activation_bytes, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(sizes.total(), std::numeric_limits<std::int64_t>::max());
}

TEST(ScratchBytes, GrowWithTheCountAndTheKeys) {
  EXPECT_EQ(dedup_table_bytes(100, KeyType::i32), 256 * 8 + 400);
  EXPECT_EQ(dedup_table_bytes(100, KeyType::i64), 256 * 16 + 400);
  EXPECT_GT(dedup_table_bytes(0, KeyType::i32), 0);
  EXPECT_EQ(sort_scratch_bytes(10, std::int64_t{1} << 32), 160);
  EXPECT_EQ(sort_scratch_bytes(10, (std::int64_t{1} << 32) + 1), 320);
}

}  // namespace
}  // namespace shardscope
