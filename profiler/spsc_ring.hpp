#pragma once
// A preallocated queue of fixed capacity between one producing and one consuming thread.

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shardscope {

/// push() neither allocates, locks nor calls the system; a full ring counts the record as dropped.
/// T must be trivially copyable in effect: slots are overwritten, never destroyed.
template <class T>
class SpscRing {
 public:
  /// Capacity is rounded up to a power of two. The slots are touched here, so that the first lap
  /// of the producer takes no page fault.
  explicit SpscRing(std::size_t capacity)
      : slots_(std::bit_ceil(capacity < 2 ? std::size_t{2} : capacity)), mask_(slots_.size() - 1) {}
  SpscRing(const SpscRing&) = delete;
  SpscRing& operator=(const SpscRing&) = delete;

  [[nodiscard]] std::size_t capacity() const { return slots_.size(); }

  /// Producer only. False: the ring was full and the value is lost (counted).
  bool push(const T& value) {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head - tail_seen_ == slots_.size()) {
      tail_seen_ = tail_.load(std::memory_order_acquire);
      if (head - tail_seen_ == slots_.size()) {
        dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        return false;
      }
    }
    slots_[head & mask_] = value;
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

  /// Consumer only. The oldest values that lie side by side in memory; valid until release().
  [[nodiscard]] std::span<const T> peek() const {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    const std::uint64_t filled = head_.load(std::memory_order_acquire) - tail;
    const std::uint64_t to_end = slots_.size() - (tail & mask_);
    return {slots_.data() + (tail & mask_), filled < to_end ? filled : to_end};
  }

  /// Consumer only. Gives the first `count` peeked slots back to the producer.
  void release(std::size_t count) {
    tail_.store(tail_.load(std::memory_order_relaxed) + count, std::memory_order_release);
  }

  /// Values lost so far. Any thread.
  [[nodiscard]] std::int64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kCacheLine = 64;

  std::vector<T> slots_;
  std::uint64_t mask_;
  alignas(kCacheLine) std::atomic<std::uint64_t> head_{0};
  std::uint64_t tail_seen_ = 0;  ///< producer's last look at tail_: saves sharing its cache line
  std::atomic<std::int64_t> dropped_{0};
  alignas(kCacheLine) std::atomic<std::uint64_t> tail_{0};
};

}  // namespace shardscope
