// Hierarchical RB between emulated GPUs: with peer access gradients are written into their owners'
// buffers, without it they travel as messages, and nobody learns anything else.

#include <gtest/gtest.h>

#include "engine/comm/fabric.hpp"
#include "tests/engine/cuda/both_devices.hpp"
#include "tests/engine/cuda/emulated_gpu.hpp"
#include "tests/engine/pipeline/run_case.hpp"

namespace shardscope::engine::cuda {
namespace {

class PeerWrites : public ::testing::Test {
 protected:
  ~PeerWrites() override { set_emulated_error("can_access_peer", kCudaSuccess); }

  /// Runs the cases with several ranks a domain; how many there were.
  int run(CommKind comm, bool graphs) {
    const std::uint64_t seed = testing::test_seed();
    int ran = 0;
    for (int n = 0; n < 200 && ran < 6; ++n) {
      PipelineCase value = make_case(seed, n);
      const bool hierarchical =
          value.layout.options(ClusterType::RB).exchange == Exchange::hierarchical;
      if (!hierarchical || value.topology.fast_domain < 2 || value.topology.ranks() > 8) continue;
      value.comm = comm;
      value.deferred = false;
      value.device = make_emulated_device(comm == CommKind::nccl ? 8 : 1, graphs);
      if (graphs) value.iterations = 6;
      const auto wrong = run_case(value);
      EXPECT_FALSE(wrong) << "case " << n << " of seed " << seed << ": " << *wrong << "\n"
                          << to_json(value);
      ++ran;
    }
    return ran;
  }
};

TEST_F(PeerWrites, LearnTheSameOnSeveralGpusAndOnOne) {
  EXPECT_GT(run(CommKind::nccl, false), 0);
  EXPECT_GT(run(CommKind::nccl, true), 0);
  EXPECT_GT(run(CommKind::loopback, false), 0);
}

TEST_F(PeerWrites, AreMessagesWhereGpusHaveNoPeerAccess) {
  set_emulated_error("can_access_peer", 1);
  EXPECT_GT(run(CommKind::nccl, false), 0);
}

TEST_F(PeerWrites, AreOfferedWhereEveryGpuOfADomainReachesTheOthers) {
  Topology topology = make_case(testing::test_seed(), 0).topology;
  topology.hosts = 1;
  topology.gpus_per_host = 4;
  topology.fast_domain = 4;
  const auto device = make_emulated_device(4);
  for (const bool access : {true, false}) {
    set_emulated_error("can_access_peer", access ? kCudaSuccess : 1);
    const auto fabric = device->fabric(topology, 1, {});
    ASSERT_TRUE(fabric) << to_string(fabric.error());
    EXPECT_EQ((*fabric)->communicator(0, 0)->peer_window() != nullptr, access);
  }
}

}  // namespace
}  // namespace shardscope::engine::cuda
