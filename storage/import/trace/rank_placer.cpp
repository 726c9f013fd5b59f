#include "storage/import/trace/rank_placer.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "storage/import/trace/trace_steps.hpp"

namespace shardscope::storage {
namespace {

bool is_collective(std::string_view name) {
  return name.find("nccl") != std::string_view::npos;
}

/// A range with a meaning, while the launches are walked through.
struct OpenRange {
  std::int64_t end_ns = 0;
  std::int64_t length_ns = 0;
  std::int32_t thread = 0;
  const RangeRule* rule = nullptr;
};

/// Places the work of one rank.
class RankPlacer {
 public:
  RankPlacer(const RankTrace& trace, const KernelMap& map) : trace_(trace), map_(map) {
    rules_.resize(trace.names.size(), nullptr);
    for (std::size_t n = 0; n < rules_.size(); ++n) {
      rules_[n] = map.kernel(trace.names.text(static_cast<std::uint32_t>(n)));
    }
    steps_ = trace_steps(trace, map);
    const std::vector<CollectiveCall>& calls = trace.collectives;
    for (std::size_t c = 0; c < calls.size(); ++c) {
      if (calls[c].correlation != 0) by_correlation_.emplace(calls[c].correlation, c);
    }
  }

  std::vector<WorkPlace> place() {
    std::vector<Launch> launches = launches_by_time();
    std::vector<CpuRange> ranges = trace_.ranges;
    std::sort(ranges.begin(), ranges.end(),
              [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    std::vector<WorkPlace> places(trace_.work.size());
    std::size_t next = 0;
    for (const Launch& launch : launches) {
      for (; next < ranges.size() && ranges[next].start_ns <= launch.time_ns; ++next) {
        const RangeRule* rule = range_rule(ranges[next].name);
        if (rule == nullptr || rule->role == RangeRole::step) continue;
        open_.push_back({ranges[next].end_ns, ranges[next].end_ns - ranges[next].start_ns,
                         ranges[next].thread, rule});
      }
      std::erase_if(open_, [&](const OpenRange& one) { return one.end_ns < launch.time_ns; });
      places[launch.work] = place_one(launch);
    }
    return places;
  }

 private:
  struct Launch {
    std::int64_t time_ns = 0;
    std::size_t work = 0;
    std::int32_t thread = std::numeric_limits<std::int32_t>::min();
  };

  const RangeRule* range_rule(std::uint32_t name) {
    const auto [entry, fresh] = range_rules_.emplace(name, nullptr);
    if (fresh) entry->second = map_.range(trace_.names.text(name));
    return entry->second;
  }

  /// When and where each piece of work was launched; its own start where that is not recorded.
  std::vector<Launch> launches_by_time() const {
    std::unordered_map<std::uint32_t, std::size_t> by_correlation;
    by_correlation.reserve(trace_.calls.size());
    for (std::size_t c = 0; c < trace_.calls.size(); ++c) {
      by_correlation.emplace(trace_.calls[c].correlation, c);
    }
    std::vector<Launch> launches;
    launches.reserve(trace_.work.size());
    for (std::size_t w = 0; w < trace_.work.size(); ++w) {
      Launch launch{trace_.work[w].start_ns, w};
      const auto found = by_correlation.find(trace_.work[w].correlation);
      if (trace_.work[w].correlation != 0 && found != by_correlation.end()) {
        launch.time_ns = trace_.calls[found->second].start_ns;
        launch.thread = trace_.calls[found->second].thread;
      }
      launches.push_back(launch);
    }
    std::stable_sort(launches.begin(), launches.end(),
                     [](const Launch& a, const Launch& b) { return a.time_ns < b.time_ns; });
    return launches;
  }

  /// The innermost open range with one of the roles; of the launching thread if it has one.
  template <class Wanted>
  const RangeRule* innermost(std::int32_t thread, Wanted wanted) const {
    const OpenRange* best = nullptr;
    for (const OpenRange& one : open_) {
      if (!wanted(*one.rule)) continue;
      const bool own = one.thread == thread;
      const bool best_own = best != nullptr && best->thread == thread;
      if (best == nullptr || (own && !best_own) ||
          (own == best_own && one.length_ns < best->length_ns)) {
        best = &one;
      }
    }
    return best == nullptr ? nullptr : best->rule;
  }

  std::optional<Stage> range_stage(std::int32_t thread) const {
    const RangeRule* rule =
        innermost(thread, [](const RangeRule& one) { return one.role == RangeRole::stage; });
    if (rule == nullptr) return std::nullopt;
    return rule->stage;
  }

  RangeRole phase(std::int32_t thread) const {
    const RangeRule* rule =
        innermost(thread, [](const RangeRule& one) { return one.role != RangeRole::stage; });
    return rule == nullptr ? RangeRole::step : rule->role;
  }

  std::int32_t iteration_at(std::int64_t time_ns) const {
    if (steps_.empty()) return 0;
    const auto after = std::upper_bound(
        steps_.begin(), steps_.end(), time_ns,
        [](std::int64_t time, const TraceStep& step) { return time < step.start_ns; });
    if (after == steps_.begin()) return -1;
    const TraceStep& step = *std::prev(after);
    return time_ns < step.end_ns ? step.number : -1;
  }

  WorkPlace place_one(const Launch& launch) {
    const GpuWork& work = trace_.work[launch.work];
    WorkPlace place;
    place.iteration = iteration_at(launch.time_ns);
    const KernelRule* rule =
        work.kind == ActivityRecord::Kind::kernel ? rules_[work.name] : nullptr;
    const std::optional<Stage> context = range_stage(launch.thread);
    const RangeRole now = phase(launch.thread);
    if (work.kind == ActivityRecord::Kind::kernel && is_collective(trace_.names.text(work.name))) {
      place.collective = true;
      attach_call(launch, work, place);
    }
    if (rule == nullptr) {
      // What is launched inside a stage's own range belongs to it, whatever its name.
      if (!context) return place;
      place.stage = *context;
      place.mapped = true;
      return place;
    }
    place.mapped = true;
    place.work = rule->work;
    place.fused = rule->fused;
    switch (rule->role) {
      case KernelRole::stage:
        place.stage = rule->stage;
        return place;
      case KernelRole::network:
        place.stage = context                      ? *context
                      : now == RangeRole::backward ? Stage::network_backward
                                                   : Stage::network_forward;
        return place;
      case KernelRole::exchange:
        return exchange(work, context, now, place);
      case KernelRole::dense:
        return dense(context, now, place);
    }
    return place;
  }

  WorkPlace exchange(const GpuWork& work, std::optional<Stage> context, RangeRole now,
                     WorkPlace place) const {
    const std::string& name = trace_.names.text(work.name);
    const auto has = [&](const char* piece) { return name.find(piece) != std::string::npos; };
    if (has("AllReduce")) {
      place.stage = Stage::allreduce;
      place.work = Work::dense;
    } else if (context && *context != Stage::model_forward) {
      place.stage = *context;
    } else if (place.received_bytes < 0) {
      place.stage = Stage::input_dist;  // ids: see attach_call
      place.received_bytes = 0;
    } else if (now == RangeRole::optimizer) {
      place.stage = Stage::update;
      place.work = Work::dense;
    } else {
      place.stage = now == RangeRole::backward ? Stage::network_backward : Stage::network_forward;
    }
    place.received_bytes = std::max<std::int64_t>(place.received_bytes, 0);
    return place;
  }

  static WorkPlace dense(std::optional<Stage> context, RangeRole now, WorkPlace place) {
    if (context) {
      place.stage = *context;
      place.work = Work::RB;
    } else if (now == RangeRole::backward) {
      place.stage = Stage::dense_backward;
    } else if (now == RangeRole::optimizer) {
      place.stage = Stage::update;
    } else {
      place.stage = Stage::dense_forward;
    }
    return place;
  }

  /// The caller's description: the kernel's own, or the calls that enclose its launch. Exchanges of
  /// integers are marked by received_bytes -1 until their stage is chosen.
  void attach_call(const Launch& launch, const GpuWork& work, WorkPlace& place) const {
    constexpr int kNested = 8;
    const std::vector<CollectiveCall>& calls = trace_.collectives;
    auto at = std::upper_bound(
        calls.begin(), calls.end(), launch.time_ns,
        [](std::int64_t time, const CollectiveCall& call) { return time < call.start_ns; });
    bool ids = false;
    for (int i = 0; i < kNested && at != calls.begin(); ++i) {
      --at;
      const bool around = at->thread == launch.thread && launch.time_ns <= at->end_ns;
      if (around) ids = take_call(static_cast<std::size_t>(at - calls.begin()), place) || ids;
    }
    const auto own = by_correlation_.find(work.correlation);
    if (work.correlation != 0 && own != by_correlation_.end()) {
      ids = take_call(own->second, place) || ids;
    }
    if (ids) place.received_bytes = -1;
  }

  /// Largest sizes; the call with splits, or else with most bytes, stands for the exchange. True
  /// where it sends integers.
  bool take_call(std::size_t index, WorkPlace& place) const {
    const CollectiveCall& call = trace_.collectives[index];
    const bool splits =
        place.call >= 0 &&
        !trace_.collectives[static_cast<std::size_t>(place.call)].sent_splits.empty();
    const bool better = !call.sent_splits.empty() || call.sent_bytes > place.sent_bytes;
    if (place.call < 0 || (!splits && better)) place.call = static_cast<std::int32_t>(index);
    place.sent_bytes = std::max(place.sent_bytes, call.sent_bytes);
    place.received_bytes = std::max(place.received_bytes, call.received_bytes);
    return call.whole_ids;
  }

  const RankTrace& trace_;
  const KernelMap& map_;
  std::vector<const KernelRule*> rules_;  ///< by name
  std::unordered_map<std::uint32_t, const RangeRule*> range_rules_;
  std::vector<TraceStep> steps_;
  std::unordered_map<std::uint32_t, std::size_t> by_correlation_;
  std::vector<OpenRange> open_;
};

}  // namespace

std::vector<WorkPlace> place_rank(const RankTrace& trace, const KernelMap& map) {
  return RankPlacer(trace, map).place();
}

}  // namespace shardscope::storage
