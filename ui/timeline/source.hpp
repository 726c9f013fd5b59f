#pragma once
// Where a timeline's spans come from: a run of a session, or values in memory.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layout/result.hpp"
#include "profiler/levels.hpp"
#include "profiler/span.hpp"
#include "storage/session.hpp"
#include "ui/timeline/time_view.hpp"

namespace shardscope::ui {

/// One stream of one rank.
struct TimelineTrack {
  std::int32_t rank = 0;
  std::int32_t stream = 0;
  std::int64_t spans = 0;
};

class TimelineSource {
 public:
  virtual ~TimelineSource() = default;
  /// By rank, then stream.
  [[nodiscard]] virtual const std::vector<TimelineTrack>& tracks() const = 0;
  [[nodiscard]] virtual TimeRange all() const = 0;
  [[nodiscard]] virtual Mode mode() const = 0;
  [[nodiscard]] virtual std::string title() const = 0;
  /// What ran it: "GPU", or "rank" where it ran on CPU ranks.
  [[nodiscard]] virtual std::string_view word() const = 0;
  /// What is visible of a range in about `max_items` items (profiler/levels.hpp).
  [[nodiscard]] virtual Result<std::vector<LevelNode>> items(std::size_t track, std::int64_t begin,
                                                             std::int64_t end,
                                                             std::int64_t max_items) = 0;
  /// Spans that start in the range, at most `limit`.
  [[nodiscard]] virtual Result<std::vector<Span>> spans(std::size_t track, std::int64_t begin,
                                                        std::int64_t end, std::int64_t limit) = 0;
  /// Starts and ends of iterations, in order; may be empty.
  [[nodiscard]] virtual const std::vector<Iteration>& iterations() const = 0;
  [[nodiscard]] virtual std::int64_t dropped() const = 0;
  /// What must be done beside the frame before anything of it can be read at a glance. `done` comes
  /// once: the source is another one then, to be opened anew.
  enum class Preparation : std::uint8_t { none, going_on, done };
  [[nodiscard]] virtual Preparation preparation() { return Preparation::none; }
};

/// Iterations that touch a range, in order.
[[nodiscard]] std::span<const Iteration> iterations_in(const TimelineSource& source,
                                                       const TimeRange& range);

/// A run of an open session, which must outlive the source. A long run that did not end (its
/// program was killed) has neither index nor levels of detail: the session is opened for writing
/// beside the frame, which closes the run, unless another program holds it or it is read-only.
[[nodiscard]] Result<std::unique_ptr<TimelineSource>> session_source(
    const storage::Session& session, std::int64_t run);

/// Spans in memory, e.g. a simulated iteration.
[[nodiscard]] std::unique_ptr<TimelineSource> memory_source(std::vector<Span> spans, Mode mode,
                                                            std::string title,
                                                            std::string_view word = "GPU");

}  // namespace shardscope::ui
