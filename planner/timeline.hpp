#pragma once
// The simulator's core, in seconds: reusable by evaluators that change a few ranks and run again.

#include <cstdint>
#include <utility>
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
};

using TimedStep = std::vector<TimedPart>;

/// Every load in seconds, into existing storage.
void in_seconds(const std::vector<StepLoad>& loads, const LinkModel& intra, const LinkModel& inter,
                std::vector<TimedStep>& into);

/// Times of one part in one iteration, by rank, absolute seconds.
struct PartTimes {
  std::vector<double> ready;       ///< may start
  std::vector<double> kernel_end;  ///< arrived at the exchange
  std::vector<double> begin;       ///< exchange begins (last peer arrived)
  std::vector<double> own_end;     ///< own transfers done
  std::vector<double> end;         ///< slowest of the group done
};

/// Whether exchanges that overlap slow each other down. known: meets() tells which could.
enum class WireSharing : std::uint8_t { priced, known };

/// Order, waits and possible overlaps of a schedule, and the state of a run.
class Timeline {
 public:
  Timeline(const Schedule& schedule, std::int32_t ranks, std::int32_t fast_domain,
           double overlap_cost, WireSharing sharing = WireSharing::priced);

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
  /// Steps whose exchanges a step's may meet on a wire, in the order in which they run.
  [[nodiscard]] const std::vector<std::int32_t>& meets(std::size_t step) const {
    return order_[step].shares_wires;
  }
  /// Steps that have ended when both begin.
  [[nodiscard]] std::vector<std::size_t> common_ancestors(std::size_t a, std::size_t b) const;

  /// From now on the last exchange of a step ends no earlier than `seconds` after the last of
  /// `ancestors` (none: the iteration's start). For bounds: what sharing a wire makes certain.
  struct Hold {
    std::size_t step = SIZE_MAX;
    std::vector<std::size_t> ancestors;
    double seconds = 0;
  };
  void hold(Hold held) { hold_ = std::move(held); }
  /// Whether that decided the step's end in the last iteration.
  [[nodiscard]] bool held() const { return held_; }

  /// Seconds that side kernels add to a step on a rank.
  [[nodiscard]] double slowed_by(const std::vector<TimedStep>& steps, std::size_t step,
                                 std::size_t rank) const;
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
    std::vector<std::int32_t> slowed_by;     ///< steps whose kernels this one's share units with
    std::vector<std::int32_t> shares_wires;  ///< steps run before whose exchanges it may meet
  };
  /// before_[i][j]: step j has ended when i begins.
  using Relation = std::vector<std::vector<bool>>;

  void find_order();
  void find_contention();
  void apply_hold(std::size_t step);
  [[nodiscard]] std::vector<std::size_t> side_streams_first() const;
  [[nodiscard]] std::int32_t kernel_payer(std::size_t step) const;
  void iterate(const std::vector<TimedStep>& steps);
  void find_ready(std::size_t step, std::vector<double>& ready) const;
  void run_kernels(const std::vector<TimedStep>& steps, std::size_t step, std::size_t part);
  void run_exchange(const std::vector<TimedStep>& steps, std::size_t step, std::size_t part);
  void group_max(Barrier barrier, const std::vector<double>& from, std::vector<double>& to) const;

  Schedule schedule_;
  std::int32_t ranks_;
  std::int32_t fast_domain_;
  double overlap_cost_;
  bool wires_priced_;
  std::vector<StepOrder> order_;
  Relation before_;
  Hold hold_;
  bool held_ = false;
  std::vector<std::size_t> sequence_;            ///< steps as they are run: higher streams first
  std::vector<std::vector<PartTimes>> times_;    ///< [step][part], this iteration
  std::vector<std::vector<double>> prefetched_;  ///< [step][rank], end in the iteration before
  std::vector<double> start_, end_, scratch_;
  bool steady_ = false;
};

}  // namespace shardscope
