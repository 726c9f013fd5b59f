#pragma once
// The best that any choice of clusters can make of the mean rank's iteration
// (planner/mean_iteration.hpp): a choice of one form a table, relaxed to fractions and solved by
// tangents. The ground of the lower bound (planner/bound.hpp) and of the prices that the planner
// starts from.

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "planner/codec_options.hpp"
#include "planner/cost_model.hpp"
#include "planner/mean_iteration.hpp"

namespace shardscope {

/// Tables with the same sums in every form.
struct TableGroup {
  double count = 0;
  FormSet allowed = 0;
  std::array<LoadFields, kTableForms> sums;  ///< of one table, uncut; empty where not allowed
  std::array<std::vector<CodecOption>, kTableForms> codecs;  ///< that it may take in a form
  std::vector<std::int32_t> tables;
};

/// What a group's tables must be cut into where they are flat, and what that adds to their sums:
/// for every further owner of all columns, and of all ids. Owners of columns x owners of ids >=
/// cells.
struct GroupCut {
  double cells = 1;
  LoadFields wire, keys;
};

struct RelaxationResult {
  double seconds = 0;            ///< lower bound over all choices of these forms
  LoadFields prices;             ///< seconds a unit of every field, at the best point found
  LoadFields sums;               ///< that point
  std::vector<TableForm> forms;  ///< cheapest form of every group at those prices
};

/// Minimises over forms within `present` (each must be used by somebody: fixed costs count).
class Relaxation {
 public:
  /// `cuts`: by group; empty: nothing needs to be cut. Keeps a reference to the groups.
  Relaxation(MeanIteration iteration, const std::vector<TableGroup>& groups, FormSet present,
             std::vector<GroupCut> cuts = {});

  /// A few more tangents, each combined with the others in so many steps; the bound only rises.
  void refine(int tangents, int rounds = kCombineRounds);
  [[nodiscard]] const RelaxationResult& result() const { return result_; }
  [[nodiscard]] bool possible() const { return possible_; }
  /// Further tangents would raise the bound by next to nothing.
  [[nodiscard]] bool solved() const { return solved_; }

  static constexpr int kCombineRounds = 120;

 private:
  struct PricedTangent {
    MeanIteration::Tangent line;
    std::vector<std::array<double, kTableForms>> cost;  ///< of one table of every group
    /// Of its codecs, likewise.
    std::vector<std::array<std::vector<double>, kTableForms>> codec_cost;
    std::vector<double> wire_cost, keys_cost;  ///< of GroupCut, by group; empty without cuts
  };
  /// What the tables of a group do: a form, and the codecs that lower its cost.
  struct Answer {
    TableForm form = TableForm::replicated;
    std::array<std::int32_t, kWireSlots> codec{};  ///< of the form's options, by slot; -1: raw
    double more_wire = 0, more_keys = 0;           ///< further owners that its cuts take
  };
  [[nodiscard]] LoadFields sums_of(const std::vector<Answer>& answers) const;
  bool add_tangent(const LoadFields& at);
  void respond(const std::vector<double>& weights, std::vector<Answer>& answers,
               std::vector<double>& value) const;
  /// Of one table in answer.form; the answer's rest is chosen.
  [[nodiscard]] double cost_of(const std::vector<double>& weights, std::size_t group,
                               Answer& answer) const;
  [[nodiscard]] double cut_cost(const std::vector<double>& weights, std::size_t group,
                                Answer& answer) const;
  void combine(double towards, int rounds);
  void keep(const std::vector<double>& weights, const std::vector<Answer>& answers, double bound);

  MeanIteration iteration_;
  const std::vector<TableGroup>& groups_;
  FormSet present_;
  std::vector<GroupCut> cuts_;
  bool possible_ = true;
  bool solved_ = false;
  int stalls_ = 0;
  double upper_s_ = HUGE_VAL;  ///< least seconds of a (fractional) choice seen
  LoadFields point_, best_point_;
  std::vector<PricedTangent> tangents_;
  std::vector<double> weights_;
  std::vector<Answer> answers_;  ///< of the bound
  RelaxationResult result_;
};

/// Tables grouped by equal sums, with the forms that `allowed(table)` grants.
[[nodiscard]] std::vector<TableGroup> group_tables(const LoadModel& model, const Topology& topology,
                                                   const std::vector<FormSet>& allowed,
                                                   const AllowedCodecs& codecs);

}  // namespace shardscope
