#include "planner/memory_model.hpp"

#include "layout/memory.hpp"
#include "random_case.hpp"

namespace shardscope {
namespace {

using testing_planner::random_case;
using testing_planner::RandomCase;

/// Largest ratio of the model to memory_of() over ranks, and smallest.
std::pair<double, double> ratios(const RandomCase& made, Executor executor) {
  const MemoryModel model(made.workload, made.topology, executor);
  const MemoryLoads loads = model.of(made.layout);
  const MemoryAccount account = memory_of(made.workload, made.topology, made.layout, executor);
  std::pair<double, double> range{1e9, 0};
  for (std::int32_t rank = 0; rank < made.topology.ranks(); ++rank) {
    const double exact = static_cast<double>(account.gpus[static_cast<std::size_t>(rank)].total());
    const double ratio = model.bytes(loads, rank) / exact;
    range.first = std::min(range.first, ratio);
    range.second = std::max(range.second, ratio);
  }
  return range;
}

TEST(MemoryModel, IsTheAccountOfHugectrAndTorchRec) {
  for (const Executor executor : {Executor::hugectr, Executor::torchrec}) {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
      SCOPED_TRACE(testing::Message() << to_string(executor) << " seed " << seed);
      RandomCase made = random_case(seed);
      made.topology.reserve_bytes = 1 << 20;
      const auto [low, high] = ratios(made, executor);
      EXPECT_GT(low, 0.999);
      EXPECT_LT(high, 1.001);
    }
  }
}

TEST(MemoryModel, IsTheSumOfTheEnginesBuffers) {
  // Alignment and counts are left out: at most 64 bytes a buffer, and 8 a list and rank.
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomCase made = random_case(seed);
    const auto [low, high] = ratios(made, Executor::engine);
    EXPECT_GT(low, 0.99);
    EXPECT_LT(high, 1.01);
  }
}

TEST(MemoryModel, TakingATableOutUndoesPuttingItIn) {
  const RandomCase made = random_case(7);
  const MemoryModel model(made.workload, made.topology, Executor::engine);
  MemoryLoads loads = model.of(made.layout);
  const double before = model.most(loads);
  model.add(loads, 0, made.layout.tables[0], made.layout.exchange_of(0), true, -1);
  EXPECT_LT(model.most(loads), before);
  model.add(loads, 0, made.layout.tables[0], made.layout.exchange_of(0), true, 1);
  EXPECT_NEAR(model.most(loads), before, before * 1e-12);
}

}  // namespace
}  // namespace shardscope
