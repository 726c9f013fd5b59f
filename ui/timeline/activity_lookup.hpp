#pragma once
// Names of the kernels in view and the calls that launched them, read beside the frame: the tables
// of a large session take longer than one.

#include <cstdint>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "profiler/span.hpp"
#include "storage/queries/activities.hpp"
#include "ui/timeline/time_view.hpp"

namespace shardscope::ui {

class ActivityLookup {
 public:
  ActivityLookup(std::string session, std::int64_t run, std::function<void()> wake)
      : session_(std::move(session)), run_(run), wake_(std::move(wake)) {}

  /// Asks for a range; one that is covered or being read already costs nothing.
  void ask(const TimeRange& range);
  /// Takes in what was read; true while something is being read.
  bool poll();
  /// The work on the device that the span stands for; null where none is known (yet).
  [[nodiscard]] const storage::DeviceWork* of(const Span& span) const;
  [[nodiscard]] const std::string& error() const { return error_; }
  /// Whether the run has recorded work of a device at all, as far as it was read.
  [[nodiscard]] bool any() const { return any_; }

  static constexpr std::int64_t kMost = 50'000;

 private:
  std::string session_;
  std::int64_t run_;
  std::function<void()> wake_;
  TimeRange read_{0, 0};
  TimeRange asked_{0, 0};
  std::vector<storage::DeviceWork> works_;  ///< by rank, then start
  bool any_ = false;
  std::string error_;
  std::future<Result<std::vector<storage::DeviceWork>>> reading_;
};

}  // namespace shardscope::ui
