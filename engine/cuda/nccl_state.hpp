#pragma once
// What the communicators of one NCCL fabric share.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/comm/abort_flag.hpp"
#include "engine/comm/groups.hpp"
#include "engine/cuda/host_meeting.hpp"
#include "engine/cuda/nccl_board.hpp"
#include "engine/cuda/nccl_fabric.hpp"
#include "layout/topology.hpp"

namespace shardscope::engine::cuda {

/// One communicator of NCCL. Calls on it and its abort exclude each other.
struct NcclSlot {
  std::mutex mutex;
  NcclComm comm = nullptr;
};

/// A buffer that peers write into.
struct PublishedBuffer {
  std::byte* at = nullptr;
  std::int64_t bytes = 0;
};

struct NcclState {
  NcclState(const Topology& shape, std::int32_t channel_count, const FabricOptions& fabric_options,
            NcclPort device);
  ~NcclState();

  /// Ranks find each other.
  [[nodiscard]] Status connect();
  /// Raises the flag and aborts NCCL's work.
  void abort_run(const Error& reason);
  void watch();
  /// See Communicator::agree_on_graph. An error names the ranks that do not come.
  [[nodiscard]] bool agree(std::int32_t rank, bool ready);
  /// The buffers of the rank's domain, by rail; null after an abort.
  [[nodiscard]] const std::vector<PublishedBuffer>* publish(std::int32_t rank, std::int32_t channel,
                                                            const PublishedBuffer& buffer);
  /// The ranks that did not come to `what` end the run.
  void abort_for(const std::vector<std::int32_t>& missing, std::int32_t rank, const char* what);

  [[nodiscard]] NcclSlot& slot(std::int32_t rank, std::int32_t channel) {
    return *slots[static_cast<std::size_t>(channel * topology.ranks() + rank)];
  }
  /// Calls enqueue() between the starts and ends of a group, unless the run is aborted. False after
  /// a failure, which has aborted it.
  template <class Enqueue>
  bool group(std::int32_t rank, std::int32_t channel, const Enqueue& enqueue);
  /// Waits while NCCL is at work on a non-blocking call. The slot's mutex is held.
  [[nodiscard]] int settle(NcclComm comm, int result) const;
  [[nodiscard]] Error nccl_error(int result, std::int32_t rank) const;

  Topology topology;
  std::int32_t channels;
  FabricOptions options;
  NcclPort port;
  GroupMap groups;
  CallBoard board;
  AbortFlag abort;
  std::vector<std::unique_ptr<NcclSlot>> slots;  ///< [channel][rank]
  HostMeeting<std::uint8_t> launches;            ///< ready or not, by rank
  /// [channel][domain], by rail.
  std::vector<std::unique_ptr<HostMeeting<PublishedBuffer>>> publications;
  std::mutex watch_mutex;  ///< of `ending`
  std::condition_variable wake;
  bool ending = false;
  std::thread watcher;
};

template <class Enqueue>
bool NcclState::group(std::int32_t rank, std::int32_t channel, const Enqueue& enqueue) {
  NcclSlot& here = slot(rank, channel);
  int result = kNcclSuccess;
  {
    const std::lock_guard lock(here.mutex);
    if (abort.raised() || here.comm == nullptr) return false;
    port.set_device(rank);
    result = port.nccl->group_start();
    const auto add = [&](int part) {
      if (result == kNcclSuccess) result = part;
    };
    if (result == kNcclSuccess) enqueue(here.comm, add);
    add(settle(here.comm, port.nccl->group_end()));
  }
  if (result == kNcclSuccess) return true;
  if (!abort.raised()) abort_run(nccl_error(result, rank));
  return false;
}

}  // namespace shardscope::engine::cuda
