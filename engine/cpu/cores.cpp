#include "engine/cpu/cores.hpp"

#include <pthread.h>
#include <sched.h>

#include <vector>

namespace shardscope::engine {
namespace {

/// Cores that this process may use, ascending.
std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

}  // namespace

int core_of(std::int32_t rank, std::int32_t ranks, std::int32_t stream, std::int32_t streams) {
  const std::vector<int> cores = allowed_cores();
  if (cores.empty()) return -1;
  const bool one_each = cores.size() >= static_cast<std::size_t>(ranks) * streams;
  const auto place = static_cast<std::size_t>(one_each ? rank * streams + stream : rank);
  return cores[place % cores.size()];
}

void stay_on_core(int core) {
  if (core < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

}  // namespace shardscope::engine
