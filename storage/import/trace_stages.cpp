#include "storage/import/trace_stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

namespace shardscope::storage {
namespace {

constexpr const char* kStepPrefix = "ProfilerStep#";
constexpr std::int64_t kMostSteps = 1 << 20;

/// The number behind "rank", "rank-", "rank_" or "worker" in a file's name; -1 without.
std::int32_t rank_in_name(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  std::string base = slash == std::string::npos ? file : file.substr(slash + 1);
  std::transform(base.begin(), base.end(), base.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  for (const std::string_view word : {"rank", "worker"}) {
    std::size_t at = base.find(word);
    if (at == std::string::npos) continue;
    at += word.size();
    while (at < base.size() && (base[at] == '-' || base[at] == '_' || base[at] == '.')) ++at;
    std::int32_t rank = -1;
    const auto [end, error] = std::from_chars(base.data() + at, base.data() + base.size(), rank);
    if (error == std::errc() && rank >= 0 && rank < 65536) return rank;
  }
  return -1;
}

struct Step {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int32_t number = 0;
};

std::vector<Step> steps_of(const RankTrace& trace) {
  std::vector<Step> steps;
  for (const CpuRange& range : trace.ranges) {
    const std::string& name = trace.names.text(range.name);
    if (!name.starts_with(kStepPrefix)) continue;
    std::int32_t number = -1;
    const char* begin = name.data() + std::string_view(kStepPrefix).size();
    std::from_chars(begin, name.data() + name.size(), number);
    if (number >= 0) steps.push_back({range.start_ns, range.end_ns, number});
  }
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.start_ns < b.start_ns; });
  return steps;
}

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
    steps_ = steps_of(trace);
    collectives_ = trace.collectives;
    std::sort(collectives_.begin(), collectives_.end(),
              [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    for (std::size_t c = 0; c < collectives_.size(); ++c) {
      if (collectives_[c].correlation != 0) by_correlation_.emplace(collectives_[c].correlation, c);
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
    const auto after =
        std::upper_bound(steps_.begin(), steps_.end(), time_ns,
                         [](std::int64_t time, const Step& step) { return time < step.start_ns; });
    if (after == steps_.begin()) return -1;
    const Step& step = *std::prev(after);
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
    auto at = std::upper_bound(
        collectives_.begin(), collectives_.end(), launch.time_ns,
        [](std::int64_t time, const CollectiveCall& call) { return time < call.start_ns; });
    bool ids = false;
    for (int i = 0; i < kNested && at != collectives_.begin(); ++i) {
      --at;
      const bool around = at->thread == launch.thread && launch.time_ns <= at->end_ns;
      if (!around) continue;
      place.sent_bytes = std::max(place.sent_bytes, at->sent_bytes);
      place.received_bytes = std::max(place.received_bytes, at->received_bytes);
      ids = ids || at->whole_ids;
    }
    const auto own = by_correlation_.find(work.correlation);
    if (work.correlation != 0 && own != by_correlation_.end()) {
      const CollectiveCall& call = collectives_[own->second];
      place.sent_bytes = std::max(place.sent_bytes, call.sent_bytes);
      place.received_bytes = std::max(place.received_bytes, call.received_bytes);
      ids = ids || call.whole_ids;
    }
    if (ids) place.received_bytes = -1;
  }

  const RankTrace& trace_;
  const KernelMap& map_;
  std::vector<const KernelRule*> rules_;  ///< by name
  std::unordered_map<std::uint32_t, const RangeRule*> range_rules_;
  std::vector<Step> steps_;
  std::vector<CollectiveCall> collectives_;  ///< by start
  std::unordered_map<std::uint32_t, std::size_t> by_correlation_;
  std::vector<OpenRange> open_;
};

/// Class of a collective for matching ranks: its name up to the protocol.
std::string collective_class(const std::string& name) {
  for (const char* piece : {"AllReduce", "SendRecv", "AllToAll", "Alltoall", "ReduceScatter",
                            "AllGather", "Broadcast", "Reduce"}) {
    if (name.find(piece) != std::string::npos) return piece;
  }
  return "other";
}

/// Matched collectives: occurrences[k][i] is the k-th one's work index on rank i.
using Matches = std::vector<std::vector<std::size_t>>;

Matches match_collectives(const std::vector<RankTrace>& ranks,
                          const std::vector<std::vector<WorkPlace>>& places) {
  using Key = std::pair<std::int32_t, std::string>;  // iteration, class
  std::vector<std::map<Key, std::vector<std::size_t>>> lists(ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (std::size_t w = 0; w < ranks[r].work.size(); ++w) {
      if (!places[r][w].collective) continue;
      const std::string& name = ranks[r].names.text(ranks[r].work[w].name);
      lists[r][{places[r][w].iteration, collective_class(name)}].push_back(w);
    }
    for (auto& [key, list] : lists[r]) {
      std::sort(list.begin(), list.end(), [&](std::size_t a, std::size_t b) {
        return ranks[r].work[a].start_ns < ranks[r].work[b].start_ns;
      });
    }
  }
  Matches matches;
  for (const auto& [key, first] : lists.front()) {
    bool everywhere = ranks.size() > 1;
    for (const auto& list : lists) {
      const auto found = list.find(key);
      everywhere = everywhere && found != list.end() && found->second.size() == first.size();
    }
    for (std::size_t k = 0; everywhere && k < first.size(); ++k) {
      matches.emplace_back();
      for (const auto& list : lists) matches.back().push_back(list.at(key)[k]);
    }
  }
  return matches;
}

/// Collectives end together: the median difference of their ends is the clocks' difference.
void align(std::vector<RankTrace>& ranks, const Matches& matches, std::vector<TraceRank>& totals,
           ImportNotes& notes) {
  constexpr std::int64_t kWorthTelling = 1'000'000;
  for (std::size_t r = 1; r < ranks.size() && !matches.empty(); ++r) {
    std::vector<std::int64_t> differences;
    for (const std::vector<std::size_t>& match : matches) {
      differences.push_back(ranks[r].work[match[r]].end_ns - ranks[0].work[match[0]].end_ns);
    }
    const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
    std::nth_element(differences.begin(), middle, differences.end());
    totals[r].offset_ns = *middle;
    if (std::abs(*middle) > kWorthTelling) {
      notes.kept(fmt::format(
          "rank {}'s clock is {:+.3f} ms off rank {}'s; aligned by {} collectives", ranks[r].rank,
          static_cast<double>(*middle) / 1e6, ranks[0].rank, matches.size()));
    }
    const auto shift = [&](auto& list) {
      for (auto& one : list) {
        one.start_ns -= totals[r].offset_ns;
        if constexpr (requires { one.end_ns; }) one.end_ns -= totals[r].offset_ns;
      }
    };
    shift(ranks[r].work);
    shift(ranks[r].calls);
    shift(ranks[r].ranges);
    shift(ranks[r].collectives);
    shift(ranks[r].lookups);
  }
}

void find_waiting(const std::vector<RankTrace>& ranks, const Matches& matches,
                  std::vector<std::vector<WorkPlace>>& places) {
  for (const std::vector<std::size_t>& match : matches) {
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      last = std::max(last, ranks[r].work[match[r]].start_ns);
    }
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const GpuWork& work = ranks[r].work[match[r]];
      places[r][match[r]].waiting_ns =
          std::clamp<std::int64_t>(last - work.start_ns, 0, work.end_ns - work.start_ns);
    }
  }
}

