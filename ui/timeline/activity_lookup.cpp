#include "ui/timeline/activity_lookup.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

namespace shardscope::ui {
namespace {

constexpr std::ptrdiff_t kLookBack = 64;  ///< works that began before may still run

Result<std::vector<storage::DeviceWork>> read_work(const std::string& path, std::int64_t run,
                                                   const TimeRange& range) {
  auto session = storage::Session::open(path, storage::Session::Access::read_only);
  if (!session) return fail(session.error());
  return storage::device_work(*session, run, static_cast<std::int64_t>(range.begin),
                              static_cast<std::int64_t>(range.end), ActivityLookup::kMost);
}

}  // namespace

void ActivityLookup::ask(const TimeRange& range) {
  const bool covered = range.begin >= read_.begin && range.end <= read_.end;
  if (covered || reading_.valid() || !error_.empty()) return;
  asked_ = range;
  reading_ = std::async(std::launch::async, [path = session_, run = run_, range, wake = wake_] {
    auto works = read_work(path, run, range);
    if (wake) wake();
    return works;
  });
}

bool ActivityLookup::poll() {
  if (!reading_.valid()) return false;
  if (reading_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return true;
  auto works = reading_.get();
  if (works) {
    works_ = std::move(*works);
    any_ = any_ || !works_.empty();
    read_ = asked_;
  } else {
    error_ = to_string(works.error());
  }
  return false;
}

const storage::DeviceWork* ActivityLookup::of(const Span& span) const {
  const std::int64_t middle = span.start_ns + (span.end_ns - span.start_ns) / 2;
  auto after = std::upper_bound(works_.begin(), works_.end(), std::pair(span.rank, middle),
                                [](const auto& key, const storage::DeviceWork& work) {
                                  return key < std::pair(work.rank, work.start_ns);
                                });
  const storage::DeviceWork* best = nullptr;
  const auto first = std::max(works_.begin(), after - std::min(kLookBack, after - works_.begin()));
  for (auto work = after; work != first;) {
    --work;
    if (work->rank != span.rank || work->end_ns < middle) continue;
    // The same edges are the same work; of others the shortest that holds the span.
    const bool exact = work->start_ns == span.start_ns || work->end_ns == span.end_ns;
    if (exact) return &*work;
    if (best == nullptr || work->end_ns - work->start_ns < best->end_ns - best->start_ns) {
      best = &*work;
    }
  }
  return best;
}

}  // namespace shardscope::ui
