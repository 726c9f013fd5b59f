#pragma once
// PeerWindow between the GPUs of a fast domain: kernels write through peer access, barriers are
// NCCL's.

#include <cstdint>
#include <vector>

#include "engine/comm/peer_window.hpp"
#include "engine/cuda/nccl_state.hpp"

namespace shardscope::engine::cuda {

class NcclCommunicator;

class NcclWindow final : public PeerWindow {
 public:
  NcclWindow(NcclState& state, NcclCommunicator& communicator, std::int32_t channel);

  /// The host waits for the peers': addresses are there when it returns.
  void publish(Stream& stream, std::byte* buffer, std::int64_t bytes) override;
  [[nodiscard]] bool publishes_at_once() const override { return true; }
  [[nodiscard]] std::byte* peer(std::int32_t peer) const override {
    return buffers_[static_cast<std::size_t>(peer)].at;
  }
  [[nodiscard]] std::int64_t peer_bytes(std::int32_t peer) const override {
    return buffers_[static_cast<std::size_t>(peer)].bytes;
  }
  void wrote(Stream& stream, std::int32_t peer, std::int64_t bytes) override;
  void fence(Stream& stream, std::int64_t received_bytes) override;

 private:
  NcclState& state_;
  NcclCommunicator& communicator_;
  std::int32_t channel_;
  std::vector<PublishedBuffer> buffers_;
};

}  // namespace shardscope::engine::cuda
