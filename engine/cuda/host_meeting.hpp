#pragma once
// Where the host threads of some ranks wait for each other, each with something to tell.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "engine/comm/abort_flag.hpp"

namespace shardscope::engine::cuda {

template <class Value>
class HostMeeting {
 public:
  explicit HostMeeting(std::size_t members) : came_(members), brought_(members), told_(members) {}

  /// What all members have brought, once all have come; valid until this member comes again. Null
  /// after an abort, or where somebody has not come within the deadline: they go to `missing`.
  [[nodiscard]] const std::vector<Value>* meet(std::size_t member, const Value& value,
                                               std::chrono::nanoseconds deadline,
                                               const AbortFlag& abort,
                                               std::vector<std::size_t>& missing) {
    std::unique_lock lock(mutex_);
    const std::uint64_t round = rounds_;
    came_[member] = true;
    brought_[member] = value;
    if (std::find(came_.begin(), came_.end(), false) == came_.end()) {
      told_.swap(brought_);
      came_.assign(came_.size(), false);
      ++rounds_;
      all_came_.notify_all();
      return &told_;
    }
    const bool ended =
        all_came_.wait_for(lock, deadline, [&] { return rounds_ != round || abort.raised(); });
    if (ended) return rounds_ != round ? &told_ : nullptr;
    for (std::size_t m = 0; m < came_.size(); ++m) {
      if (!came_[m]) missing.push_back(m);
    }
    return nullptr;
  }

  /// After an abort: nobody waits any more.
  void wake() {
    { const std::lock_guard lock(mutex_); }
    all_came_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_came_;
  std::vector<bool> came_;
  std::vector<Value> brought_, told_;
  std::uint64_t rounds_ = 0;
};

}  // namespace shardscope::engine::cuda
