#pragma once
// Exchange between ranks. One object per rank and channel; every stream of a schedule that
// communicates has its own channel, so that two streams never share an order.

#include <cstdint>
#include <span>
#include <string>

#include "engine/stream.hpp"
#include "layout/bytes.hpp"
#include "layout/result.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope::engine {

/// Which ranks take part. Peers are numbered 0.. in ascending rank order inside the group.
enum class Group : std::uint8_t {
  flat,    ///< all ranks
  domain,  ///< the ranks of one fast domain; peer = rail
  rail,    ///< equal rail of every domain; peer = domain
};

/// Counts on their way; valid until the next exchange_counts on the same communicator.
struct CountsHandle {
  Event done;
};

/// Arguments of alltoall_v. Offsets and sizes in bytes, one per peer of the group; the arrays and
/// buffers must stay valid until the call's work has finished on the stream.
struct AllToAllV {
  const std::byte* send = nullptr;
  const std::int64_t* send_offsets = nullptr;
  const std::int64_t* send_bytes = nullptr;
  std::byte* receive = nullptr;
  const std::int64_t* receive_offsets = nullptr;
  const std::int64_t* receive_bytes = nullptr;
  /// The sizes are written by work enqueued before the call. Else they are there when it is made,
  /// which lets a communicator that needs them then (NCCL) go on without waiting.
  bool sizes_from_stream = false;
};

/// Where the time of a communicator's calls went, since creation. Ranks that share cores: waits are
/// what a rank's own work does not contain.
struct CommTimes {
  std::int64_t waited_ns =
      0;  ///< for peers to arrive or to finish (loopback: for this rank's turn)
  std::int64_t copied_ns = 0;  ///< moving and adding bytes
  std::int64_t wire_ns = 0;    ///< held back by the throttle after the copies were done

  friend bool operator==(const CommTimes&, const CommTimes&) = default;
};

class PeerWindow;

/// Calls enqueue on the stream and return; results are visible after an event recorded behind
/// them. After abort (local or by a peer) every pending and later call returns promptly without
/// effect, and status() tells the reason. Peers with mismatched sizes are an error, not a hang.
class Communicator {
 public:
  virtual ~Communicator() = default;

  [[nodiscard]] virtual std::int32_t rank() const = 0;
  [[nodiscard]] virtual std::int32_t size() const = 0;
  [[nodiscard]] virtual std::int32_t group_size(Group group) const = 0;
  /// This rank's peer number in the group.
  [[nodiscard]] virtual std::int32_t group_rank(Group group) const = 0;

  /// Sends send[peer * slots ...] to each peer and fills receive alike; slots int64 a peer.
  [[nodiscard]] virtual CountsHandle exchange_counts(Stream& stream, Group group,
                                                     const std::int64_t* send,
                                                     std::int64_t* receive, std::int32_t slots) = 0;
  /// The host's only wait inside an iteration.
  [[nodiscard]] virtual Status wait(const CountsHandle& handle) = 0;

  virtual void alltoall_v(Stream& stream, Group group, const AllToAllV& call) = 0;

  /// In-place sum of `count` elements. Peer p reduces the p-th of equal chunks (the first
  /// count % peers chunks are one longer) in ascending rank order, then sends it to all.
  virtual void all_reduce(Stream& stream, Group group, void* data, std::int64_t count,
                          DType dtype) = 0;

  virtual void barrier(Stream& stream, Group group) = 0;

  /// Names the calls enqueued from now on in errors (a stage: "RB network_forward"). The text must
  /// outlive the communicator; it is not copied.
  virtual void set_label(const char* label) = 0;

  /// Direct writes into the buffers of this rank's fast domain; null where the device has none.
  [[nodiscard]] virtual PeerWindow* peer_window() { return nullptr; }

  /// Whether calls whose sizes are there when they are made may be part of a stream's graph.
  [[nodiscard]] virtual bool goes_into_graphs() const { return false; }
  /// At the end of every graph that holds calls of communicators, whatever became of it: true where
  /// all ranks are ready to launch theirs. The host waits for them.
  [[nodiscard]] virtual bool agree_on_graph(bool /*ready*/) { return false; }
  /// Behind the launch of a graph that all agreed on, on the stream that launched it.
  virtual void launched_graph(Stream& /*stream*/) {}

  /// Ends every wait of every rank within 1 s. May be called from any thread; the first reason
  /// stays.
  virtual void abort(const Error& reason) = 0;
  [[nodiscard]] virtual Status status() const = 0;

  /// Bytes this rank has sent to other ranks since creation, counts (8 bytes each) and all-reduce
  /// included. Grows as the calls run, so a task on the same stream reads exactly what the calls
  /// before it have sent. Any thread may ask.
  [[nodiscard]] virtual LinkBytes sent() const = 0;
  /// Grows like sent().
  [[nodiscard]] virtual CommTimes times() const = 0;
};

}  // namespace shardscope::engine
