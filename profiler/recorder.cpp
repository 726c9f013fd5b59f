#include "profiler/recorder.hpp"

#include <string>

#include "layout/invariant.hpp"

namespace shardscope {

void recorder_index_failed(std::int32_t rank, std::int32_t stream) {
  const std::string where = "rank " + std::to_string(rank) + ", stream " + std::to_string(stream) +
                            " was not announced to the recorder";
  invariant_failed("0 <= rank < ranks && stream < streams", __FILE__, __LINE__, where.c_str());
}

Recorder::Recorder(RecordSink& sink, std::int64_t run, const RecorderConfig& config)
    : sink_(sink),
      run_(run),
      ranks_(config.ranks),
      streams_(config.streams),
      epoch_ns_(config.epoch_ns != 0 ? config.epoch_ns : steady_ns()),
      drain_period_(config.drain_period),
      iterations_(config.iterations) {
  SHARDSCOPE_CHECK(ranks_ > 0 && streams_ > 0, "a recorder needs at least one rank and stream");
  const auto count = static_cast<std::size_t>(ranks_) * static_cast<std::size_t>(streams_);
  rings_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    rings_.push_back(std::make_unique<SpscRing<Span>>(config.spans_per_stream));
  }
  thread_ = std::thread([this] { drain_until_stopped(); });
}

Recorder::~Recorder() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Recorder::flush() {
  std::unique_lock lock(mutex_);
  // A pass that is under way may already have visited a ring: only one that starts later counts.
  const std::uint64_t wanted = ++passes_wanted_;
  wake_.notify_one();
  drained_.wait(lock, [&] { return passes_done_ >= wanted; });
}

std::int64_t Recorder::dropped() const {
  std::int64_t total = iterations_.dropped();
  for (const auto& ring : rings_) total += ring->dropped();
  return total;
}

void Recorder::drain_until_stopped() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait_for(lock, drain_period_, [&] { return stop_ || passes_wanted_ > passes_done_; });
    const std::uint64_t wanted = passes_wanted_;
    const bool last = stop_;
    lock.unlock();
    drain_once();
    lock.lock();
    passes_done_ = wanted;
    drained_.notify_all();
    if (last) return;
  }
}

void Recorder::drain_once() {
  // A ring's content may wrap: two pieces at most, so that a producer that never rests cannot keep
  // the drain thread on one ring.
  for (const auto& ring : rings_) {
    for (int piece = 0; piece < 2; ++piece) {
      const std::span<const Span> spans = ring->peek();
      if (spans.empty()) break;
      sink_.spans(run_, spans);
      ring->release(spans.size());
    }
  }
  for (int piece = 0; piece < 2; ++piece) {
    const std::span<const Iteration> iterations = iterations_.peek();
    if (iterations.empty()) break;
    sink_.iterations(run_, iterations);
    iterations_.release(iterations.size());
  }
  report_drops();
}

void Recorder::report_drops() {
  const std::int64_t total = dropped();
  if (total == drops_reported_) return;
  sink_.dropped(run_, total - drops_reported_);
  drops_reported_ = total;
}

}  // namespace shardscope
