#pragma once
// What a run, comparison or training needs from whoever asked for it: a terminal that writes its
// own session, or an engine that holds the session for several workers.

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "layout/result.hpp"
#include "profiler/record_sink.hpp"
#include "storage/comparisons.hpp"
#include "storage/curves.hpp"

namespace shardscope::app {

/// Where a job's results go.
class JobOutput {
 public:
  virtual ~JobOutput() = default;

  [[nodiscard]] virtual RecordSink& records() = 0;
  [[nodiscard]] virtual Status save_comparison(const storage::ComparisonRecord& comparison) = 0;
  /// Committed before it returns.
  [[nodiscard]] virtual Status save_curve(std::int64_t run,
                                          std::span<const storage::CurvePoint> points) = 0;
  /// The first record that could not be kept (a full disk): a job then stops, as going on would
  /// measure for nobody.
  [[nodiscard]] virtual Status status() const = 0;
};

/// Who watches a job. Calls come from the job's thread.
class JobWatch {
 public:
  virtual ~JobWatch() = default;

  /// `share` done of the whole (0..1) and what to say beside it; called between blocks.
  virtual void progress(double share, const std::string& detail) = 0;
  /// The job ends at the next good moment and keeps what was measured.
  [[nodiscard]] virtual bool stop_requested() const = 0;
  /// Whether it is asked to stop only to go on under another layout.
  [[nodiscard]] virtual bool moves_on() const { return false; }
  /// Called from another thread when the job has not stopped one second after it was asked to
  /// (Engine::abort). Unset before what the action refers to goes away.
  virtual void when_late(std::function<void()> action) = 0;
};

/// Clears the action when the scope ends.
class LateAction {
 public:
  LateAction(JobWatch& watch, std::function<void()> action) : watch_(watch) {
    watch_.when_late(std::move(action));
  }
  ~LateAction() { watch_.when_late(nullptr); }
  LateAction(const LateAction&) = delete;
  LateAction& operator=(const LateAction&) = delete;

 private:
  JobWatch& watch_;
};

/// Why an engine that was told to stop late gives up.
[[nodiscard]] inline Error stopped_by_the_user() {
  return {ErrorKind::runtime, "stopped by the user", "", "", ""};
}

}  // namespace shardscope::app
