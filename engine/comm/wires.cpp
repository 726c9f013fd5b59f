#include "engine/comm/wires.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/comm/progress.hpp"

namespace shardscope::engine {
namespace {

constexpr double kNsPerSecond = 1e9;
constexpr std::size_t kBucketsPerRank = 4;

std::int64_t take_tokens(std::atomic<std::int64_t>& free_at_ns, std::int64_t ready_ns,
                         std::int64_t duration_ns) {
  std::int64_t before = free_at_ns.load(std::memory_order_relaxed);
  std::int64_t after = 0;
  do {
    after = std::max(before, ready_ns) + duration_ns;
  } while (!free_at_ns.compare_exchange_weak(before, after, std::memory_order_relaxed));
  return after;
}

}  // namespace

void raise_to(std::atomic<std::int64_t>& value, std::int64_t to) {
  std::int64_t before = value.load(std::memory_order_relaxed);
  while (before < to && !value.compare_exchange_weak(before, to, std::memory_order_relaxed)) {
  }
}

Wires::Wires(const Topology& topology, const WireThrottle& throttle)
    : topology_(topology), throttle_(throttle) {
  if (!throttle_.any()) return;
  buckets_ =
      std::make_unique<Bucket[]>(static_cast<std::size_t>(topology_.ranks()) * kBucketsPerRank);
}

Wires::Bucket& Wires::bucket(std::int32_t rank, LinkClass link, bool receiving) {
  const std::size_t at = static_cast<std::size_t>(rank) * kBucketsPerRank +
                         (link == LinkClass::inter ? 2u : 0u) + (receiving ? 1u : 0u);
  return buckets_[at];
}

std::int64_t Wires::carry(std::int32_t from, std::int32_t to, std::int64_t bytes,
                          std::int64_t ready_ns) {
  const LinkClass link = topology_.link(from, to);
  if (link == LinkClass::self || bytes == 0) return 0;
  const double bytes_per_s =
      link == LinkClass::intra ? throttle_.intra_bytes_per_s : throttle_.inter_bytes_per_s;
  if (bytes_per_s <= 0) return 0;
  // Rounded up: never faster than the bandwidth.
  const auto duration_ns =
      static_cast<std::int64_t>(std::ceil(static_cast<double>(bytes) / bytes_per_s * kNsPerSecond));
  const std::int64_t sent =
      take_tokens(bucket(from, link, false).free_at_ns, ready_ns, duration_ns);
  const std::int64_t received =
      take_tokens(bucket(to, link, true).free_at_ns, ready_ns, duration_ns);
  const std::int64_t arrived = std::max(sent, received);
  raise_to(busy_until_ns_, arrived);
  return arrived;
}

void sleep_until_ns(std::int64_t until_ns, const AbortFlag& abort) {
  for (std::int64_t left = until_ns - now_ns(); left > 0; left = until_ns - now_ns()) {
    if (abort.raised()) return;
    if (left <= kSpinNs) {  // a sleep would take longer
      spin_pause();
      continue;
    }
    abort.sleep_until(Clock::time_point(std::chrono::nanoseconds(until_ns)));
  }
}

}  // namespace shardscope::engine
