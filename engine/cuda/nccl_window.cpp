#include "engine/cuda/nccl_window.hpp"

#include "engine/cuda/nccl_communicator.hpp"

namespace shardscope::engine::cuda {

NcclWindow::NcclWindow(NcclState& state, NcclCommunicator& communicator, std::int32_t channel)
    : state_(state),
      communicator_(communicator),
      channel_(channel),
      buffers_(static_cast<std::size_t>(communicator.group_size(Group::domain))) {}

void NcclWindow::publish(Stream& /*stream*/, std::byte* buffer, std::int64_t bytes) {
  const auto* all = state_.publish(communicator_.rank(), channel_, {buffer, bytes});
  buffers_.assign(buffers_.size(), {});
  if (all != nullptr) buffers_ = *all;
}

void NcclWindow::wrote(Stream& stream, std::int32_t peer, std::int64_t bytes) {
  communicator_.count_written(stream, peer, bytes);
}

// What a stream has written is done before its message of the barrier goes out.
void NcclWindow::fence(Stream& stream, std::int64_t /*received_bytes*/) {
  communicator_.barrier(stream, Group::domain);
}

}  // namespace shardscope::engine::cuda
