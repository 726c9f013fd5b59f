#pragma once
// The simulator's core, in seconds: reusable by evaluators that change a few ranks and run again.

#include <cstdint>
#include <vector>

#include "planner/simulate.hpp"

namespace shardscope {

/// One part in seconds, structure of arrays over ranks.
struct TimedPart {
  Barrier barrier = Barrier::none;
  std::vector<double> kernel_s;
  std::vector<double> intra_latency_s, intra_s;  ///< latency holds no wire
  std::vector<double> inter_latency_s, inter_s;

  explicit TimedPart(std::int32_t ranks = 0, Barrier participants = Barrier::none);
  /// Sets one rank from its load.
  void set(std::int32_t rank, const PartLoad& load, const LinkModel& intra, const LinkModel& inter);
};

using TimedStep = std::vector<TimedPart>;

/// Times of one part in one iteration, by rank, absolute seconds.
struct PartTimes {
  std::vector<double> ready;       ///< may start
  std::vector<double> kernel_end;  ///< arrived at the exchange
  std::vector<double> begin;       ///< exchange begins (last peer arrived)
  std::vector<double> own_end;     ///< own transfers done
  std::vector<double> end;         ///< slowest of the group done
};

/// Order, waits and possible overlaps of a schedule, and the state of a run.
class Timeline {
 public:
  Timeline(const Schedule& schedule, std::int32_t ranks, std::int32_t fast_domain,
           double overlap_cost);

  /// Iterates until every rank's iteration takes as long as its last one (at most kMaxIterations).
  /// Returns the slowest rank's. The vector must have the schedule's steps; parts may differ in
  /// number from call to call.
  double run(const std::vector<TimedStep>& steps);

  [[nodiscard]] bool steady() const { return steady_; }
  /// Of the last iteration run.
  [[nodiscard]] const PartTimes& times(std::size_t step, std::size_t part) const {
    return times_[step][part];
  }
  [[nodiscard]] const std::vector<double>& iteration_start() const { return start_; }
  [[nodiscard]] const std::vector<double>& iteration_end() const { return end_; }
  /// End of a step in the last iteration, by rank.
  [[nodiscard]] const std::vector<double>& end_of(std::size_t step) const {
    return times_[step].back().end;
  }
  /// End of prefetch step `step` in the iteration before the last one.
  [[nodiscard]] const std::vector<double>& prefetched(std::size_t step) const {
    return prefetched_[step];
  }
  /// Prefetch steps of the iteration before that `step` has to wait for.
  [[nodiscard]] const std::vector<std::int32_t>& prefetch_inputs(std::size_t step) const {
    return order_[step].prefetches;
  }
  /// The step before `step` on its stream, or -1.
  [[nodiscard]] std::int32_t stream_predecessor(std::size_t step) const {
    return order_[step].predecessor;
  }
  /// First rank of `rank`'s group, distance to the next and number of ranks in it.
  struct GroupShape {
    std::int32_t first = 0, stride = 1, count = 1;
  };
  [[nodiscard]] GroupShape group_of(Barrier barrier, std::int32_t rank) const;

  static constexpr int kMaxIterations = 12;

 private:
  struct StepOrder {
    std::int32_t predecessor = -1;
    std::vector<std::int32_t> prefetches;
    std::vector<std::int32_t> overlaps;           ///< earlier steps that may still run
    std::vector<std::int32_t> previous_overlaps;  ///< prefetch steps of the iteration before
  };

  void find_order();
  void iterate(const std::vector<TimedStep>& steps);
  void find_ready(std::size_t step, std::vector<double>& ready) const;
  void run_kernels(const std::vector<TimedStep>& steps, std::size_t step, std::size_t part);
  void run_exchange(const std::vector<TimedStep>& steps, std::size_t step, std::size_t part);
  void group_max(Barrier barrier, const std::vector<double>& from, std::vector<double>& to) const;
  /// Calls visit(part, its times) for every part of another step that may overlap `step`.
  template <class Visit>
  void for_overlaps(const std::vector<TimedStep>& steps, std::size_t step, Visit visit) const;

  Schedule schedule_;
  std::int32_t ranks_;
  std::int32_t fast_domain_;
  double overlap_cost_;
  std::vector<StepOrder> order_;
  std::vector<std::vector<PartTimes>> times_;     ///< [step][part], this iteration
  std::vector<std::vector<PartTimes>> previous_;  ///< prefetch steps, the iteration before
  std::vector<std::vector<double>> prefetched_;   ///< [step][rank], end in the iteration before
  std::vector<double> start_, end_, scratch_;
  bool steady_ = false;
};

}  // namespace shardscope
