#pragma once
// A worker's end of its pipes: it asks the engine to record, and hears what it should do.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "app/jobs/job.hpp"
#include "engine/service/channel.hpp"
#include "engine/service/message.hpp"

namespace shardscope::app {

/// Thread-safe. The engine holds the session: records go there as messages, and calls return once
/// it has answered.
class WorkerLink : public JobOutput, public RecordSink {
 public:
  [[nodiscard]] static Result<std::unique_ptr<WorkerLink>> open(service::Descriptor in,
                                                                service::Descriptor out);

  // JobOutput
  [[nodiscard]] RecordSink& records() override { return *this; }
  [[nodiscard]] Status save_comparison(const storage::ComparisonRecord& comparison) override;
  [[nodiscard]] Status save_curve(std::int64_t run,
                                  std::span<const storage::CurvePoint> points) override;
  /// What the engine said its session refused.
  [[nodiscard]] Status status() const override;

  // RecordSink
  [[nodiscard]] Result<std::int64_t> begin_run(const RunInfo& info) override;
  void spans(std::int64_t run, std::span<const Span> batch) override;
  void iterations(std::int64_t run, std::span<const Iteration> batch) override;
  void activities(std::int64_t run, std::span<const ActivityRecord> batch) override;
  void codec_work(std::int64_t run, std::span<const CodecWork> batch) override;
  void dropped(std::int64_t run, std::int64_t count) override;
  [[nodiscard]] Status end_run(std::int64_t run, const RunSummary& summary) override;

  /// The first request; waits for it. Empty: the engine went away.
  [[nodiscard]] std::optional<service::StartJob> wait_for_job();

  /// True once the job was cancelled or the engine went away.
  [[nodiscard]] bool cancelled() const;
  /// A layout to move to, once; null: none.
  [[nodiscard]] std::optional<service::ApplyLayout> take_layout();
  [[nodiscard]] bool layout_wanted() const;
  /// Returns when the job is not paused (any more), or is cancelled.
  void wait_while_paused();

  void progress(std::int64_t job, double share, const std::string& detail, double best_s = 0);
  void reply(std::int64_t id, const Result<std::string>& result_json);
  /// Everything sent is written, as far as the engine reads.
  void flush();

 private:
  WorkerLink() = default;

  void receive(service::Message message);
  void refuse(std::int64_t id, const Error& error);
  void note_end();
  /// Sends a request and waits for its answer.
  [[nodiscard]] Result<std::string> ask(service::Message request);
  void tell(const service::Message& message);

  mutable std::mutex mutex_;  ///< guards the members down to channel_
  std::condition_variable changed_;
  std::int64_t next_id_ = 1;
  std::map<std::int64_t, std::optional<Result<std::string>>>
      asked_;  ///< by id; empty: no answer yet
  std::optional<service::StartJob> job_;
  std::optional<service::ApplyLayout> layout_;
  Status records_status_;
  bool paused_ = false;
  bool cancelled_ = false;
  bool ended_ = false;
  std::chrono::steady_clock::time_point progress_at_;

  std::unique_ptr<service::Channel> channel_;  ///< its handlers use the members above
};

}  // namespace shardscope::app
