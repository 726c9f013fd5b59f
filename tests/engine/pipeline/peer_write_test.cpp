// Gradients of hierarchical tables on their way from rails to owners: written into the owners'
// buffers by ranks that are threads, sent as messages by emulated ones.

#include <atomic>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "engine/comm/forwarding_communicator.hpp"
#include "engine/comm/peer_window.hpp"
#include "small_config.hpp"

namespace shardscope::engine {
namespace {

struct DomainCalls {
  std::atomic<int> messages{0};
  std::atomic<int> windows{0};
};

/// Counts the exchanges inside fast domains, and who asks for a window.
class CountingCommunicator final : public ForwardingCommunicator {
 public:
  CountingCommunicator(std::unique_ptr<Communicator> inner, DomainCalls& calls)
      : ForwardingCommunicator(std::move(inner)), calls_(calls) {}

  void alltoall_v(Stream& stream, Group group, const AllToAllV& call) override {
    if (group == Group::domain) ++calls_.messages;
    ForwardingCommunicator::alltoall_v(stream, group, call);
  }
  [[nodiscard]] PeerWindow* peer_window() override {
    ++calls_.windows;
    return ForwardingCommunicator::peer_window();
  }

 private:
  DomainCalls& calls_;
};

constexpr std::int32_t kPeerIterations = 6;

EngineConfig hierarchical_config() {
  EngineConfig config = small_config(40, 2);
  config.layout.clusters[static_cast<std::size_t>(ClusterType::RB)].exchange =
      Exchange::hierarchical;
  config.layout.tables[0] = row_wise(config.workload.tables[0], {3, 0, 2, 1});
  for (LinkModel* link : {&config.topology.intra, &config.topology.inter}) {
    link->bytes_per_s.value = 1e9;
    link->efficiency.value = 1;
  }
  return config;
}

struct PeerRun {
  std::vector<float> weights[2];
  std::vector<RankTraffic> traffic;
};

PeerRun run_counted(EngineConfig config, DomainCalls& calls) {
  config.wrap_communicator = [&calls](std::unique_ptr<Communicator> inner) {
    return std::make_unique<CountingCommunicator>(std::move(inner), calls);
  };
  PeerRun run;
  auto source = make_batch_source(config.workload, 1, RangePolicy::error);
  EXPECT_TRUE(source.has_value());
  const auto engine = Engine::create(
      config, std::move(*source),
      [&config](std::int64_t, std::int32_t rank, const RankBatch& batch,
                std::vector<std::vector<float>>& gradients) {
        for (std::size_t f = 0; f < gradients.size(); ++f) {
          const FeatureBatch& feature = batch.features[f];
          const std::size_t rows = is_pooled(config.workload.features[f].pooling)
                                       ? feature.lengths.size()
                                       : static_cast<std::size_t>(feature.ids.size());
          gradients[f].assign(rows * 8, 0.25F * static_cast<float>(rank + 1));
        }
      });
  EXPECT_TRUE(engine.has_value()) << to_string(engine.error());
  // In two blocks: what one published serves the next.
  for (const std::int32_t iterations : {1, kPeerIterations - 1}) {
    const auto block = (*engine)->run(iterations, nullptr);
    EXPECT_TRUE(block.has_value()) << to_string(block.error());
  }
  for (std::int32_t t = 0; t < 2; ++t) run.weights[t] = (*engine)->weights(t);
  run.traffic = (*engine)->traffic();
  return run;
}

TEST(PeerWrites, ReplaceTheSecondMessageOfTheDomainAndChangeNothing) {
  EngineConfig config = hierarchical_config();
  DomainCalls written;
  const PeerRun threads = run_counted(config, written);
  config.comm = CommKind::loopback;
  DomainCalls sent;
  const PeerRun loopback = run_counted(config, sent);
  EXPECT_EQ(written.messages, 4 * kPeerIterations);
  EXPECT_EQ(written.windows, 4 * kPeerIterations);
  EXPECT_EQ(sent.messages, 2 * 4 * kPeerIterations);
  EXPECT_EQ(sent.windows, 0);
  for (std::int32_t t = 0; t < 2; ++t) EXPECT_EQ(threads.weights[t], loopback.weights[t]);
  EXPECT_EQ(threads.traffic, loopback.traffic);
}

TEST(PeerWrites, AreTheSameOnThrottledWires) {
  EngineConfig config = hierarchical_config();
  DomainCalls calls;
  const PeerRun free = run_counted(config, calls);
  config.wire = {1e8, 1e9};
  const PeerRun throttled = run_counted(config, calls);
  EXPECT_EQ(throttled.traffic, free.traffic);
  for (std::int32_t t = 0; t < 2; ++t) EXPECT_EQ(throttled.weights[t], free.weights[t]);
}

}  // namespace
}  // namespace shardscope::engine
