#include "ui/timeline/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <utility>

#include "storage/queries/runs.hpp"
#include "storage/queries/timeline.hpp"
#include "ui/model/words.hpp"

namespace shardscope::ui {
namespace {

Mode mode_named(const std::string& name) {
  for (const Mode mode : {Mode::measured, Mode::emulated, Mode::simulated}) {
    if (name == to_string(mode)) return mode;
  }
  return Mode::measured;
}

void sort_tracks(std::vector<storage::Track>& tracks) {
  std::sort(tracks.begin(), tracks.end(), [](const auto& a, const auto& b) {
    return std::pair(a.rank, a.stream) < std::pair(b.rank, b.stream);
  });
}

class SessionSource : public TimelineSource {
 public:
  SessionSource(const storage::Session& session, storage::RunRecord run,
                std::vector<storage::Track> stored, std::vector<Iteration> iterations)
      : session_(&session) {
    take(std::move(run), std::move(stored), std::move(iterations));
    if (run_.ended || run_.spans < kMostUnprepared) return;
    finishing_ = std::async(std::launch::async, [path = session.path()] {
      auto writable = storage::Session::open(path, storage::Session::Access::read_write);
      return writable && writable->close().has_value();
    });
  }

  Preparation preparation() override {
    if (!finishing_.valid()) return Preparation::none;
    if (finishing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      return Preparation::going_on;
    }
    finishing_.get();
    return read_again() ? Preparation::done : Preparation::none;
  }

  const std::vector<TimelineTrack>& tracks() const override { return tracks_; }
  TimeRange all() const override { return all_; }
  Mode mode() const override { return mode_named(run_.mode); }
  std::string title() const override {
    return fmt::format("run {} · {} · {}/{}", run_.id, run_.layout_name, run_.backend, run_.comm);
  }
  std::string_view word() const override { return gpu_word(run_.backend); }
  Result<std::vector<LevelNode>> items(std::size_t track, std::int64_t begin, std::int64_t end,
                                       std::int64_t max_items) override {
    return storage::visible_items(*session_, stored_[track].id, begin, end, max_items);
  }
  Result<std::vector<Span>> spans(std::size_t track, std::int64_t begin, std::int64_t end,
                                  std::int64_t limit) override {
    return storage::spans_in(*session_, stored_[track], begin, end, limit);
  }
  const std::vector<Iteration>& iterations() const override { return iterations_; }
  std::int64_t dropped() const override { return run_.dropped; }

 private:
  /// Spans that are read as they lie; more are worth an index.
  static constexpr std::int64_t kMostUnprepared = 100'000;

  void take(storage::RunRecord run, std::vector<storage::Track> stored,
            std::vector<Iteration> iterations) {
    run_ = std::move(run);
    stored_ = std::move(stored);
    iterations_ = std::move(iterations);
    tracks_.clear();
    for (const storage::Track& track : stored_) {
      tracks_.push_back({track.rank, track.stream, track.spans});
    }
    all_ = {0, 1};
    for (const Iteration& iteration : iterations_) {
      all_.end = std::max(all_.end, static_cast<double>(iteration.end_ns));
    }
    // A run that is still going on, or was killed, has spans beyond its iterations.
    all_.end = std::max(all_.end, static_cast<double>(run_.duration_ns));
    const bool quick = run_.ended || run_.spans < kMostUnprepared;
    for (std::size_t t = 0; t < stored_.size() && iterations_.empty() && quick; ++t) {
      const auto whole = items(t, 0, std::int64_t{1} << 62, 2);
      if (!whole) continue;
      for (const LevelNode& node : *whole) {
        all_.end = std::max(all_.end, static_cast<double>(node.end_ns));
      }
    }
  }

  /// The run as it stands in the file now.
  bool read_again() {
    auto fresh = storage::Session::open(session_->path(), storage::Session::Access::read_only);
    if (!fresh) return false;
    auto run = storage::find_run(*fresh, run_.id);
    auto stored = storage::run_tracks(*fresh, run_.id);
    auto iterations = storage::iterations_of(*fresh, run_.id);
    if (!run || !stored || !iterations || !run->ended) return false;
    own_ = std::make_unique<storage::Session>(std::move(*fresh));
    session_ = own_.get();
    sort_tracks(*stored);
    take(std::move(*run), std::move(*stored), std::move(*iterations));
    return true;
  }

