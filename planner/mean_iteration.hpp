#pragma once
// The mean rank's iteration as a convex function of a layout's sums.
//
// Why this bounds every layout: without the sharing of wires, which never makes it faster, the
// simulator is a maximum of sums of loads: convex, and blind to how ranks are numbered inside the
// domain structure. So its value is at least its value at the loads averaged over all numberings,
// where every rank carries the mean. Mean loads depend on the tables' clusters alone: cutting a
// table never lowers its sum of a load, once every repeated row is taken as found in the cache and
// every codec as fast as it is at its best chunk size.
//
// One shared wire is put back. An all-reduce takes the wire for m seconds on every rank. It begins
// at D, when the last rank's dense kernels are done: D >= T_r + d_r, where T_r is when rank r has
// what both wait for. Bytes of the backward exchange move p later than the last T_r of its group
// (p: packing and latency, alike on all ranks) and take t_q on rank q. But for its latency the
// all-reduce ends no earlier than min(D, max T_r + p) + m + min(m, t_q), the maximum over q's
// group. Flat, the group is all ranks, and some q has at least the mean t. Along rails t_q is q's
// domain's: some domain has at least the mean t, and its rank on the rail of the latest T_r is a q.
// So with means T, d and t: the end is at least T + min(d, p) + m + min(m, t). Where both kinds
// follow one another, one q need not be both, and the kind that takes longer is counted alone. min
// is not convex, so layouts are split in four cases (D before max T_r + p or not; t <= m or not):
// each formula is convex, and the lowest of the bounds counts. Measured link curves are replaced by
// lines below them; all formulas only grow in m, t, p and d.
//
// Where one rank is known to do more than the mean (HeaviestPart), its own chain of cause bounds
// the iteration too: its kernels, and exchanges that end with the slowest of their group, which
// takes at least the group's mean. Nothing else is known of it: of what depends on owners only the
// part counts, and inside its fast domain it may be the only one that sends. The later of both
// counts.

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "layout/schedule.hpp"
#include "layout/topology.hpp"
#include "planner/dense_cost.hpp"
#include "planner/load_fields.hpp"
#include "planner/step_loads.hpp"
#include "planner/timeline.hpp"

namespace shardscope {

/// How a table may take part, as far as mean loads go.
/// UB without dedup is left out: it never asks for less than with it.
enum class TableForm : std::uint8_t { replicated, flat, hierarchical, by_unique };
inline constexpr std::size_t kTableForms = 4;

/// Forms as a set of bits, 1 << TableForm.
using FormSet = std::uint8_t;
[[nodiscard]] constexpr FormSet form_bit(TableForm form) {
  return static_cast<FormSet>(1U << static_cast<unsigned>(form));
}

/// Which layouts a bound is about, where an all-reduce meets backward exchanges.
struct WireCase {
  bool exchange_longer = false;  ///< they take the slow wire longer than the all-reduce
  bool exchange_later = false;   ///< their bytes could move later than the all-reduce's
};
inline constexpr WireCase kWireCases[] = {
    {false, false}, {false, true}, {true, false}, {true, true}};

/// What some rank is known to do of one flat RB table.
struct HeaviestPart {
  double gather_bytes = 0;
  double reduce_bytes = 0;
  double update_bytes = 0;
};

/// Seconds of the mean rank for one presence of forms and one case. Convex in the sums.
class MeanIteration {
 public:
  /// Keeps references: the arguments must outlive it.
  MeanIteration(const WorkloadFacts& facts, const Topology& topology, const ExecutorModel& executor,
                const DenseCost& dense, const Schedule& schedule, FormSet present,
                WireCase wire_case, std::optional<HeaviestPart> heaviest = std::nullopt);

  /// False where no all-reduce meets an exchange: all cases are then the same.
  [[nodiscard]] bool has_cases() const { return !exchanges_.empty(); }

  [[nodiscard]] double seconds(const LoadFields& sums);

  /// A line below seconds() everywhere: the chain of cause that decides at `sums`.
  struct Tangent {
    double offset = 0;
    LoadFields slope;
  };
  [[nodiscard]] Tangent tangent(const LoadFields& sums);

 private:
  /// A kernel or an exchange on the deciding chain.
  struct Link {
    std::size_t step = 0;
    std::size_t part = 0;  ///< of a held one: Counted
    enum class Kind : std::uint8_t { kernel, intra, inter, held } kind = Kind::kernel;
  };
  /// Pieces whose seconds sum to `iterations` periods.
  struct Chain {
    std::vector<Link> links;
    double iterations = 1;
  };
  /// Whose kernels are looked at.
  enum class Of : std::uint8_t { mean, heaviest };
  void load(const LoadFields& sums, Of rank);
  [[nodiscard]] double run(const LoadFields& sums, Of rank);
  void find_meeting();
  /// Which exchanges an all-reduce's hold counts.
  enum class Counted : std::uint8_t { all, rails, flat };
  [[nodiscard]] Counted counted() const;
  [[nodiscard]] double held_seconds(Counted counted) const;
  [[nodiscard]] double dense_before_allreduce() const;
  [[nodiscard]] double packing_before_exchange(bool far) const;
  [[nodiscard]] Chain deciding_chain() const;
  [[nodiscard]] double length(const Chain& chain) const;
  void append_step(std::size_t step, std::vector<Link>& links) const;

  const Topology& topology_;
  LinkModel intra_, inter_;  ///< measured curves replaced by a line below them
  StepModel steps_;
  Schedule schedule_;
  Timeline timeline_;
  FormSet present_;
  WireCase case_;
  std::optional<HeaviestPart> heaviest_;
  std::size_t allreduce_ = SIZE_MAX;      ///< step that meets
  std::vector<std::size_t> exchanges_;    ///< backward exchanges that it meets
  std::vector<std::size_t> before_both_;  ///< steps that have ended when any of them begins
  std::vector<StepLoad> loads_;
  std::vector<TimedStep> timed_;
};

}  // namespace shardscope
