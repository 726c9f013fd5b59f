#include "storage/session_writer.hpp"

#include <iterator>
#include <utility>

#include "layout/invariant.hpp"
#include "storage/record_inserter.hpp"
#include "storage/run_finish.hpp"
#include "storage/run_record.hpp"
#include "storage/session_state.hpp"
#include "storage/sqlite/transaction.hpp"

namespace shardscope::storage {

SessionWriter::SessionWriter(Session& session, const SessionWriterConfig& config)
    : session_(session),
      config_(config),
      inserter_(std::make_unique<RecordInserter>(session.state())) {
  SHARDSCOPE_CHECK(session.writable(), "a read-only session has no writer");
  thread_ = std::thread([this] { write_until_stopped(); });
}

SessionWriter::~SessionWriter() {
  {
    const std::lock_guard guard(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

Result<std::int64_t> SessionWriter::begin_run(const RunInfo& info) {
  return insert_run(session_.state(), info);
}

template <class Record>
void SessionWriter::enqueue(std::int64_t run, std::vector<Record> Pending::*list,
                            std::span<const Record> batch) {
  std::unique_lock lock(mutex_);
  // A batch larger than the whole queue is let in once the queue is empty.
  space_.wait(lock,
              [&] { return queued_ == 0 || queued_ + batch.size() <= config_.queue_records; });
  std::vector<Record>& target = queue_[run].*list;
  target.insert(target.end(), batch.begin(), batch.end());
  queued_ += batch.size();
  // The writer sleeps for its period; it is woken only where the queue would fill before that.
  if (queued_ * 4 > config_.queue_records) wake_.notify_one();
}

void SessionWriter::spans(std::int64_t run, std::span<const Span> batch) {
  enqueue(run, &Pending::spans, batch);
}

void SessionWriter::iterations(std::int64_t run, std::span<const Iteration> batch) {
  enqueue(run, &Pending::iterations, batch);
}

void SessionWriter::activities(std::int64_t run, std::span<const ActivityRecord> batch) {
  enqueue(run, &Pending::activities, batch);
}

void SessionWriter::codec_work(std::int64_t run, std::span<const CodecWork> batch) {
  enqueue(run, &Pending::codec_work, batch);
}

void SessionWriter::dropped(std::int64_t run, std::int64_t count) {
  const std::lock_guard guard(mutex_);
  queue_[run].dropped += count;
}

Status SessionWriter::flush() {
  std::unique_lock lock(mutex_);
  const std::uint64_t wanted = ++commits_wanted_;
  wake_.notify_one();
  written_.wait(lock, [&] { return commits_done_ >= wanted; });
  return status_;
}

Status SessionWriter::end_run(std::int64_t run, const RunSummary& summary) {
  const Status flushed = flush();
  const Status finished = finish_run(session_.state(), run, summary);
  return flushed ? finished : flushed;
}

Status SessionWriter::status() const {
  const std::lock_guard guard(mutex_);
  return status_;
}

std::int64_t SessionWriter::committed() const {
  const std::lock_guard guard(mutex_);
  return committed_;
}

std::int64_t SessionWriter::lost() const {
  const std::lock_guard guard(mutex_);
  return lost_;
}

void SessionWriter::write_until_stopped() {
  Queue taken;
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait_for(lock, config_.commit_period, [&] {
      return stop_ || commits_wanted_ > commits_done_ || queued_ * 4 > config_.queue_records;
    });
    const std::uint64_t wanted = commits_wanted_;
    const bool last = stop_;
    // Swapping keeps both queues' memory: at a steady rate nothing is allocated.
    std::swap(taken, queue_);
    queued_ = 0;
    space_.notify_all();
    lock.unlock();
    commit(taken);
    lock.lock();
    commits_done_ = wanted;
    written_.notify_all();
    if (last) return;
  }
}

std::int64_t SessionWriter::Pending::records() const {
  return static_cast<std::int64_t>(spans.size() + iterations.size() + activities.size() +
                                   codec_work.size());
}

void SessionWriter::commit(Queue& queue) {
  std::int64_t records = 0;
  for (const auto& [run, pending] : queue) {
    records += pending.records();
    if (pending.dropped > 0) losses_[run].in_recorder += pending.dropped;
  }
  if (records == 0 && losses_.empty()) return;
  const Status done = try_commit(queue);
  if (done) {
    losses_.clear();
  } else {
    inserter_->forget();
    for (const auto& [run, pending] : queue) losses_[run].in_writer += pending.records();
  }
  clear(queue);
  const std::lock_guard guard(mutex_);
  if (done) {
    committed_ += records;
  } else {
    lost_ += records;
    if (status_) status_ = done;
  }
}

Status SessionWriter::try_commit(const Queue& queue) {
  SessionState& state = session_.state();
  const std::lock_guard guard(state.mutex);
  Result<Transaction> transaction = Transaction::begin(state.database);
  if (!transaction) return fail(transaction.error());
  std::size_t spans = 0;
  for (const auto& [run, pending] : queue) spans += pending.spans.size();
  if (Status done = inserter_->expect_spans(spans); !done) return done;
  for (const auto& [run, pending] : queue) {
    if (Status done = inserter_->spans(run, pending.spans); !done) return done;
    if (Status done = inserter_->iterations(run, pending.iterations); !done) return done;
    if (Status done = inserter_->activities(run, pending.activities); !done) return done;
    if (Status done = inserter_->codec_work(run, pending.codec_work); !done) return done;
  }
  for (const auto& [run, losses] : losses_) {
    if (Status done = inserter_->dropped(run, "recorder", losses.in_recorder); !done) return done;
    if (Status done = inserter_->dropped(run, "writer", losses.in_writer); !done) return done;
  }
  return transaction->commit();
}

void SessionWriter::clear(Queue& queue) {
  for (auto entry = queue.begin(); entry != queue.end();) {
    Pending& pending = entry->second;
    const bool idle = pending.records() == 0;
    pending.spans.clear();
    pending.iterations.clear();
    pending.activities.clear();
    pending.codec_work.clear();
    pending.dropped = 0;
    entry = idle ? queue.erase(entry) : std::next(entry);
  }
}

}  // namespace shardscope::storage
