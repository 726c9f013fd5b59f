#include <gtest/gtest.h>

#include "layout/models.hpp"

namespace shardscope {
namespace {

/// Every quantity of a topology, with its field's name.
std::vector<std::pair<std::string, Quantity>> quantities_of(const Topology& topology) {
  const Gpu& gpu = topology.gpu;
  std::vector<std::pair<std::string, Quantity>> all = {
      {"memory_bytes", gpu.memory_bytes},
      {"memory_bytes_per_s", gpu.memory_bytes_per_s},
      {"cache_bytes", gpu.cache_bytes},
      {"gemm_flops_per_s", gpu.gemm_flops_per_s},
      {"gemm_efficiency", gpu.gemm_efficiency},
      {"gather_efficiency", gpu.gather_efficiency},
      {"reduce_efficiency", gpu.reduce_efficiency},
      {"stream_efficiency", gpu.stream_efficiency},
      {"sort_bytes_per_key", gpu.sort_bytes_per_key},
      {"launch_s", gpu.launch_s},
      {"overlap_cost", gpu.overlap_cost},
      {"host_memory_bytes", topology.host_memory_bytes}};
  for (const LinkModel* link : {&topology.intra, &topology.inter}) {
    all.push_back({"latency_s", link->latency_s});
    all.push_back({"bytes_per_s", link->bytes_per_s});
    all.push_back({"efficiency", link->efficiency});
  }
  return all;
}

TEST(Topologies, EveryNumberIsPositiveAndSaysWhereItComesFrom) {
  EXPECT_EQ(topology_names().size(), 11U);
  for (const std::string& name : topology_names()) {
    const auto topology = topology_by_name(name);
    ASSERT_TRUE(topology) << to_string(topology.error());
    EXPECT_EQ(topology->name, name);
    EXPECT_EQ(topology->ranks() % topology->fast_domain, 0);
    for (const auto& [field, quantity] : quantities_of(*topology)) {
      EXPECT_GT(quantity.value, 0) << name << " " << field;
      EXPECT_FALSE(quantity.source.empty()) << name << " " << field;
      EXPECT_EQ(quantity.date.size(), 10U) << name << " " << field;
    }
  }
}

TEST(Topologies, NodesAndGpusFollowTheName) {
  const Topology big = *topology_by_name("dgx-h100:16");
  EXPECT_EQ(big.hosts, 16);
  EXPECT_EQ(big.gpus_per_host, 8);
  EXPECT_EQ(big.fast_domain, 8);
  EXPECT_EQ(big.name, "dgx-h100:16");
  const Topology half = *topology_by_name("h100-pcie:1x4");
  EXPECT_EQ(half.ranks(), 4);
  EXPECT_EQ(half.fast_domain, 4);
  const Topology cpu = *topology_by_name("host-cpu:2x4");
  EXPECT_EQ(cpu.ranks(), 8);
  EXPECT_EQ(cpu.fast_domain, 4);
  EXPECT_EQ(topology_by_name("host-cpu:1x64")->ranks(), 64);
}

TEST(Topologies, AGb200DomainSpansUpTo18Hosts) {
  const Topology rack = *topology_by_name("gb200");
  EXPECT_EQ(rack.ranks(), 72);
  EXPECT_EQ(rack.fast_domain, 72);
  EXPECT_EQ(topology_by_name("gb200:2")->fast_domain, 8);
  EXPECT_EQ(topology_by_name("gb200:2x2")->fast_domain, 4);
  const Topology two_racks = *topology_by_name("gb200:36");
  EXPECT_EQ(two_racks.ranks(), 144);
  EXPECT_EQ(two_racks.fast_domain, 72);
  const auto uneven = topology_by_name("gb200:20");
  ASSERT_FALSE(uneven);
  EXPECT_EQ(uneven.error().expected, "at most 18 nodes, or a multiple of 18");
}

TEST(Topologies, BadSpecificationsSayWhatIsAccepted) {
  for (const char* spec : {"dgx-h100:", "dgx-h100:0", "dgx-h100:-1", "dgx-h100:2y4", "dgx-h100:2x",
                           "dgx-h100:2x4x1", "dgx-h100:99999999999", "dgx-h100:2x0"}) {
    const auto topology = topology_by_name(spec);
    ASSERT_FALSE(topology) << spec;
    EXPECT_NE(topology.error().expected.find("NAME:NODESxGPUS"), std::string::npos) << spec;
  }
  EXPECT_FALSE(topology_by_name("dgx-h100:1x16"));
  EXPECT_FALSE(topology_by_name("dgx-h100:100000"));
  const auto unknown = topology_by_name("dgx-h1000:2");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().cure, "Did you mean dgx-h100?");
  EXPECT_NE(unknown.error().expected.find("gb200"), std::string::npos);
  EXPECT_FALSE(topology_by_name(""));
}

}  // namespace
}  // namespace shardscope
