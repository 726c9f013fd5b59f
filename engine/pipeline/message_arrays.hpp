#pragma once
// The arrays of an all-to-all, kept for as long as the run.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/comm/communicator.hpp"
#include "layout/buffers.hpp"

namespace shardscope::engine {

/// One message a peer inside a buffer. Offsets follow from the largest sizes and stay; the sizes of
/// a batch may be smaller.
struct MessageArrays {
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> bytes;

  /// Messages of those (largest) sizes, each aligned.
  static MessageArrays of_sizes(const std::vector<std::int64_t>& sizes) {
    MessageArrays arrays;
    std::int64_t offset = 0;
    for (const std::int64_t size : sizes) {
      arrays.offsets.push_back(offset);
      offset += aligned_bytes(size);
    }
    arrays.bytes = sizes;
    return arrays;
  }
  [[nodiscard]] std::int64_t offset(std::int32_t peer) const {
    return offsets[static_cast<std::size_t>(peer)];
  }
  std::int64_t& size(std::int32_t peer) { return bytes[static_cast<std::size_t>(peer)]; }
};

[[nodiscard]] inline AllToAllV all_to_all(const std::byte* send, const MessageArrays& sent,
                                          std::byte* receive, const MessageArrays& received) {
  return {send,    sent.offsets.data(),     sent.bytes.data(),
          receive, received.offsets.data(), received.bytes.data()};
}

}  // namespace shardscope::engine
