#pragma once
// A RecordSink that keeps what it is given, and can be told to stall.

#include <condition_variable>
#include <mutex>
#include <vector>

#include "profiler/record_sink.hpp"

namespace shardscope::test {

class RecordingSink : public RecordSink {
 public:
  Result<std::int64_t> begin_run(const RunInfo&) override { return 1; }
  void spans(std::int64_t, std::span<const Span> batch) override {
    std::unique_lock lock(mutex_);
    resumed_.wait(lock, [&] { return !stalled_; });
    spans_.insert(spans_.end(), batch.begin(), batch.end());
  }
  void iterations(std::int64_t, std::span<const Iteration> batch) override {
    const std::lock_guard lock(mutex_);
    iterations_.insert(iterations_.end(), batch.begin(), batch.end());
  }
  void activities(std::int64_t, std::span<const ActivityRecord> batch) override {
    const std::lock_guard lock(mutex_);
    activities_.insert(activities_.end(), batch.begin(), batch.end());
  }
  void dropped(std::int64_t, std::int64_t count) override {
    const std::lock_guard lock(mutex_);
    dropped_ += count;
  }
  Status end_run(std::int64_t, const RunSummary&) override { return {}; }

  void stall(bool stalled) {
    const std::lock_guard lock(mutex_);
    stalled_ = stalled;
    resumed_.notify_all();
  }
  std::vector<Span> spans_seen() const {
    const std::lock_guard lock(mutex_);
    return spans_;
  }
  std::vector<Iteration> iterations_seen() const {
    const std::lock_guard lock(mutex_);
    return iterations_;
  }
  std::vector<ActivityRecord> activities_seen() const {
    const std::lock_guard lock(mutex_);
    return activities_;
  }
  std::int64_t dropped_seen() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable resumed_;
  bool stalled_ = false;
  std::vector<Span> spans_;
  std::vector<Iteration> iterations_;
  std::vector<ActivityRecord> activities_;
  std::int64_t dropped_ = 0;
};

}  // namespace shardscope::test
