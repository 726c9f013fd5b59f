#include "storage/import/trace/trace_stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "storage/import/trace/exchange_bytes.hpp"
#include "storage/import/trace/rank_alignment.hpp"
#include "storage/import/trace/rank_placer.hpp"
#include "storage/import/trace/trace_steps.hpp"
#include "storage/import/trace/trace_totals.hpp"

namespace shardscope::storage {
namespace {

constexpr std::int64_t kMostSteps = 1 << 20;

class TraceArranger {
 public:
  TraceArranger(std::vector<RankTrace> ranks, const KernelMap& map, ImportNotes& notes,
                std::int32_t fast_domain)
      : map_(map), notes_(notes) {
    out_.ranks = std::move(ranks);
    out_.fast_domain = fast_domain;
  }

  ImportedTrace arrange() {
    number_ranks(out_.ranks, notes_);
    out_.totals.resize(out_.ranks.size());
    for (RankTrace& trace : out_.ranks) {
      std::sort(trace.collectives.begin(), trace.collectives.end(),
                [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
      out_.places.push_back(place_rank(trace, map_));
      out_.world_size = std::max(out_.world_size, trace.world_size);
    }
    out_.world_size = std::max(out_.world_size, static_cast<std::int32_t>(out_.ranks.size()));
    const MatchedCollectives matches = match_collectives(out_.ranks, out_.places);
    align_clocks(out_.ranks, matches, out_.totals, notes_);
    find_waiting(out_.ranks, matches, out_.places);
    find_fast_domain();
    split_bytes();
    find_iterations();
    sum();
    make_spans();
    return std::move(out_);
  }

 private:
  void find_fast_domain() {
    if (out_.fast_domain > 0) return;
    for (const RankTrace& trace : out_.ranks) {
      out_.fast_domain = std::max(out_.fast_domain, trace.host_gpus);
    }
    if (out_.fast_domain > 0) return;
    constexpr std::int32_t kUsualHost = 8;
    const bool several = out_.world_size > kUsualHost && out_.world_size % kUsualHost == 0;
    out_.fast_domain = several ? kUsualHost : out_.world_size;
    if (several) {
      notes_.warn(0, "the traces do not say how many GPUs a host has; 8 are taken",
                  "--topology, or deviceProperties in the traces");
    }
  }

  void split_bytes() {
    for (std::size_t r = 0; r < out_.ranks.size(); ++r) {
      const RankTrace& trace = out_.ranks[r];
      for (std::size_t w = 0; w < trace.work.size(); ++w) {
        WorkPlace& place = out_.places[r][w];
        if (place.call < 0) continue;
        const LinkBytes split =
            split_by_link(collective_kind(trace.names.text(trace.work[w].name)),
                          trace.collectives[static_cast<std::size_t>(place.call)], trace.rank,
                          out_.world_size, out_.fast_domain);
        place.intra_bytes = split.intra;
        place.inter_bytes = split.inter;
      }
    }
  }

  /// Steps of all ranks by their number; without steps one iteration over everything.
  void find_iterations() {
    std::map<std::int32_t, Iteration> steps;
    out_.start_ns = std::numeric_limits<std::int64_t>::max();
    out_.end_ns = std::numeric_limits<std::int64_t>::min();
    for (const RankTrace& trace : out_.ranks) {
      for (const TraceStep& step : trace_steps(trace, map_)) {
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
      notes_.warn(
          0, "the traces mark no steps: everything is taken as one iteration",
          "ProfilerStep#N (torch.profiler's step()), or ranges that --kernel-map calls steps");
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
    std::int64_t outside = 0;
    for (std::size_t r = 0; r < out_.ranks.size(); ++r) {
      const RankTrace& trace = out_.ranks[r];
      const std::int64_t offset_ns = out_.totals[r].offset_ns;
      const auto steps = static_cast<std::int64_t>(trace_steps(trace, map_).size());
      out_.totals[r] = trace_totals(trace, out_.places[r], out_.from_steps ? steps : 1);
      out_.totals[r].offset_ns = offset_ns;
      outside += std::count_if(out_.places[r].begin(), out_.places[r].end(),
                               [](const WorkPlace& place) { return place.iteration < 0; });
    }
    if (outside > 0) {
      notes_.warn(0,
                  fmt::format("{} pieces of GPU work were launched outside every step: kept as "
                              "activity, in no stage",
                              outside),
                  "work inside a step");
    }
    out_.unmapped = unmapped_names(out_.ranks, out_.places);
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
        span.intra_bytes = place.intra_bytes;
        span.inter_bytes = place.inter_bytes;
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

ImportedTrace arrange_trace(std::vector<RankTrace> ranks, const KernelMap& map, ImportNotes& notes,
                            std::int32_t fast_domain) {
  return TraceArranger(std::move(ranks), map, notes, fast_domain).arrange();
}

}  // namespace shardscope::storage
