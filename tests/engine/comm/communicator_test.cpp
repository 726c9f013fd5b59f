// The communicators of this folder against the suite.

#include "engine/comm/fabric.hpp"
#include "engine/comm/loopback.hpp"
#include "engine/comm/threads.hpp"
#include "tests/engine/comm/conformance_cases.hpp"
#include "tests/engine/comm/conformance_faults.hpp"

namespace shardscope::engine::conformance {
namespace {

/// A fabric as the suite sees it.
class FabricWorld final : public World {
 public:
  FabricWorld(std::unique_ptr<Fabric> fabric, bool deferred)
      : fabric_(std::move(fabric)),
        mode_(deferred ? StreamMode::deferred : fabric_->stream_mode()) {}

  std::unique_ptr<Communicator> communicator(std::int32_t rank, std::int32_t channel) override {
    return fabric_->communicator(rank, channel);
  }
  std::unique_ptr<Stream> stream() override { return make_cpu_stream(mode_, "conformance"); }
  void enter(std::int32_t rank) override { fabric_->enter(rank); }
  void leave(std::int32_t rank) override { fabric_->leave(rank); }

 private:
  std::unique_ptr<Fabric> fabric_;
  StreamMode mode_;
};

template <class AnyFabric>
Implementation implementation_of(std::string name, const WireThrottle& wire, bool deferred) {
  Implementation implementation;
  implementation.name = std::move(name);
  implementation.streams_run_at_once = std::is_same_v<AnyFabric, ThreadsFabric> && !deferred;
  implementation.make = [wire, deferred](const Topology& topology, std::int32_t channels,
                                         std::chrono::nanoseconds deadline) {
    auto fabric = AnyFabric::create(topology, channels, {wire, deadline});
    EXPECT_TRUE(fabric) << to_string(fabric.error());
    return std::make_unique<FabricWorld>(std::move(*fabric), deferred);
  };
  return implementation;
}

constexpr WireThrottle kFastWires{4e9, 2e9};

INSTANTIATE_TEST_SUITE_P(
    Of, CommunicatorConformance,
    ::testing::Values(implementation_of<ThreadsFabric>("threads", {}, false),
                      implementation_of<ThreadsFabric>("throttled", kFastWires, false),
                      implementation_of<ThreadsFabric>("deferred", {}, true),
                      implementation_of<LoopbackFabric>("loopback", {}, false),
                      implementation_of<LoopbackFabric>("loopback_deferred", {}, true)),
    name_of_implementation);

}  // namespace
}  // namespace shardscope::engine::conformance
