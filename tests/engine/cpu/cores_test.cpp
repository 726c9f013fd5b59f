#include "engine/cpu/cores.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <set>
#include <thread>

namespace shardscope::engine {
namespace {

/// Runs `work` on a thread that may use only these cores.
template <class Work>
void with_cores(const std::set<int>& cores, const Work& work) {
  std::thread([&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int core : cores) CPU_SET(core, &set);
    ASSERT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
    work();
  }).join();
}

std::set<int> cores_of_this_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  std::set<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.insert(core);
  }
  return cores;
}

TEST(Cores, StreamsHaveACoreEachWhereThereAreEnoughElseRanksTakeTurns) {
  const std::set<int> allowed = cores_of_this_thread();
  const auto count = static_cast<std::int32_t>(allowed.size());
  std::set<int> used;
  for (std::int32_t rank = 0; rank < count; ++rank) used.insert(core_of(rank, count, 0, 1));
  EXPECT_EQ(used, allowed);
  for (std::int32_t rank = 0; rank < 2 * count; ++rank) {
    const int core = core_of(rank, 2 * count, 0, 2);
    EXPECT_EQ(core, core_of(rank, 2 * count, 1, 2)) << "a rank's streams share its core";
    EXPECT_EQ(core, core_of(rank % count, 2 * count, 0, 2));
  }
}

TEST(Cores, OnlyThoseThatTheProcessMayUse) {
  const int last = *cores_of_this_thread().rbegin();
  with_cores({last}, [&] {
    for (std::int32_t rank = 0; rank < 4; ++rank) EXPECT_EQ(core_of(rank, 4, 0, 1), last);
  });
}

TEST(Cores, AThreadStaysWhereItIsTold) {
  const int first = *cores_of_this_thread().begin();
  std::thread([&] {
    stay_on_core(-1);
    EXPECT_GE(cores_of_this_thread().size(), 1u);
    stay_on_core(first);
    EXPECT_EQ(cores_of_this_thread(), std::set<int>{first});
  }).join();
}

}  // namespace
}  // namespace shardscope::engine
