#pragma once
// A job under a person's eyes: progress on stderr, Ctrl-C to stop.

#include <functional>
#include <optional>
#include <string>

#include "app/interrupt.hpp"
#include "app/jobs/job.hpp"
#include "app/progress.hpp"

namespace shardscope::app {

/// Takes Ctrl-C over from its construction; progress counts from the job's first word.
class ConsoleWatch : public JobWatch {
 public:
  explicit ConsoleWatch(std::string what) : what_(std::move(what)) {}

  void progress(double share, const std::string& detail) override;
  [[nodiscard]] bool stop_requested() const override { return interrupt_.requested(); }
  void when_late(std::function<void()> action) override { interrupt_.when_late(std::move(action)); }

  /// Clears the moving line.
  void finish() { progress_.reset(); }

 private:
  std::string what_;
  Interrupt interrupt_;
  std::optional<Progress> progress_;
};

}  // namespace shardscope::app
