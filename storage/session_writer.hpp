#pragma once
// The RecordSink of a session: takes records from many threads, commits them from one of its own.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "profiler/record_sink.hpp"
#include "storage/session.hpp"

namespace shardscope::storage {

class RecordInserter;

struct SessionWriterConfig {
  /// Time between commits: with the recorder's drain period, what kill -9 can cost.
  std::chrono::milliseconds commit_period{100};
  /// Records waiting for a commit before spans(), iterations() and activities() block.
  std::size_t queue_records = std::size_t{1} << 19;
};

/// Thread-safe. Records are copied and committed within the period; a full queue blocks the caller
/// (a recorder's drain thread, never a rank: its ring then overflows and counts). What the disk
/// refuses is lost, counted and reported by status() and end_run(); what was committed stays.
class SessionWriter : public RecordSink {
 public:
  /// The session must be writable and outlive the writer.
  explicit SessionWriter(Session& session, const SessionWriterConfig& config = {});
  /// Commits the rest and stops. Runs that were not ended stay open in the file.
  ~SessionWriter() override;
  SessionWriter(const SessionWriter&) = delete;
  SessionWriter& operator=(const SessionWriter&) = delete;

  [[nodiscard]] Result<std::int64_t> begin_run(const RunInfo& info) override;
  void spans(std::int64_t run, std::span<const Span> batch) override;
  void iterations(std::int64_t run, std::span<const Iteration> batch) override;
  void activities(std::int64_t run, std::span<const ActivityRecord> batch) override;
  void codec_work(std::int64_t run, std::span<const CodecWork> batch) override;
  void dropped(std::int64_t run, std::int64_t count) override;
  /// Commits everything of the run, then its summary, stage times and levels of detail.
  [[nodiscard]] Status end_run(std::int64_t run, const RunSummary& summary) override;

  /// Returns when everything handed over before the call is committed or counted as lost.
  [[nodiscard]] Status flush();
  /// The first error of a commit; later batches are still tried.
  [[nodiscard]] Status status() const;
  /// Records committed so far.
  [[nodiscard]] std::int64_t committed() const;
  /// Records that a failed commit cost.
  [[nodiscard]] std::int64_t lost() const;

 private:
  struct Pending {
    std::vector<Span> spans;
    std::vector<Iteration> iterations;
    std::vector<ActivityRecord> activities;
    std::vector<CodecWork> codec_work;
    std::int64_t dropped = 0;

    [[nodiscard]] std::int64_t records() const;
  };
  using Queue = std::map<std::int64_t, Pending>;  ///< by run

  template <class Record>
  void enqueue(std::int64_t run, std::vector<Record> Pending::*list, std::span<const Record> batch);
  void write_until_stopped();
  void commit(Queue& queue);
  [[nodiscard]] Status try_commit(const Queue& queue);
  static void clear(Queue& queue);

  Session& session_;
  SessionWriterConfig config_;
  std::unique_ptr<RecordInserter> inserter_;  ///< writer thread only
  /// Writer thread only: counts that the next commit that succeeds writes down, by run.
  struct Losses {
    std::int64_t in_recorder = 0;
    std::int64_t in_writer = 0;
  };
  std::map<std::int64_t, Losses> losses_;

  mutable std::mutex mutex_;  ///< guards the members below
  std::condition_variable wake_;
  std::condition_variable space_;
  std::condition_variable written_;
  Queue queue_;
  std::size_t queued_ = 0;  ///< records in queue_
  std::uint64_t commits_wanted_ = 0;
  std::uint64_t commits_done_ = 0;
  std::int64_t committed_ = 0;
  std::int64_t lost_ = 0;
  Status status_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace shardscope::storage
