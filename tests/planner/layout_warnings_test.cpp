#include "planner/layout_warnings.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "planner/baselines.hpp"
#include "planner/optimize.hpp"
#include "random_case.hpp"

namespace shardscope {
namespace {

using testing_planner::some_topology;

/// Tables of equal bytes, the first read far more often.
Workload warned_model() {
  Workload workload;
  workload.name = "warned";
  workload.global_batch = 8192;
  for (int t = 0; t < 16; ++t) {
    workload.tables.push_back({.name = fmt::format("t{}", t),
                               .rows = 2'000'000,
                               .dim = 64,
                               .optimizer = make_optimizer(OptimizerKind::rowwise_adagrad)});
    Feature feature{.name = fmt::format("f{}", t), .table = t};
    if (t == 0) feature.hotness = Hotness::fixed(100);
    workload.features.push_back(feature);
  }
  return workload;
}

Topology warned_machine() {
  Topology topology = some_topology(2, 4);
  topology.gpu.memory_bytes.value = 80e9;
  return topology;
}

const Violation* warning_of(const std::vector<Violation>& all, const std::string& rule) {
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const Violation& one) { return one.rule == rule; });
  return at == all.end() ? nullptr : &*at;
}

std::vector<Violation> warnings_of(const Workload& workload, const Topology& topology,
                                   const Layout& layout, Executor executor = Executor::engine) {
  return layout_warnings(workload, topology, layout, {.executor = executor});
}

TEST(LayoutWarnings, ATableOfSeveralUnreadStreamsIsNamedOnce) {
  Workload workload = warned_model();
  workload.features[0].ids.kind = workload.features[3].ids.kind = IdDistributionKind::recorded;
  workload.features.push_back(workload.features[0]);
  workload.features.back().name = "f0 again";
  const Topology topology = warned_machine();
  const auto warnings =
      warnings_of(workload, topology, *baseline("table_wise", workload, topology));
  const Violation* assumed = warning_of(warnings, "ids.assumed");
  ASSERT_NE(assumed, nullptr);
  EXPECT_EQ(assumed->amount, 2);
  EXPECT_NE(assumed->message.find("t0, t3"), std::string::npos) << assumed->message;
  EXPECT_EQ(assumed->message.find("t0"), assumed->message.rfind("t0"));
}

TEST(LayoutWarnings, EachIsAWarningWithItsCure) {
  const Workload workload = warned_model();
  const Topology topology = warned_machine();
  for (const std::string& name : baseline_names())
    for (const Violation& one :
         warnings_of(workload, topology, *baseline(name, workload, topology))) {
      EXPECT_EQ(one.severity, Severity::warning);
      EXPECT_FALSE(one.message.empty());
      EXPECT_FALSE(one.cure.empty()) << one.message;
    }
}

TEST(LayoutWarnings, ReplicatedTablesThatFillAGpu) {
  const Workload workload = warned_model();
  Topology topology = warned_machine();
  const Layout layout = *baseline("data_parallel", workload, topology);
  EXPECT_EQ(warning_of(warnings_of(workload, topology, layout), "memory.replicated"), nullptr);
  topology.gpu.memory_bytes.value = 12e9;
  const auto some = warnings_of(workload, topology, layout);
  ASSERT_NE(warning_of(some, "memory.replicated"), nullptr);
  topology.gpu.memory_bytes.value = 6e9;
  const auto all = warnings_of(workload, topology, layout);
  ASSERT_NE(warning_of(all, "memory.replicated"), nullptr);
  EXPECT_NE(warning_of(all, "memory.replicated")->message.find("more than it has"),
            std::string::npos);
}

TEST(LayoutWarnings, BlocksOfRowsThatPopularIdsCrowd) {
  Workload workload = warned_model();
  const Topology topology = warned_machine();
  Layout layout = *baseline("table_wise", workload, topology);
  TablePlacement& blocks = layout.tables[0];
  blocks.mapping = RowMapping::block;
  blocks.row_shards = 4;
  blocks.row_cuts = {0, 500'000, 1'000'000, 1'500'000, 2'000'000};
  blocks.owners = {0, 1, 2, 3};
  EXPECT_EQ(warning_of(warnings_of(workload, topology, layout), "rows.lopsided_blocks"), nullptr);
  workload.features[0].ids.order = IdOrder::popularity;
  const auto found = warnings_of(workload, topology, layout);
  const Violation* lopsided = warning_of(found, "rows.lopsided_blocks");
  ASSERT_NE(lopsided, nullptr);
  EXPECT_EQ(lopsided->table, 0);
  EXPECT_EQ(lopsided->rank, 0);
}

TEST(LayoutWarnings, APlanOfASmallerWorld) {
  const Workload workload = warned_model();
  const Topology topology = warned_machine();
  Layout layout = *baseline("round_robin", workload, topology);
  EXPECT_EQ(warning_of(warnings_of(workload, topology, layout), "layout.idle_ranks"), nullptr);
  for (TablePlacement& table : layout.tables)
    for (std::int32_t& owner : table.owners) owner %= 4;
  const auto found = warnings_of(workload, topology, layout);
  const Violation* idle = warning_of(found, "layout.idle_ranks");
  ASSERT_NE(idle, nullptr);
  EXPECT_NE(idle->message.find("4 of 8 ranks"), std::string::npos) << idle->message;
}

TEST(LayoutWarnings, EvenMemoryWithUnevenWork) {
  const Workload workload = warned_model();
  const Topology topology = warned_machine();
  const auto found = warnings_of(workload, topology, *baseline("round_robin", workload, topology));
  const Violation* uneven = warning_of(found, "balance.work");
  ASSERT_NE(uneven, nullptr);
  EXPECT_EQ(uneven->rank, 0);
}

TEST(LayoutWarnings, SmallTablesThatReplicationWouldServe) {
  Workload workload = warned_model();
  for (Table& table : workload.tables) table.rows = 200;
  const Topology topology = warned_machine();
  const Layout layout = *baseline("table_row_wise", workload, topology);
  const auto found = warnings_of(workload, topology, layout);
  const Violation* small = warning_of(found, "replicate.small");
  ASSERT_NE(small, nullptr);
  EXPECT_EQ(warning_of(layout_warnings(workload, topology, layout, {}, false), "replicate.small"),
            nullptr);
}

TEST(LayoutWarnings, WholeTablesBuiltOnOneGpuByTorchRec) {
  const Workload workload = warned_model();
  Topology topology = warned_machine();
  topology.gpu.memory_bytes.value = 4e9;
  topology.host_memory_bytes.value = 20e9;
  const auto found = warnings_of(workload, topology, *baseline("round_robin", workload, topology),
                                 Executor::torchrec);
  EXPECT_EQ(std::count_if(found.begin(), found.end(),
                          [](const Violation& one) { return one.rule == "memory.load"; }),
            2);
}

TEST(LayoutWarnings, OursIsNotWarnedOfWhatItWouldHaveAvoided) {
  const Workload workload = warned_model();
  const Topology topology = warned_machine();
  const auto plan = optimize(workload, topology, {});
  ASSERT_TRUE(plan);
  const auto found = warnings_of(workload, topology, plan->layout);
  EXPECT_EQ(warning_of(found, "balance.work"), nullptr);
  EXPECT_EQ(warning_of(found, "replicate.small"), nullptr);
}

}  // namespace
}  // namespace shardscope