void number_ranks(std::vector<RankTrace>& ranks, ImportNotes& notes) {
  std::map<std::int32_t, int> used;
  for (RankTrace& trace : ranks) {
    if (trace.rank < 0) trace.rank = rank_in_name(trace.file);
    ++used[trace.rank];
  }
  const bool sound = std::all_of(used.begin(), used.end(), [](const auto& entry) {
    return entry.first >= 0 && entry.second == 1;
  });
  if (!sound) {
    notes.warn(0, "the traces do not name their ranks (or twice the same): numbered in their order",
               "distributedInfo with \"rank\", or rank-N in the file's name");
    for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r].rank = static_cast<std::int32_t>(r);
  }
  std::sort(ranks.begin(), ranks.end(),
            [](const RankTrace& a, const RankTrace& b) { return a.rank < b.rank; });
}

void add_work(const GpuWork& work, const WorkPlace& place, TraceRank& total) {
  const double ms = static_cast<double>(work.end_ns - work.start_ns) / 1e6;
  total.gpu_ms += ms;
  if (!place.mapped) {
    total.unmapped_ms += ms;
  } else if (place.collective) {
    const double waiting = static_cast<double>(place.waiting_ns) / 1e6;
    total.waiting_ms += waiting;
    total.exchange_ms += ms - waiting;
    const bool vectors =
        place.stage == Stage::network_forward || place.stage == Stage::network_backward;
    if (vectors) total.sent_bytes += static_cast<double>(place.sent_bytes);
  } else if (place.work == Work::dense) {
    total.dense_ms += ms;
  } else if (place.stage == Stage::model_forward || place.stage == Stage::index_calculation ||
             place.stage == Stage::local_reduce || place.stage == Stage::update) {
    total.embedding_ms += ms;
  }
}

