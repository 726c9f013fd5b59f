#pragma once
// PeerWindow of ranks that share a process.

#include <cstdint>
#include <vector>

#include "engine/comm/peer_window.hpp"

namespace shardscope::engine {

class RendezvousCommunicator;

class RendezvousWindow final : public PeerWindow {
 public:
  explicit RendezvousWindow(RendezvousCommunicator& communicator);

  void publish(Stream& stream, std::byte* buffer, std::int64_t bytes) override;
  std::byte* peer(std::int32_t peer) const override {
    return buffers_[static_cast<std::size_t>(peer)];
  }
  std::int64_t peer_bytes(std::int32_t peer) const override {
    return bytes_[static_cast<std::size_t>(peer)];
  }
  void wrote(Stream& stream, std::int32_t peer, std::int64_t bytes) override;
  void fence(Stream& stream, std::int64_t received_bytes) override;

 private:
  RendezvousCommunicator& communicator_;
  std::vector<std::byte*> buffers_;
  std::vector<std::int64_t> bytes_;
  std::uint64_t fences_ = 0;  ///< fences passed; the stream's
};

}  // namespace shardscope::engine
