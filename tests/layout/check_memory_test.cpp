#include <gtest/gtest.h>

#include "layout/memory.hpp"
#include "tests/layout/check_case.hpp"

namespace shardscope {
namespace {

using check_case::Case;
using check_case::valid_case;

std::int64_t used_on(const Case& one, std::size_t rank) {
  return memory_of(one.workload, one.topology, one.layout, one.executor).gpus[rank].total();
}

Violation only_violation(const Case& one) {
  const auto violations = one.check();
  EXPECT_EQ(violations.size(), 1U);
  return violations.empty() ? Violation{} : violations.front();
}

/// Table "rb" lies on rank 2 alone and is the largest there.
Case one_full_rank(Executor executor) {
  Case one = valid_case(executor);
  one.workload.tables[0].rows = 1'000'000;
  one.placement(0) = table_wise(one.workload.tables[0], 2);
  return one;
}

TEST(CheckMemory, AFittingLayoutAtTheExactLimitIsValidAndOneByteLessIsNot) {
  for (const Executor executor : {Executor::engine, Executor::hugectr, Executor::torchrec}) {
    SCOPED_TRACE(to_string(executor));
    Case one = one_full_rank(executor);
    const std::int64_t used = used_on(one, 2);
    one.topology.gpu.memory_bytes.value = static_cast<double>(used);
    EXPECT_TRUE(one.check().empty());
    one.topology.gpu.memory_bytes.value = static_cast<double>(used - 1);
    const Violation violation = only_violation(one);
    EXPECT_EQ(violation.rule, "memory.gpu");
    EXPECT_EQ(violation.rank, 2);
    EXPECT_EQ(violation.amount, 1);
    EXPECT_NE(violation.cure.find("table rb"), std::string::npos) << violation.cure;
    EXPECT_NE(violation.cure.find("1 of 2 equal parts"), std::string::npos) << violation.cure;
  }
}

TEST(CheckMemory, TheCureSaysHowManyPartsWouldFit) {
  Case one = one_full_rank(Executor::engine);
  const std::int64_t table = 1'000'000LL * 16 * 4 * 2;  // weights and adagrad state
  one.topology.gpu.memory_bytes.value = static_cast<double>(used_on(one, 2) - table * 3 / 4);
  EXPECT_NE(only_violation(one).cure.find("1 of 4 equal parts"), std::string::npos);
}

TEST(CheckMemory, ATableThatDoesNotFreeEnoughIsNotCalledACure) {
  Case one = one_full_rank(Executor::engine);
  one.topology.gpu.memory_bytes.value = 1000;
  const auto violations = one.check();
  ASSERT_EQ(violations.size(), 4U);
  EXPECT_NE(violations[2].cure.find("it alone does not free"), std::string::npos);
}

TEST(CheckMemory, ReplicatedTablesAreToBeSharded) {
  Case one = valid_case(Executor::engine);
  one.workload.tables[1].rows = 1'000'000;
  one.topology.gpu.memory_bytes.value = static_cast<double>(used_on(one, 0) - 1);
  bool told = false;
  for (const Violation& violation : one.check()) {
    if (violation.rank != 0) continue;
    told = true;
    EXPECT_NE(violation.cure.find("instead of replicating"), std::string::npos);
  }
  EXPECT_TRUE(told);
}

TEST(CheckMemory, HostsHaveALimitToo) {
  Case one = valid_case(Executor::torchrec);
  one.placement(0).tiers.assign(4, {Tier::uvm});
  const MemoryAccount account =
      memory_of(one.workload, one.topology, one.layout, Executor::torchrec);
  one.topology.host_memory_bytes.value = static_cast<double>(account.hosts[0].total() - 5);
  bool told = false;
  for (const Violation& violation : one.check()) {
    EXPECT_EQ(violation.rule, "memory.host");
    told = told || (violation.rank == 0 && violation.amount == 5);
  }
  EXPECT_TRUE(told);
}

TEST(CheckMemory, UnstatedLimitsAreNotJudged) {
  Case one = one_full_rank(Executor::engine);
  one.topology.gpu.memory_bytes.value = 0;
  one.topology.host_memory_bytes.value = 0;
  EXPECT_EQ(only_violation(one).rule, "topology.not_stated");
}

}  // namespace
}  // namespace shardscope