void add_lookups(const RankTrace& trace, TraceRank& total) {
  // An iteration repeats the same operators: the largest number of calls of one kind tells how
  // often, the last call of each size what they read.
  double ids = 0;
  double ids_per_sample = 0;
  std::map<std::pair<std::int64_t, bool>, LookupCall> kinds;
  for (const LookupCall& call : trace.lookups) kinds[{call.elements, call.replicated}] = call;
  for (const auto& [key, call] : kinds) {
    if (call.replicated) {
      total.replicated_tables += call.tables;
      total.replicated_elements += call.elements;
      continue;
    }
    total.tables += call.tables;
    total.elements += call.elements;
    total.batch = std::max(total.batch, call.batch);
    ids += static_cast<double>(call.ids);
    if (call.batch > 0)
      ids_per_sample += static_cast<double>(call.ids) / static_cast<double>(call.batch);
  }
  total.ids = ids;
  total.ids_per_sample = ids_per_sample;
}

void per_iteration(TraceRank& total) {
  const double n = static_cast<double>(std::max<std::int64_t>(total.iterations, 1));
  for (double* value : {&total.gpu_ms, &total.embedding_ms, &total.dense_ms, &total.exchange_ms,
                        &total.waiting_ms, &total.unmapped_ms, &total.sent_bytes}) {
    *value /= n;
  }
}

class TraceArranger {
 public:
  TraceArranger(std::vector<RankTrace> ranks, const KernelMap& map, ImportNotes& notes)
      : map_(map), notes_(notes) {
    out_.ranks = std::move(ranks);
  }

  ImportedTrace arrange() {
    number_ranks(out_.ranks, notes_);
    out_.totals.resize(out_.ranks.size());
    for (const RankTrace& trace : out_.ranks) {
      out_.places.push_back(RankPlacer(trace, map_).place());
      out_.world_size = std::max(out_.world_size, trace.world_size);
    }
    out_.world_size = std::max(out_.world_size, static_cast<std::int32_t>(out_.ranks.size()));
    const Matches matches = match_collectives(out_.ranks, out_.places);
    align(out_.ranks, matches, out_.totals, notes_);
    find_waiting(out_.ranks, matches, out_.places);
    find_iterations();
    sum();
    make_spans();
    return std::move(out_);
  }

 private:
  /// Steps of all ranks by their number; without steps one iteration over everything.
  void find_iterations() {
    std::map<std::int32_t, Iteration> steps;
    out_.start_ns = std::numeric_limits<std::int64_t>::max();
    out_.end_ns = std::numeric_limits<std::int64_t>::min();
    for (const RankTrace& trace : out_.ranks) {
      for (const Step& step : steps_of(trace)) {
        if (static_cast<std::int64_t>(steps.size()) >= kMostSteps) break;
        auto [entry, fresh] = steps.emplace(step.number, Iteration{});
        Iteration& one = entry->second;
        one.start_ns = fresh ? step.start_ns : std::min(one.start_ns, step.start_ns);
        one.end_ns = fresh ? step.end_ns : std::max(one.end_ns, step.end_ns);
      }
      for (const GpuWork& work : trace.work) {
        out_.start_ns = std::min(out_.start_ns, work.start_ns);
        out_.end_ns = std::max(out_.end_ns, work.end_ns);
      }
    }
    out_.from_steps = !steps.empty();
    if (out_.start_ns > out_.end_ns) out_.start_ns = out_.end_ns = 0;
    if (steps.empty() && out_.end_ns > out_.start_ns) {
      steps[0] = Iteration{0, 0, out_.start_ns, out_.end_ns};
      notes_.warn(0, "the traces mark no steps: everything is taken as one iteration",
                  "ProfilerStep#N (torch.profiler's step())");
    }
    for (auto& [number, step] : steps) {
      out_.start_ns = std::min(out_.start_ns, step.start_ns);
      out_.end_ns = std::max(out_.end_ns, step.end_ns);
    }
    for (auto& [number, step] : steps) {
      step.index = number;
      step.start_ns -= out_.start_ns;
      step.end_ns -= out_.start_ns;
      step.traced = true;
      step.loss = std::numeric_limits<double>::quiet_NaN();
      out_.iterations.push_back(step);
    }
  }

