#pragma once
// The emulated wires: token buckets that say when a byte has arrived.

#include <atomic>
#include <cstdint>
#include <memory>

#include "engine/comm/abort_flag.hpp"
#include "engine/comm/wire_throttle.hpp"
#include "layout/topology.hpp"

namespace shardscope::engine {

/// Every rank has a sending and a receiving bucket per link class, shared by its channels. A bucket
/// hands out its bandwidth in the order of the messages and saves nothing up: a message leaves it
/// bytes / bandwidth after it started or after the message before it left. A message has arrived
/// when it has left its sender's and its receiver's bucket, so the slower side rules, and an
/// all-to-all takes as long as its busiest sender or receiver. Thread-safe; never allocates.
class Wires {
 public:
  Wires(const Topology& topology, const WireThrottle& throttle);

  /// Puts a message on the wire that both sides were ready for at `ready_ns`. When it has arrived
  /// (now_ns() clock), or 0 where the link is not throttled. Bytes may be 0.
  [[nodiscard]] std::int64_t carry(std::int32_t from, std::int32_t to, std::int64_t bytes,
                                   std::int64_t ready_ns);

  /// When the last message of any rank so far arrives.
  [[nodiscard]] std::int64_t busy_until_ns() const {
    return busy_until_ns_.load(std::memory_order_relaxed);
  }

 private:
  struct alignas(64) Bucket {
    std::atomic<std::int64_t> free_at_ns{0};
  };

  Bucket& bucket(std::int32_t rank, LinkClass link, bool receiving);

  Topology topology_;
  WireThrottle throttle_;
  std::unique_ptr<Bucket[]> buckets_;  ///< [rank][intra, inter][sending, receiving]
  std::atomic<std::int64_t> busy_until_ns_{0};
};

/// Raises `value` to at least `to`.
void raise_to(std::atomic<std::int64_t>& value, std::int64_t to);

/// Sleeps until that time, or until shortly after an abort.
void sleep_until_ns(std::int64_t until_ns, const AbortFlag& abort);

}  // namespace shardscope::engine