  const storage::Session* session_;
  std::unique_ptr<storage::Session> own_;  ///< opened anew once the run was closed
  storage::RunRecord run_;
  std::vector<storage::Track> stored_;
  std::vector<Iteration> iterations_;
  std::vector<TimelineTrack> tracks_;
  TimeRange all_;
  std::future<bool> finishing_;
};

class MemorySource : public TimelineSource {
 public:
  MemorySource(std::vector<Span> spans, Mode mode, std::string title, std::string_view word)
      : mode_(mode), title_(std::move(title)), word_(word) {
    std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Span>> by_track;
    for (const Span& span : spans) by_track[{span.rank, span.stream}].push_back(span);
    bool first = true;
    for (auto& [key, list] : by_track) {
      std::stable_sort(list.begin(), list.end(),
                       [](const Span& a, const Span& b) { return a.start_ns < b.start_ns; });
      tracks_.push_back({key.first, key.second, static_cast<std::int64_t>(list.size())});
      for (const Span& span : list) {
        const auto begin = static_cast<double>(span.start_ns);
        const auto end = static_cast<double>(span.end_ns);
        all_ = first ? TimeRange{begin, end}
                     : TimeRange{std::min(all_.begin, begin), std::max(all_.end, end)};
        first = false;
      }
      levels_.push_back(make_levels(list));
      spans_.push_back(std::move(list));
    }
  }

  const std::vector<TimelineTrack>& tracks() const override { return tracks_; }
  TimeRange all() const override { return all_; }
  Mode mode() const override { return mode_; }
  std::string title() const override { return title_; }
  std::string_view word() const override { return word_; }
  Result<std::vector<LevelNode>> items(std::size_t track, std::int64_t begin, std::int64_t end,
                                       std::int64_t max_items) override {
    return visible(levels_[track], begin, end, resolution_for(begin, end, max_items));
  }
  Result<std::vector<Span>> spans(std::size_t track, std::int64_t begin, std::int64_t end,
                                  std::int64_t limit) override {
    const std::vector<Span>& list = spans_[track];
    auto from =
        std::lower_bound(list.begin(), list.end(), begin,
                         [](const Span& span, std::int64_t t) { return span.start_ns < t; });
    std::vector<Span> result;
    for (; from != list.end() && from->start_ns < end; ++from) {
      if (static_cast<std::int64_t>(result.size()) == limit) break;
      result.push_back(*from);
    }
    return result;
  }
  const std::vector<Iteration>& iterations() const override { return iterations_; }
  std::int64_t dropped() const override { return 0; }

 private:
  Mode mode_;
  std::string title_;
  std::string word_;
  std::vector<TimelineTrack> tracks_;
  std::vector<std::vector<Span>> spans_;
  std::vector<Levels> levels_;
  std::vector<Iteration> iterations_;
  TimeRange all_;
};

}  // namespace

std::span<const Iteration> iterations_in(const TimelineSource& source, const TimeRange& range) {
  const std::vector<Iteration>& all = source.iterations();
  const auto first = std::partition_point(all.begin(), all.end(), [&](const Iteration& one) {
    return static_cast<double>(one.end_ns) < range.begin;
  });
  const auto last = std::partition_point(first, all.end(), [&](const Iteration& one) {
    return static_cast<double>(one.start_ns) <= range.end;
  });
  return {first, last};
}

Result<std::unique_ptr<TimelineSource>> session_source(const storage::Session& session,
                                                       std::int64_t run) {
  Result<storage::RunRecord> record = storage::find_run(session, run);
  if (!record) return fail(record.error());
  Result<std::vector<storage::Track>> tracks = storage::run_tracks(session, run);
  if (!tracks) return fail(tracks.error());
  sort_tracks(*tracks);
  Result<std::vector<Iteration>> iterations = storage::iterations_of(session, run);
  if (!iterations) return fail(iterations.error());
  return std::make_unique<SessionSource>(session, std::move(*record), std::move(*tracks),
                                         std::move(*iterations));
}

std::unique_ptr<TimelineSource> memory_source(std::vector<Span> spans, Mode mode, std::string title,
                                              std::string_view word) {
  return std::make_unique<MemorySource>(std::move(spans), mode, std::move(title), word);
}

}  // namespace shardscope::ui
