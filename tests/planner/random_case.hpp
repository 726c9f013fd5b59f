#pragma once
// Random workloads, topologies and layouts for property tests.

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "layout/layout.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope::testing_planner {

struct RandomCase {
  Workload workload;
  Topology topology;
  Layout layout;
};

/// How many of `all` random cases to try: a quarter under sanitizers, which look at how the code
/// runs and not at what it finds.
[[nodiscard]] constexpr std::uint64_t cases(std::uint64_t all) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return (all + 3) / 4;
#else
  return all;
#endif
}

struct CaseLimits {
  int max_tables = 8;
  int max_domains = 3;
  int max_domain_size = 4;
  bool dense = true;
};

/// An H100-like machine: every constant set, of the given shape.
[[nodiscard]] Topology some_topology(std::int32_t hosts, std::int32_t gpus_per_host);

[[nodiscard]] Workload random_workload(std::mt19937_64& random, const CaseLimits& limits);
[[nodiscard]] TablePlacement random_placement(const Workload& workload, std::size_t table,
                                              std::int32_t ranks, std::mt19937_64& random);
[[nodiscard]] Layout random_layout(const Workload& workload, const Topology& topology,
                                   std::mt19937_64& random);
[[nodiscard]] RandomCase random_case(std::uint64_t seed, const CaseLimits& limits = {});

/// The machine with more memory, more of one bandwidth or less of one latency, each named.
[[nodiscard]] std::vector<std::pair<std::string, Topology>> better_machines(
    const Topology& topology);

}  // namespace shardscope::testing_planner
