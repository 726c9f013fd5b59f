#pragma once
// All ranks of one process and what connects them.

#include <chrono>
#include <cstdint>
#include <memory>

#include "engine/comm/communicator.hpp"
#include "engine/comm/mover.hpp"
#include "engine/comm/wire_throttle.hpp"
#include "engine/stream.hpp"
#include "layout/result.hpp"
#include "layout/topology.hpp"

namespace shardscope::engine {

/// Default of FabricOptions::deadline.
inline constexpr std::chrono::nanoseconds kDefaultDeadline = std::chrono::seconds(60);

struct FabricOptions {
  WireThrottle wire;
  /// A rank that has not come to a call so long after another did ends the run with an error that
  /// names it. Time the throttled wires need does not count.
  std::chrono::nanoseconds deadline = kDefaultDeadline;
  /// Where the ranks' buffers are not the host's (loopback); outlives the communicators. Null: the
  /// host copies and adds.
  Mover* mover = nullptr;
};

/// Makes the communicators. A rank's thread stands between enter() and leave() (RankTurn) while it
/// works; on loopback exactly one does so at a time.
class Fabric {
 public:
  virtual ~Fabric() = default;

  /// The communicator of a rank on a channel; at most once for each pair. It may outlive the
  /// fabric.
  [[nodiscard]] virtual std::unique_ptr<Communicator> communicator(std::int32_t rank,
                                                                   std::int32_t channel) = 0;
  /// The mode the ranks' streams need (StreamMode::deferred works too).
  [[nodiscard]] virtual StreamMode stream_mode() const = 0;

  virtual void enter(std::int32_t rank) = 0;
  virtual void leave(std::int32_t rank) = 0;
  /// Loopback: time the rank has been without its turn since its first enter(). Work between two
  /// moments of the rank's thread = their distance - the growth of this. Threads: 0.
  [[nodiscard]] virtual std::int64_t waited_ns(std::int32_t rank) const = 0;

  /// As Communicator::abort and status.
  virtual void abort(const Error& reason) = 0;
  [[nodiscard]] virtual Status status() const = 0;
};

/// Stands for a rank's thread being at work.
class RankTurn {
 public:
  RankTurn(Fabric& fabric, std::int32_t rank) : fabric_(fabric), rank_(rank) {
    fabric_.enter(rank_);
  }
  ~RankTurn() { fabric_.leave(rank_); }
  RankTurn(const RankTurn&) = delete;
  RankTurn& operator=(const RankTurn&) = delete;

 private:
  Fabric& fabric_;
  std::int32_t rank_;
};

}  // namespace shardscope::engine
