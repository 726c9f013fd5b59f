// Rules that only large models meet, and arithmetic far beyond 32 bits.

#include <gtest/gtest.h>

#include <chrono>

#include "layout/memory.hpp"
#include "tests/layout/check_case.hpp"

namespace shardscope {
namespace {

using check_case::broken_rules;
using check_case::Case;
using check_case::valid_case;

Case with_endless_memory(Executor executor) {
  Case one = valid_case(executor);
  one.topology.gpu.memory_bytes.value = 1e18;
  one.topology.host_memory_bytes.value = 1e18;
  return one;
}

TEST(CheckLarge, EngineCountsIdsOfATableIn32Bits) {
  Case one = with_endless_memory(Executor::engine);
  one.workload.global_batch = std::int64_t{1} << 31;
  EXPECT_EQ(broken_rules(one), (std::set<std::string>{"engine.ids"}));
  for (const Violation& violation : one.check()) {
    if (violation.table == 0) {
      EXPECT_EQ(violation.amount, (std::int64_t{3} << 31) - 4294967295);
    }
  }
}

TEST(CheckLarge, HugectrCountsIdsOfAGpuIn32Bits) {
  Case one = with_endless_memory(Executor::hugectr);
  one.workload.global_batch = (std::int64_t{1} << 31) / 3 + 4;
  one.workload.global_batch -= one.workload.global_batch % 4;
  EXPECT_EQ(broken_rules(one), (std::set<std::string>{"hugectr.keys_32bit"}));
}

TEST(CheckLarge, HugectrReachesGradientsOfReplicatedTablesWith32Bits) {
  Case one = with_endless_memory(Executor::hugectr);
  one.workload.tables[1].rows = (std::int64_t{1} << 32) / 8;
  EXPECT_EQ(broken_rules(one), (std::set<std::string>{"hugectr.dp_elements"}));
  EXPECT_EQ(one.check()[0].amount, 1);
}

TEST(CheckLarge, TorchrecShardsBeyond32BitElementsAreFlagged) {
  Case one = with_endless_memory(Executor::torchrec);
  one.workload.tables[2].rows = std::int64_t{1} << 29;
  EXPECT_EQ(broken_rules(one), (std::set<std::string>{"torchrec.elements"}));
  EXPECT_EQ(one.check()[0].amount, (std::int64_t{1} << 32) - 2147483647);
  EXPECT_EQ(one.check()[0].rank, 3);
  EXPECT_FALSE(has_errors(one.check()));
}

TEST(CheckLarge, ATrillionParametersAreCountedExactly) {
  Case one = with_endless_memory(Executor::engine);
  one.workload.key = KeyType::i64;
  one.workload.tables[0].rows = 62'500'000'000;
  EXPECT_EQ(broken_rules(one), std::set<std::string>{});
  const MemoryAccount account = memory_of(one.workload, one.topology, one.layout, Executor::engine);
  std::int64_t weights = 0;
  for (const MemoryUse& use : account.gpus) weights += use.weights;
  EXPECT_EQ(weights, 4 * (std::int64_t{1'000'000'000'000} + 4 * 50 * 8 + 400 * 8));
}

TEST(CheckLarge, SumsSaturateInsteadOfOverflowing) {
  for (const Executor executor : {Executor::engine, Executor::hugectr, Executor::torchrec}) {
    Case one = valid_case(executor);
    one.workload.key = KeyType::i64;
    for (Table& table : one.workload.tables) table.rows = INT64_MAX;
    if (executor == Executor::torchrec) one.placement(0).row_cuts = {0, 1, 2, 3, INT64_MAX};
    const std::set<std::string> rules = broken_rules(one);
    EXPECT_TRUE(rules.contains("memory.gpu")) << to_string(executor);
    for (const Violation& violation : one.check()) {
      if (violation.rule == "memory.gpu") {
        EXPECT_GT(violation.amount, 0);
      }
    }
  }
}

TEST(CheckLarge, WorldsTooLargeToListEveryBufferSaySo) {
  Case one = valid_case(Executor::engine);
  one.topology = *topology_by_name("host-cpu:128x64");
  one.layout.ranks = one.topology.ranks();
  std::vector<std::int32_t> everyone(static_cast<std::size_t>(one.layout.ranks));
  for (std::size_t i = 0; i < everyone.size(); ++i) everyone[i] = static_cast<std::int32_t>(i);
  one.workload.tables[0].rows = 1'000'000;
  one.workload.global_batch = 65536;
  one.placement(0) = row_wise(one.workload.tables[0], everyone);
  EXPECT_EQ(broken_rules(one), (std::set<std::string>{"memory.partial"}));
}

TEST(CheckLarge, ChecksOfAThousandGpusStayInteractive) {
  Case one = valid_case(Executor::hugectr);
  one.topology = *topology_by_name("dgx-h100:125");
  one.workload = *model_by_name("t510");
  one.workload.global_batch = 64000;
  one.layout = {};
  one.layout.ranks = one.topology.ranks();
  for (std::size_t t = 0; t < one.workload.tables.size(); ++t) {
    const Table& table = one.workload.tables[t];
    one.layout.table_names.push_back(table.name);
    const auto owner = static_cast<std::int32_t>(t % 999);
    one.layout.tables.push_back(row_wise(table, {owner, owner + 1}));
  }
  one.layout.tables[0] = data_parallel(one.workload.tables[0]);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(broken_rules(one), std::set<std::string>{});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

}  // namespace
}  // namespace shardscope
