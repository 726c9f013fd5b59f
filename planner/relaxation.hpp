#pragma once
// The mean rank's iteration as a convex function of a layout's sums, and the best that any choice
// of clusters can make of it. The ground of the lower bound (planner/bound.hpp) and of the prices
// that the planner starts from.
//
// Why this bounds every layout: without the sharing of wires, which never makes it faster, the
// simulator is a maximum of sums of loads: convex, and blind to how ranks are numbered inside the
// domain structure. So its value is at least its value at the loads averaged over all numberings,
// where every rank carries the mean. Mean loads depend on the tables' clusters alone: cutting a
// table never lowers its sum of a load, once every repeated row is taken as found in the cache.
//
// One shared wire is put back: an all-reduce that takes the wire for m seconds on every rank meets
// backward exchanges that take it for t_r on rank r. Whoever begins first, the simulator ends the
// all-reduce no earlier than m + min(m, t_r) after both could begin, for every r,
// hence for the mean t: its end is the latest over all ranks. min is not convex, so layouts are
// split in two cases, t <= m (where it is m + t) and t > m (2 m): each is convex, and the lower of
// both bounds counts. Measured link curves are replaced by lines below them; both formulas only
// grow in m and t.

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "layout/schedule.hpp"
#include "layout/topology.hpp"
#include "planner/cost_model.hpp"
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

/// Tables with the same sums in every form.
struct TableGroup {
  double count = 0;
  FormSet allowed = 0;
  std::array<LoadFields, kTableForms> sums;  ///< of one table, uncut; empty where not allowed
  std::vector<std::int32_t> tables;
};

/// Which layouts a bound is about: those whose backward exchanges take the slow wire no longer than
/// the all-reduce that they meet, or longer.
enum class WireCase : std::uint8_t { exchange_shorter, exchange_longer };

/// Seconds of the mean rank for one presence of forms and one case. Convex in the sums.
class MeanIteration {
 public:
  /// Keeps references: the arguments must outlive it.
  MeanIteration(const WorkloadFacts& facts, const Topology& topology, const ExecutorModel& executor,
                const DenseCost& dense, const Schedule& schedule, FormSet present,
                WireCase wire_case);

  /// False where no all-reduce meets an exchange: both cases are then the same.
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
    std::size_t part = 0;
    enum class Kind : std::uint8_t { kernel, intra, inter, held } kind = Kind::kernel;
  };
  /// Pieces whose seconds sum to `iterations` periods.
  struct Chain {
    std::vector<Link> links;
    double iterations = 1;
  };
  void load(const LoadFields& sums);
  void find_meeting();
  [[nodiscard]] double held_seconds() const;
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
  std::size_t allreduce_ = SIZE_MAX;      ///< step that meets
  std::vector<std::size_t> exchanges_;    ///< backward exchanges that it meets
  std::vector<std::size_t> before_both_;  ///< steps that have ended when any of them begins
  std::vector<StepLoad> loads_;
  std::vector<TimedStep> timed_;
};

struct RelaxationResult {
  double seconds = 0;            ///< lower bound over all choices of these forms
  LoadFields prices;             ///< seconds a unit of every field, at the best point found
  LoadFields sums;               ///< that point
  std::vector<TableForm> forms;  ///< cheapest form of every group at those prices
  double fixed_s = 0;            ///< of that, what no table causes
};

/// Minimises over forms within `present` (each must be used by somebody: fixed costs count).
class Relaxation {
 public:
  Relaxation(MeanIteration iteration, const std::vector<TableGroup>& groups, FormSet present);

  /// A few more tangents; the bound only rises.
  void refine(int tangents);
  [[nodiscard]] const RelaxationResult& result() const { return result_; }
  [[nodiscard]] bool possible() const { return possible_; }
  /// Further tangents would raise the bound by next to nothing.
  [[nodiscard]] bool solved() const { return solved_; }

 private:
  struct PricedTangent {
    MeanIteration::Tangent line;
    std::vector<std::array<double, kTableForms>> cost;  ///< of one table of every group
  };
  [[nodiscard]] LoadFields sums_of(const std::vector<TableForm>& forms) const;
  bool add_tangent(const LoadFields& at);
  void respond(const std::vector<double>& weights, std::vector<TableForm>& forms,
               std::vector<double>& value) const;
  void combine(double towards);
  void keep(const std::vector<double>& weights, const std::vector<TableForm>& forms, double bound);

  MeanIteration iteration_;
  const std::vector<TableGroup>& groups_;
  FormSet present_;
  bool possible_ = true;
  bool solved_ = false;
  int stalls_ = 0;
  double upper_s_ = HUGE_VAL;  ///< least seconds of a (fractional) choice seen
  LoadFields point_, best_point_;
  std::vector<PricedTangent> tangents_;
  std::vector<double> weights_;
  RelaxationResult result_;
};

/// Tables grouped by equal sums, with the forms that `allowed(table)` grants.
[[nodiscard]] std::vector<TableGroup> group_tables(const LoadModel& model,
                                                   const std::vector<FormSet>& allowed);

}  // namespace shardscope
