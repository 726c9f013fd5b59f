#include "layout/topology.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace shardscope {
namespace {

LinkModel link_of(double latency, double doubling, double peak, double efficiency) {
  LinkModel link;
  link.latency_s.value = latency;
  link.latency_per_doubling_s.value = doubling;
  link.bytes_per_s.value = peak;
  link.efficiency.value = efficiency;
  return link;
}

TEST(LinkModel, AddsLatencyPerDoublingBeyondTwoParticipants) {
  const LinkModel link = link_of(25e-6, 20e-6, 1e9, 0.5);
  EXPECT_EQ(link.seconds(1e6, 0), 0);
  EXPECT_DOUBLE_EQ(link.seconds(0, 1), 25e-6);
  EXPECT_DOUBLE_EQ(link.seconds(0, 7), 25e-6 + 2 * 20e-6);
  EXPECT_DOUBLE_EQ(link.seconds(1e6, 1), 25e-6 + 1e6 / 5e8);
}

TEST(LinkModel, ReadsTheMeasuredCurveAtTheMessageSizeOfOnePeer) {
  LinkModel link = link_of(0, 0, 1, 1);
  link.by_size = {{1e3, 1e6}, {1e5, 1e8}};
  EXPECT_DOUBLE_EQ(link.seconds(1e2, 1), 1e2 / 1e6);
  EXPECT_DOUBLE_EQ(link.seconds(1e7, 1), 1e7 / 1e8);
  EXPECT_NEAR(link.seconds(1e4, 1), 1e4 / 1e7, 1e-12);
  EXPECT_NEAR(link.seconds(4e4, 4), 4e4 / 1e7, 1e-12);
}

TEST(LinkModel, WithoutBandwidthNeverEnds) {
  EXPECT_EQ(link_of(1, 0, 0, 1).seconds(1, 1), std::numeric_limits<double>::infinity());
}

TEST(Topology, RanksFallIntoHostsDomainsAndRails) {
  Topology topology;
  topology.hosts = 6;
  topology.gpus_per_host = 4;
  topology.fast_domain = 12;
  EXPECT_EQ(topology.ranks(), 24);
  EXPECT_EQ(topology.domains(), 2);
  EXPECT_EQ(topology.domain_of(13), 1);
  EXPECT_EQ(topology.rail_of(13), 1);
  EXPECT_EQ(topology.host_of(13), 3);
  EXPECT_EQ(topology.link(3, 3), LinkClass::self);
  EXPECT_EQ(topology.link(0, 11), LinkClass::intra);
  EXPECT_EQ(topology.link(0, 12), LinkClass::inter);
}

}  // namespace
}  // namespace shardscope
