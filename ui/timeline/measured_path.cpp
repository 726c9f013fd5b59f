#include "ui/timeline/measured_path.hpp"

#include <algorithm>

namespace shardscope::ui {
namespace {

/// Clocks of neighbouring spans may disagree by this much.
constexpr std::int64_t kSlackNs = 200;

class PathWalk {
 public:
  PathWalk(std::span<const Span> spans, std::int64_t begin_ns) : spans_(spans), begin_(begin_ns) {}

  std::vector<PathPiece> run() {
    const Span* now = nullptr;
    for (const Span& span : spans_) {
      if (!span.waiting && (now == nullptr || span.end_ns > now->end_ns)) now = &span;
    }
    std::int64_t at = now == nullptr ? begin_ : now->end_ns;
    // Every step goes back in time, so there are at most as many as spans.
    for (std::size_t steps = 0; now != nullptr && at > begin_ && steps <= 2 * spans_.size();
         ++steps) {
      now = step(*now, at);
    }
    std::reverse(path_.begin(), path_.end());
    return std::move(path_);
  }

 private:
  /// Takes in what of `now` lies before `at`; returns the span that caused it.
  const Span* step(const Span& now, std::int64_t& at) {
    const Span* wait = last_wait_inside(now, at);
    const Span* cause = wait == nullptr ? nullptr : last_arrival(*wait);
    if (cause != nullptr && cause->start_ns < at) {
      add(now, wait->end_ns, at);
      at = std::min(at, cause->end_ns);
      return cause;
    }
    add(now, now.start_ns, at);
    at = now.start_ns;
    std::int32_t rank = now.rank;
    while (at > begin_) {
      const Span* before = last_before(rank, at);
      if (before == nullptr) return nullptr;
      if (!before->waiting) {
        at = std::min(at, before->end_ns);
        return before;
      }
      cause = last_arrival(*before);
      if (cause != nullptr && cause->start_ns < at) {
        at = std::min(at, cause->end_ns);
        return cause;
      }
      at = before->start_ns;
    }
    return nullptr;
  }

  void add(const Span& span, std::int64_t from, std::int64_t to) {
    from = std::max({from, span.start_ns, begin_});
    if (to <= from) return;
    path_.push_back(
        {span.rank, span.stream, static_cast<double>(from), static_cast<double>(to), span.stage});
  }

  const Span* last_before(std::int32_t rank, std::int64_t at) const {
    const Span* found = nullptr;
    for (const Span& span : spans_) {
      if (span.rank != rank || span.end_ns > at + kSlackNs || span.start_ns >= at) continue;
      if (found == nullptr || span.end_ns > found->end_ns) found = &span;
    }
    return found;
  }

  /// Some recorders draw the wait inside the collective's own span.
  const Span* last_wait_inside(const Span& work, std::int64_t at) const {
    const Span* found = nullptr;
    for (const Span& span : spans_) {
      const bool inside = span.waiting && span.rank == work.rank && span.stream == work.stream &&
                          span.start_ns >= work.start_ns && span.end_ns <= work.end_ns &&
                          span.end_ns < at;
      if (inside && (found == nullptr || span.end_ns > found->end_ns)) found = &span;
    }
    return found;
  }

  /// The peer that the wait ended for: first among those in the same stage, else among all.
  const Span* last_arrival(const Span& wait) const {
    const Span* same = nullptr;
    const Span* any = nullptr;
    for (const Span& span : spans_) {
      if (span.waiting || span.rank == wait.rank) continue;
      if (span.end_ns <= wait.start_ns || span.end_ns > wait.end_ns + kSlackNs) continue;
      const Span*& best = span.stage == wait.stage && span.work == wait.work ? same : any;
      if (best == nullptr || span.end_ns > best->end_ns) best = &span;
    }
    return same != nullptr ? same : any;
  }

  std::span<const Span> spans_;
  std::int64_t begin_;
  std::vector<PathPiece> path_;
};

}  // namespace

std::vector<PathPiece> measured_path(std::span<const Span> spans, std::int64_t begin_ns) {
  return PathWalk(spans, begin_ns).run();
}

}  // namespace shardscope::ui
