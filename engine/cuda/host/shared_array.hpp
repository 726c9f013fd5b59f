#pragma once
// Shared memory of a block on the CPU: every use is checked against the bounds and against the
// other threads' uses since the last barrier.

#include <cstddef>
#include <cstdint>

#include "engine/cuda/host/block.hpp"

namespace shardscope::engine::cuda::host {

/// These checks see every race in shared memory; ThreadSanitizer need not look at them.
#define SHARDSCOPE_UNSEEN __attribute__((no_sanitize("thread")))

/// Last uses of one element. All zero: none yet (threads are kept plus one).
struct Touches {
  std::uint32_t writer = 0;  ///< thread + 1
  std::uint32_t write_block_epoch = 0;
  std::uint32_t write_warp_epoch = 0;
  std::uint32_t reader = 0;       ///< thread + 1; 0 if several or none
  std::uint32_t reader_warp = 0;  ///< warp + 1; 0 if several or none
  std::uint32_t readers = 0;      ///< since the last barrier, counted up to 2
  std::uint32_t read_block_epoch = 0;
  std::uint32_t read_warp_epoch = 0;

  SHARDSCOPE_UNSEEN void check_write_before(const Moment& now) const {
    if (writer == 0 || writer == now.thread + 1 || write_block_epoch != now.block_epoch) return;
    const bool same_warp = (writer - 1) / kWarpThreads == now.thread / kWarpThreads;
    if (same_warp && write_warp_epoch != now.warp_epoch) return;
    fault("shared memory that another thread wrote is used without a barrier between");
  }

  SHARDSCOPE_UNSEEN void check_reads_before(const Moment& now) const {
    if (readers == 0 || reader == now.thread + 1 || read_block_epoch != now.block_epoch) return;
    const bool same_warp = reader_warp == now.thread / kWarpThreads + 1;
    if (same_warp && read_warp_epoch != now.warp_epoch) return;
    fault("shared memory that another thread read is written without a barrier between");
  }

  SHARDSCOPE_UNSEEN void read(const Moment& now) {
    check_write_before(now);
    const std::uint32_t warp = now.thread / kWarpThreads + 1;
    if (readers == 0 || read_block_epoch != now.block_epoch) {
      readers = 1;
      reader = now.thread + 1;
      reader_warp = warp;
    } else if (reader != now.thread + 1) {
      readers = 2;
      reader = 0;
      if (reader_warp != warp) reader_warp = 0;
    }
    read_block_epoch = now.block_epoch;
    read_warp_epoch = now.warp_epoch;
  }

  SHARDSCOPE_UNSEEN void write(const Moment& now) {
    check_write_before(now);
    check_reads_before(now);
    writer = now.thread + 1;
    write_block_epoch = now.block_epoch;
    write_warp_epoch = now.warp_epoch;
    readers = reader = reader_warp = 0;
  }
};

/// Stands for an element.
template <class T>
class SharedElement {
 public:
  SharedElement(T& value, Touches& touches) : value_(value), touches_(touches) {}
  SHARDSCOPE_UNSEEN operator T()
      const {  // NOLINT(google-explicit-constructor): reads like the element itself
    touches_.read(moment());
    return value_;
  }
  SHARDSCOPE_UNSEEN void operator=(T value) {
    touches_.write(moment());
    value_ = value;
  }
  void operator=(const SharedElement& other) { *this = static_cast<T>(other); }
  void operator+=(T value) { *this = static_cast<T>(*this) + value; }

 private:
  T& value_;
  Touches& touches_;
};

template <class T, std::size_t count>
class SharedArray {
 public:
  explicit SharedArray(const void* key) {
    const SharedBlock block = shared_block(key, count * sizeof(T), count * sizeof(Touches));
    values_ = static_cast<T*>(block.data);
    touches_ = static_cast<Touches*>(block.shadow);
  }
  SharedElement<T> operator[](std::size_t index) const {
    if (index >= count) fault("an index beyond a shared array");
    return {values_[index], touches_[index]};
  }

 private:
  T* values_;
  Touches* touches_;
};

}  // namespace shardscope::engine::cuda::host