  void sum() {
    std::map<std::string, UnmappedName> unmapped;
    std::int64_t outside = 0;
    for (std::size_t r = 0; r < out_.ranks.size(); ++r) {
      const RankTrace& trace = out_.ranks[r];
      TraceRank& total = out_.totals[r];
      total.rank = trace.rank;
      total.file = trace.file;
      total.iterations = out_.from_steps ? static_cast<std::int64_t>(steps_of(trace).size()) : 1;
      for (std::size_t w = 0; w < trace.work.size(); ++w) {
        const WorkPlace& place = out_.places[r][w];
        outside += place.iteration < 0 ? 1 : 0;
        if (place.iteration >= 0) add_work(trace.work[w], place, total);
        if (place.mapped) continue;
        UnmappedName& one = unmapped[trace.names.text(trace.work[w].name)];
        one.ms += static_cast<double>(trace.work[w].end_ns - trace.work[w].start_ns) / 1e6;
        ++one.count;
      }
      add_lookups(trace, total);
      per_iteration(total);
    }
    if (outside > 0) {
      notes_.warn(0,
                  fmt::format("{} pieces of GPU work were launched outside every step: kept as "
                              "activity, in no stage",
                              outside),
                  "work inside ProfilerStep#N");
    }
    for (auto& [name, one] : unmapped) {
      one.name = name;
      out_.unmapped.push_back(std::move(one));
    }
    std::sort(out_.unmapped.begin(), out_.unmapped.end(),
              [](const UnmappedName& a, const UnmappedName& b) { return a.ms > b.ms; });
    out_.hot_rank = index_of_most([](const TraceRank& one) { return one.embedding_ms; });
    out_.most_bytes = index_of_most([](const TraceRank& one) { return one.sent_bytes; });
    out_.most_ids = index_of_most([](const TraceRank& one) { return one.ids; });
  }

  template <class Of>
  std::int32_t index_of_most(Of of) const {
    const auto most =
        std::max_element(out_.totals.begin(), out_.totals.end(),
                         [&](const TraceRank& a, const TraceRank& b) { return of(a) < of(b); });
    return static_cast<std::int32_t>(most - out_.totals.begin());
  }

  /// One span a piece of work, a collective's waiting apart.
  void make_spans() {
    for (std::size_t r = 0; r < out_.ranks.size(); ++r) {
      std::map<std::int32_t, std::uint8_t> streams;
      for (std::size_t w = 0; w < out_.ranks[r].work.size(); ++w) {
        const GpuWork& work = out_.ranks[r].work[w];
        const WorkPlace& place = out_.places[r][w];
        if (!place.mapped || place.iteration < 0) continue;
        const auto stream = streams.emplace(
            work.stream, static_cast<std::uint8_t>(std::min<std::size_t>(streams.size(), 255)));
        Span span;
        span.rank = static_cast<std::int32_t>(r);
        span.iteration = place.iteration;
        span.stage = place.stage;
        span.work = place.work;
        span.stream = stream.first->second;
        span.start_ns = work.start_ns - out_.start_ns;
        span.end_ns = span.start_ns + place.waiting_ns;
        if (place.waiting_ns > 0) {
          span.waiting = true;
          out_.spans.push_back(span);
          span.waiting = false;
        }
        span.start_ns = span.end_ns;
        span.end_ns = work.end_ns - out_.start_ns;
        span.busy_ns = place.collective ? 0 : span.end_ns - span.start_ns;
        span.intra_bytes = place.sent_bytes;
        out_.spans.push_back(span);
      }
    }
    std::sort(out_.spans.begin(), out_.spans.end(),
              [](const Span& a, const Span& b) { return a.start_ns < b.start_ns; });
  }

  const KernelMap& map_;
  ImportNotes& notes_;
  ImportedTrace out_;
};

}  // namespace

ImportedTrace arrange_trace(std::vector<RankTrace> ranks, const KernelMap& map,
                            ImportNotes& notes) {
  return TraceArranger(std::move(ranks), map, notes).arrange();
}

}  // namespace shardscope::storage
